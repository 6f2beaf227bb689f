import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { planOf } from './testing/book.ts';
import { type PlansUnderTest, plansUnderTest } from './testing/plans.ts';

const USD = 1_000_000_000n;
const DAY_MS = 86_400_000;
let one: PlansUnderTest;
const refreshed: string[] = [];

beforeEach(async () => {
  refreshed.length = 0;
  one = await plansUnderTest({ wire: () => ({ lanes: { refreshCredit: async (id) => void refreshed.push(id) }, write: async () => {} }) });
});
afterEach(() => one.close());

const always = async () => true;
const trial = (plan: string, days: number) => ({ plan: planOf(plan), endsAt: new Date(one.clock.now() + days * DAY_MS) });
const give = (gift: Partial<Parameters<typeof one.plans.gifts.give>[1]>) =>
  one.plans.gifts.give(one.accountId, { cause: 'a', credit: 0n, ...gift }, always);

describe('a credit', () => {
  test('is in the books and on the balance once, the lanes are told, and the payments agree', async () => {
    await give({ credit: 10n * USD });
    expect([(await one.balance()).cap, refreshed]).toEqual([10n * USD, [`balance:${one.accountId}`]]);
    await expect(give({ credit: 10n * USD })).rejects.toThrow();
    expect((await one.balance()).cap).toBe(10n * USD);
    expect((await one.plans.reconcile()).differences).toEqual([]);
    expect(await one.auditTrail()).toEqual(['balance.credited']);
  });

  test('that was given before is not given again', async () => {
    await one.plans.gifts.give(one.accountId, { cause: 'a', credit: USD }, async () => false);
    expect((await one.balance()).cap).toBe(0n);
  });
});

describe('a trial', () => {
  test('is in effect at once, and over on its day', async () => {
    await give({ trial: trial('pro', 30) });
    expect(await one.planOfAccount()).toBe('pro');
    one.fake.advance({ days: 29 });
    await one.plans.gifts.endTrials();
    expect(await one.planOfAccount()).toBe('pro');
    one.fake.advance({ days: 2 });
    await one.plans.gifts.endTrials();
    await one.plans.gifts.endTrials();
    expect(await one.planOfAccount()).toBe('free');
    expect([await one.mails(), await one.auditTrail()]).toEqual([
      ['plan-changed', 'plan-changed'],
      ['plan.changed', 'plan.changed'],
    ]);
  });

  test('is lengthened by a longer one of the same plan, and raised by one of a better', async () => {
    await give({ trial: trial('pro', 10) });
    await give({ trial: trial('pro', 40) });
    await give({ trial: trial('pro', 5) });
    one.fake.advance({ days: 30 });
    await one.plans.gifts.endTrials();
    expect(await one.planOfAccount()).toBe('pro');
    await give({ trial: trial('scale', 5) });
    await give({ trial: trial('pro', 50) });
    expect(await one.planOfAccount()).toBe('scale');
    one.fake.advance({ days: 6 });
    await one.plans.gifts.endTrials();
    expect(await one.planOfAccount()).toBe('free');
  });

  test('does not keep anybody from booking the plan, which then stays; once that is cancelled, nothing is left of the trial', async () => {
    await give({ trial: trial('pro', 10) });
    await one.subscribe('pro');
    await one.takeEvents();
    expect(await one.planOfAccount()).toBe('pro@1');
    one.fake.advance({ days: 11 });
    await one.plans.gifts.endTrials();
    expect(await one.planOfAccount()).toBe('pro@1');
    await one.plans.downgrades.schedule(one.accountId, planOf('free'), 'x', one.trail);
    one.fake.advance({ days: 31 });
    await one.plans.downgrades.apply(10);
    expect(await one.planOfAccount()).toBe('free');
  });

  test('gives nothing to whoever pays for a plan', async () => {
    await one.subscribe('pro');
    await one.takeEvents();
    await give({ trial: trial('scale', 10) });
    expect(await one.planOfAccount()).toBe('pro@1');
  });
});
