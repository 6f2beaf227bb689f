import fc from 'fast-check';
import type { Pool } from 'pg';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { openPool } from '../../adapters/postgres/database.ts';
import { testDatabase } from '../../adapters/postgres/test-database.ts';
import { newId } from '../../kernel/ids.ts';
import { silentLog } from '../../kernel/log.ts';
import { Problem } from '../../kernel/problem.ts';
import { LedgerLaneSource } from '../ledger/index.ts';
import { planOf } from './testing/book.ts';
import { plansUnderTest } from './testing/plans.ts';
import { newAccount, type SandboxUnderTest, sandboxUnderTest } from './testing/sandbox.ts';

const USD = 1_000_000_000n;
let database: Awaited<ReturnType<typeof testDatabase>>;
let pool: Pool;
let one: SandboxUnderTest;
let ada: Awaited<ReturnType<typeof newAccount>>;

beforeAll(async () => {
  database = await testDatabase();
  pool = openPool({ url: database.url, log: silentLog(), poolSize: 6 });
});
afterAll(async () => {
  await pool.end();
  await database.drop();
});
beforeEach(async () => {
  one = await sandboxUnderTest({ pool, url: database.url });
  ada = await newAccount(pool);
});
afterEach(() => one.close());

const rows = async (sql: string) => (await pool.query<Record<string, unknown>>(sql, [ada.accountId])).rows;

/** All that live keys of the account go by, and all that is live of its money. */
async function liveState() {
  const own = "account like '%:' || $1::text";
  return {
    account: await rows('select plan, given_plan from accounts where id = $1'),
    plan: (await one.live.given.read(ada.accountId)).plan,
    lane: await new LedgerLaneSource(pool).moneyLane(`balance:${ada.accountId}`),
    subscription: await rows('select customer_id, subscription_id, status, plan_id from subscriptions where account_id = $1'),
    payments: await rows('select * from payments where account_id = $1'),
    checkouts: await rows('select * from checkouts where account_id = $1'),
    invoices: await rows('select * from invoices where account_id = $1'),
    topups: await rows('select * from auto_topups where account_id = $1'),
    downgrades: await rows('select * from scheduled_downgrades where account_id = $1'),
    commands: await rows('select * from payment_commands where account_id = $1'),
    credits: await rows('select * from balance_credits where account_id = $1'),
    entries: await rows(`select account, sum(amount_nano)::text as amount from ledger_entries where ${own} group by 1 order by 1`),
    sums: await rows(`select account, sum(amount_nano)::text as amount from ledger_daily where ${own} group by 1 order by 1`),
    clearing: (
      await pool.query("select 1 from ledger_daily where account in ('payment_clearing', 'sales_revenue', 'subscription_revenue')")
    ).rowCount,
    tier: await rows('select plan_tier from people p join users u on u.id = p.user_id where u.account_id = $1'),
    mails: await rows('select template from mails where account_id = $1'),
  };
}

const testRows = async (sql: string) => (await one.paying.pool.query<Record<string, unknown>>(sql, [ada.accountId])).rows;

/** A page for what another slice sells. */
const purchaseOf = ({ paying, clock, to }: SandboxUnderTest) =>
  paying.exclusively(ada.accountId, (unit) =>
    paying.checkouts.purchase(
      unit,
      ada,
      { reference: `event:${newId()}`, amount: 10n * USD, description: 'A place', expiresAtMs: clock.now() + 3_600_000 },
      to,
    ),
  );

/** Every way in which money comes in, or goes back. */
const PATHS = {
  checkout: async (plan: string) => {
    const made = await one.paying.checkouts.plan(ada, planOf(plan), { ...one.to, proratedAtMs: undefined, requestHash: undefined });
    await one.press(made.status === 'open' ? made.url : null, { action: 'pay', card: 'good' });
  },
  decline: async (plan: string) => {
    const made = await one.paying.checkouts.plan(ada, planOf(plan), { ...one.to, proratedAtMs: undefined, requestHash: undefined });
    await one.press(made.status === 'open' ? made.url : null, { action: 'decline' });
  },
  topUp: async () => {
    const made = await one.paying.checkouts.balance(ada, { amount: 25n * USD, saveCard: true }, one.to);
    await one.press(made.url, { action: 'pay', card: 'good' });
  },
  autoTopup: async () => {
    const settings = { enabled: true, threshold: 1_000n * USD, amount: 1_000n * USD, dailyMaximum: 5_000n * USD };
    await one.paying.autoTopup.set(ada.accountId, settings, ada.trail);
    await one.paying.autoTopup.run();
    await one.sandbox.tick();
  },
  purchase: async () => {
    const made = await purchaseOf(one);
    await one.press(made.url, { action: 'pay', card: 'good' });
  },
  downgrade: async (plan: string) => {
    await one.paying.downgrades.schedule(ada.accountId, planOf(plan), newId(), ada.trail);
  },
  keep: () => one.paying.downgrades.cancel(ada.accountId, newId(), ada.trail),
  refund: async () => {
    const [payment] = await testRows(
      "select payment_id, provider_id, account_id from payments where account_id = $1 and status = 'succeeded' limit 1",
    );
    if (!payment) return;
    const { payment_id, provider_id, account_id } = payment as Record<'payment_id' | 'provider_id' | 'account_id', string>;
    await one.paying.refunds.order({
      ...{ payment: { payment_id, provider_id, account_id }, amount: undefined, reason: 'Paid twice', key: undefined },
      author: { actor: { kind: 'system', id: null } },
    });
    await one.sandbox.tick();
  },
  month: async () => {
    await one.advance(31);
    await one.paying.downgrades.apply(10);
    await one.paying.downgrades.endGrace();
    await one.paying.billing.run();
    await one.paying.reconcile();
  },
} as const;

