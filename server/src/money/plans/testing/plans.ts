import { startFakeStripe } from '@tallygate/fake-stripe';
import type { Pool } from 'pg';
import type { PaymentEvent } from '../../../adapters/payment/port.ts';
import { createStripePayments } from '../../../adapters/payment/stripe.ts';
import { openPool } from '../../../adapters/postgres/database.ts';
import { testDatabase } from '../../../adapters/postgres/test-database.ts';
import { dayOf } from '../../../kernel/clock.ts';
import { silentLog } from '../../../kernel/log.ts';
import { LedgerLaneSource } from '../../ledger/index.ts';
import type { AccountPlansDeps } from '../plans.ts';
import { recordBySystem, type Trail } from '../tell.ts';
import { planOf, sellingPlans } from './book.ts';
import { newAccount } from './sandbox.ts';

export const CARDS = { good: '4242424242424242', declined: '4000000000000002', noFundsLater: '4000000000099995' };
const USD = 1_000_000_000n;

/** When every world begins. Its clock stands still unless it is advanced, so that two worlds with one story have one state. */
const BEGINNING = Date.UTC(2026, 10, 21, 8);

/** What plans have of lanes and ledger. */
type Wiring = Pick<AccountPlansDeps, 'lanes' | 'write'>;
const NOTHING_USED = (): Wiring => ({ lanes: { refreshCredit: async () => {} }, write: async () => {} });

interface WorldOptions {
  readonly wire?: (pool: Pool) => Wiring;
  /** Of a database that several worlds share, where none of them reconciles. */
  readonly pool?: Pool;
  /** One that is there. */
  readonly account?: { readonly accountId: string; readonly userId: string };
}

export async function openTestPool() {
  const database = await testDatabase();
  const pool = openPool({ url: database.url, log: silentLog(), poolSize: 6 });
  return {
    pool,
    close: async () => {
      await pool.end();
      await database.drop();
    },
  };
}

/**
 * Billing of one new account over a Stripe and a database of its own: reconciling compares all that a database knows with all that a
 * provider knows. It goes by the Stripe's clock. Nothing is told by itself: events are taken when asked.
 */
