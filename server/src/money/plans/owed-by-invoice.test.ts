import type { ReceiptUsage } from '@tallygate/contract';
import type { Pool } from 'pg';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { moneyFigures } from './figures.ts';
import { planOf } from './testing/book.ts';
import { CARDS, type PlansUnderTest, plansUnderTest } from './testing/plans.ts';
import { type UsageUnderTest, usageUnderTest } from './testing/usage.ts';

const USD = 1_000_000_000n;
const NOTHING: ReceiptUsage = { input_tokens: 0, cached_input_tokens: 0, cache_write_tokens: 0, output_tokens: 0, reasoning_tokens: 0 };

let one: PlansUnderTest;
let usage: UsageUnderTest;
beforeEach(async () => {
  const wire = (pool: Pool) => {
    usage = usageUnderTest(pool);
    return usage;
  };
  one = await plansUnderTest({ wire });
});
afterEach(async () => {
  await usage.close();
  await one.close();
});

const use = async (costNano: bigint, counted: Partial<ReceiptUsage> = {}) => {
  const plan = await one.planOfAccount();
  const wish = { model: 'gpt-5.4-nano', costNano, mostNano: costNano, usage: { ...NOTHING, input_tokens: 1, ...counted } };
  const requestId = await usage.use(one.accountId, plan, one.clock.now(), wish);
  await usage.write();
  return requestId ?? 'refused';
};
/** Enterprise, whose quota is used up: from now on everything is owed. */
const enterprise = async (card = CARDS.good): Promise<void> => {
  await one.subscribe('enterprise', card);
  await one.takeEvents();
  await use(USD, { input_tokens: 5_000_000_000 });
};
const jobs = async (): Promise<void> => {
  await one.takeEvents();
  await one.plans.downgrades.apply(10);
  await one.plans.usageInvoices.issue();
  await one.plans.billing.run();
  await one.takeEvents();
};
const ofUsage = async () => {
  const { data: rows } = await one.plans.records.invoices(one.accountId, { limit: 100 });
  return rows
    .filter(({ kind }) => kind === 'usage')
    .map(({ due_nano, hosted_url, period, status, total_nano }) => ({
      ...{ period, status, total: BigInt(total_nano), due: BigInt(due_nano), hasPage: hosted_url !== null },
    }))
    .toReversed();
};
const owed = async () => (await moneyFigures(one.pool, one.accountId)).owed;
const differences = async () => (await one.plans.reconcile()).differences;

describe('what is owed by invoice', () => {
  test('is collected after the plan was cancelled: what waited for the next invoice, and what was used since', async () => {
    await enterprise();
    await use(3n * USD);
    one.fake.advance({ days: 12 });
    await jobs();
    expect(await ofUsage()).toEqual([{ period: '2026-11', status: 'open', total: 3n * USD, due: 3n * USD, hasPage: false }]);
    expect(await owed()).toBe(3n * USD);
    await use(USD, { input_tokens: 5_000_000_000 });
    await use(2n * USD);
    await one.plans.downgrades.schedule(one.accountId, planOf('free'), 'a', one.trail);
    one.fake.advance({ days: 40 });
    await jobs();
    expect(await one.planOfAccount()).toBe('free');
    expect(await ofUsage()).toMatchObject([
      { period: '2026-11', status: 'paid', hasPage: true },
      { period: '2026-12', status: 'paid', due: 2n * USD, hasPage: true },
    ]);
    expect((await one.state()).payments.map(({ amount }) => amount)).toEqual(expect.arrayContaining([`${3n * USD}`, `${2n * USD}`]));
    expect([await owed(), await differences()]).toEqual([0n, []]);
    // Once.
    await jobs();
    expect((await one.state()).payments).toHaveLength(3);
  });

  test('and that the card does not pay stays owed, with a page to pay it on', async () => {
    await enterprise(CARDS.noFundsLater);
    await use(3n * USD);
    await one.plans.downgrades.schedule(one.accountId, planOf('free'), 'a', one.trail);
    one.fake.advance({ days: 41 });
    await jobs();
    expect(await ofUsage()).toMatchObject([{ status: 'open', hasPage: true }]);
    expect([await owed(), await differences()]).toEqual([3n * USD, []]);
  });

  test('is found by the reconciler when it is billed nowhere, or on no invoice', async () => {
    await enterprise();
    await use(3n * USD);
    one.fake.advance({ days: 12 });
    expect(await differences()).toMatchObject([{ inBooks: 'charged', elsewhere: 'on no invoice' }]);
    await one.plans.usageInvoices.issue();
    one.fake.advance({ days: 2 });
    expect(await differences()).toMatchObject([{ inBooks: `${3n * USD} owed`, elsewhere: 'billed nowhere' }]);
  });

  test('and what the plan costs are the next charge: of the plan that follows, with the usage that waits', async () => {
    await enterprise();
    await use(3n * USD);
    await one.plans.downgrades.schedule(one.accountId, planOf('pro'), 'a', one.trail);
    one.fake.advance({ days: 12 });
    await jobs();
    expect((await moneyFigures(one.pool, one.accountId)).waiting).toBe(3n * USD);
    one.fake.advance({ days: 20 });
    await jobs();
    expect((await one.state()).payments.map(({ amount }) => amount)).toContain(`${23n * USD}`);
    expect(await owed()).toBe(0n);
  });
});

describe('invoices of usage', () => {
  test('are issued for every month that had charges, however long nobody issued any', async () => {
    await enterprise();
    await use(3n * USD);
    one.fake.advance({ days: 20 });
    await one.takeEvents();
    await use(USD, { input_tokens: 5_000_000_000 });
    await use(2n * USD);
    one.fake.advance({ days: 70 });
    await jobs();
    expect(await ofUsage()).toMatchObject([
      { period: '2026-11', total: 3n * USD },
      { period: '2026-12', total: 2n * USD },
    ]);
    expect(await one.plans.usageInvoices.issue()).toBe(0);
  });

  test('correct what was given back of an earlier month, though nothing else was used', async () => {
    await one.subscribe('pro');
    await one.topUp(50n);
    await one.takeEvents();
    await usage.lanes.refreshCredit(`balance:${one.accountId}`);
    await use(USD, { input_tokens: 25_000_000 });
    const requestId = await use(4n * USD);
    await use(3n * USD);
    one.fake.advance({ days: 12 });
    await jobs();
    await usage.refunds(one.clock).refund(one.accountId, requestId, null, { reason: 'It failed.' });
    await usage.write();
    await jobs();
    one.fake.advance({ days: 31 });
    await jobs();
    expect(await ofUsage()).toMatchObject([
      { period: '2026-11', total: 7n * USD, due: 0n },
      { period: '2026-12', total: -4n * USD, due: 0n, status: 'paid' },
    ]);
    one.fake.advance({ days: 31 });
    await jobs();
    expect(await ofUsage()).toHaveLength(2);
  });
});