const plan = fc.constantFrom('pro', 'scale', 'enterprise', 'free');
const step = fc.oneof(
  fc.record({ path: fc.constantFrom('checkout', 'decline', 'downgrade'), plan }),
  fc.record({ path: fc.constantFrom('topUp', 'autoTopup', 'purchase', 'keep', 'refund', 'month'), plan: fc.constant('') }),
);

/** What a customer is refused changes nothing. */
const refusable = (failure: unknown): void => {
  if (!(failure instanceof Problem) && !/PaymentFault/.test(String((failure as Error).constructor.name))) throw failure;
};

describe('sandbox money', () => {
  test.each(Object.keys(PATHS))('changes nothing live when it comes by %s', async (path) => {
    const before = await liveState();
    if (path !== 'checkout') await PATHS.checkout('pro');
    await Promise.resolve(PATHS[path as keyof typeof PATHS](path === 'downgrade' ? 'free' : 'enterprise')).catch(refusable);
    expect(await liveState()).toEqual(before);
  });

  test('changes nothing live, in whatever order it comes, goes back and falls due', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 6 }), fc.constantFrom(null, 'free', 'pro'), async (steps, given) => {
        ada = await newAccount(pool);
        await one.live.given.give(ada.accountId, given, ada.trail);
        const before = await liveState();
        for (const { path, plan } of steps) await Promise.resolve(PATHS[path as keyof typeof PATHS](plan)).catch(refusable);
        expect(await liveState()).toEqual(before);
        expect((await one.paying.reconcile()).differences).toEqual([]);
      }),
      { numRuns: 15 },
    );
  });

  test('buys what a payment buys, in test mode', async () => {
    await PATHS.checkout('enterprise');
    await PATHS.topUp();
    expect(await testRows('select plan from accounts where id = $1')).toEqual([{ plan: 'enterprise@1' }]);
    expect(await testRows('select coalesce(sum(amount_nano), 0)::text as credited from balance_credits where account_id = $1')).toEqual([
      { credited: `${25n * USD}` },
    ]);
  });

  test('buys nothing that has no test mode, and goes back where it is paid on a page from before', async () => {
    await expect(purchaseOf(one)).rejects.toMatchObject({ code: 'conflict' });
    const tryOut = await sandboxUnderTest({ pool, url: database.url, canBuyReal: true });
    const { url } = await purchaseOf(tryOut);
    await tryOut.close();
    await one.close();
    const received: string[] = [];
    one = await sandboxUnderTest({
      ...{ pool, url: database.url },
      onPurchase: async (_unit, { isReceived }) => {
        if (isReceived) received.push('received');
        return undefined;
      },
    });
    await one.press(url, { action: 'pay', card: 'good' });
    await one.paying.refunds.goOn();
    expect(await testRows('select kind, amount_nano, refunded_nano from payments where account_id = $1')).toEqual([
      { kind: 'purchase', amount_nano: 10n * USD, refunded_nano: 10n * USD },
    ]);
    expect(received).toEqual([]);
  });

  test('is on record as such in the audit log', async () => {
    await PATHS.checkout('pro');
    const entries = await rows("select action, changes ->> 'livemode' as livemode from audit_log where account_id = $1 order by id");
    expect(entries).toEqual([
      { action: 'checkout.created', livemode: 'false' },
      { action: 'plan.changed', livemode: 'false' },
    ]);
  });

  test('is worth nothing once the gateway has a payment provider, where plans are bought anew', async () => {
    await PATHS.checkout('enterprise');
    await PATHS.topUp();
    const selling = await plansUnderTest({ pool, account: ada });
    expect([await selling.planOfAccount(), await selling.balance()]).toMatchObject(['free', { cap: 0n, spent: 0n }]);
    await selling.subscribe('pro');
    await selling.takeEvents();
    expect([await selling.planOfAccount(), (await liveState()).plan]).toEqual(['pro@1', 'operator']);
    await PATHS.checkout('scale').catch(refusable);
    expect([await selling.planOfAccount(), (await liveState()).plan]).toEqual(['pro@1', 'operator']);
    await selling.close();
  });
});

describe('a balance that an invitation gave', () => {
  test('stays what it is while the sandbox is paid', async () => {
    await one.live.gifts.give(ada.accountId, { cause: newId(), credit: 10n * USD }, async () => true);
    const before = await liveState();
    expect(before.lane).toMatchObject({ cap: 10n * USD });
    await PATHS.topUp();
    await PATHS.refund();
    expect(await liveState()).toEqual(before);
  });
});

describe('the tables of the sandbox', () => {
  test('have the columns of the live ones', async () => {
    const columns = (schema: string) =>
      pool.query<{ table: string; columns: string }>(
        `select table_name as table, string_agg(column_name || ' ' || data_type, ',' order by column_name) as columns
           from information_schema.columns where table_schema = $1 and table_name <> 'accounts' group by 1 order by 1`,
        [schema],
      );
    const [testBilling, live] = [(await columns('test_billing')).rows, (await columns('public')).rows];
    const own = new Set(testBilling.map(({ table }) => table));
    expect(testBilling).toEqual(live.filter(({ table }) => own.has(table)));
    expect(own.size).toBe(17);
  });
});