export async function plansUnderTest({ wire = NOTHING_USED, pool: shared, account }: WorldOptions = {}) {
  const own = shared ? undefined : await openTestPool();
  const pool = shared ?? own?.pool;
  if (!pool) throw new Error('There is no database');
  const fake = await startFakeStripe({ clock: () => BEGINNING });
  const provider = createStripePayments({ secretKey: 'sk_live_fake', webhookSecret: 'whsec_test', apiUrl: fake.url });
  const clock = { now: () => fake.now() };
  const wiring = wire(pool);
  const over = (through: Pool) =>
    sellingPlans({
      pool: through,
      provider,
      ...wiring,
      clock,
      log: silentLog(),
      publicUrl: () => 'https://gateway.example',
    });
  const plans = over(pool);
  await plans.provision();
  const { accountId, userId } = account ?? (await newAccount(pool));
  const trail: Trail = (unit, deed) => recordBySystem(unit, accountId, deed);
  const payer = { accountId, userId, trail };
  const to = { successUrl: undefined, cancelUrl: undefined };
  const source = new LedgerLaneSource(pool);
  const events = async (): Promise<PaymentEvent[]> => {
    const all: PaymentEvent[] = [];
    for await (const event of provider.listEvents(0)) all.push(event);
    return all;
  };
  const sessionOf = async (checkoutId: string): Promise<string> => {
    const { rows } = await pool.query<{ session_id: string }>('select session_id from checkouts where checkout_id = $1', [checkoutId]);
    return rows[0]?.session_id ?? '';
  };

  return {
    pool,
    fake,
    provider,
    plans,
    over,
    payer,
    trail,
    accountId,
    clock,
    events,
    /** Takes all that happened, in order. */
    takeEvents: async () => {
      for (const event of await events()) await plans.events.apply(event);
    },
    /** Subscribes on the hosted page. */
    subscribe: async (planId: 'pro' | 'scale' | 'enterprise', card = CARDS.good) => {
      const made = await plans.checkouts.plan(payer, planOf(planId), { ...to, proratedAtMs: undefined, requestHash: undefined });
      if (made.status === 'open') fake.pay(await sessionOf(made.checkout_id), card);
      return made;
    },
    topUp: async (dollars: bigint, card = CARDS.good) => {
      const made = await plans.checkouts.balance(payer, { amount: dollars * USD, saveCard: true }, to);
      fake.pay(await sessionOf(made.checkout_id), card);
      return made;
    },
    planOfAccount: async (): Promise<string> => {
      const { rows } = await pool.query<{ plan: string }>("select coalesce(plan, 'free') as plan from accounts where id = $1", [accountId]);
      return rows[0]?.plan ?? '';
    },
    balance: () => source.moneyLane(`balance:${accountId}`),
    downgrades: async () => {
      const { rows } = await pool.query<{ to_plan: string; state: string }>(
        'select to_plan, state from scheduled_downgrades where account_id = $1 order by created_at, downgrade_id',
        [accountId],
      );
      return rows.map(({ to_plan, state }) => `${to_plan} ${state}`);
    },
    /** What was written down about the account, oldest first. */
    auditTrail: async (): Promise<string[]> => {
      const { rows } = await pool.query<{ action: string }>('select action from audit_log where account_id = $1 order by id', [accountId]);
      return rows.map(({ action }) => action);
    },
    /** What its people were told by mail, oldest first. */
    mails: async (): Promise<string[]> => {
      const { rows } = await pool.query<{ template: string }>('select template from mails where account_id = $1 order by id', [accountId]);
      return rows.map(({ template }) => template);
    },
    /** All that the account is and has, apart from ids and times of writing. */
    state: async () => {
      const all = async (sql: string) => (await pool.query(sql, [accountId])).rows;
      return {
        account: await all("select coalesce(plan, 'free') as plan from accounts where id = $1"),
        subscription: await all(
          'select status, plan_id, plan_version, period_end, cancels_at_period_end, grace_ends_at from subscriptions where account_id = $1',
        ),
        scheduled: await all("select to_plan, effective_at from scheduled_downgrades where account_id = $1 and state = 'scheduled'"),
        checkouts: await all(
          'select kind, plan_id, amount_nano::text as amount, status from checkouts where account_id = $1 order by 1, 2, 3, 4',
        ),
        payments: await all(
          `select kind, status, amount_nano::text as amount, refunded_nano::text as refunded, booked_nano::text as booked from payments
            where account_id = $1 order by created_at, amount_nano, status`,
        ),
        invoices: await all(
          'select status, total_nano::text as total, lines from invoices where account_id = $1 order by issued_at, total_nano, status',
        ),
        books: await all(
          `select replace(account, $1::text, '…') as account, sum(amount_nano)::text as amount from ledger_entries join postings using (posting_id)
            where request_id in (select provider_id from payments where account_id = $1::uuid) group by 1 having sum(amount_nano) <> 0 order by 1`,
        ),
        credited: await all('select coalesce(sum(amount_nano), 0)::text as credited from balance_credits where account_id = $1'),
      };
    },
    today: () => dayOf(clock.now()),
    close: async () => {
      await provider.close();
      await fake.close();
      await own?.close();
    },
  };
}

export type PlansUnderTest = Awaited<ReturnType<typeof plansUnderTest>>;

/** A process that dies at some statement: the pool's connections throw there, and nothing after it is done. */
export function dyingPool(pool: Pool, statementsLeft: () => number): Pool {
  const connect = async () => {
    const client = await pool.connect();
    let left = statementsLeft();
    return new Proxy(client, {
      get(target, name) {
        if (name === 'query')
          return (...args: unknown[]) => {
            const isEnd = args[0] === 'rollback';
            if (!isEnd && left <= 0) return Promise.reject(new Error('The process died'));
            left -= 1;
            return Reflect.apply(target.query, target, args);
          };
        const value: unknown = Reflect.get(target, name);
        return typeof value === 'function' ? value.bind(target) : value;
      },
    });
  };
  return new Proxy(pool, { get: (target, name) => (name === 'connect' ? connect : bound(target, name)) });
}

function bound(target: Pool, name: string | symbol): unknown {
  const value: unknown = Reflect.get(target, name);
  return typeof value === 'function' ? value.bind(target) : value;
}
