import fc from 'fast-check';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { newId } from '../../kernel/ids.ts';
import { moneyFigures } from './figures.ts';
import { planOf } from './testing/book.ts';
import { CARDS, dyingPool, openTestPool, type PlansUnderTest, plansUnderTest } from './testing/plans.ts';

const USD = 1_000_000_000n;
let one: PlansUnderTest;

/** Reconciling looks at a whole database, and so does what runs by itself. */
const withDatabasesOfTheirOwn = (): void => {
  beforeEach(async () => {
    one = await plansUnderTest();
  });
  afterEach(() => one.close());
};

describe('a plan', () => {
  withDatabasesOfTheirOwn();
  test('is in effect once its checkout is paid, with its version, and not before', async () => {
    const { checkout_id } = await one.subscribe('pro', CARDS.declined);
    await one.takeEvents();
    expect(await one.planOfAccount()).toBe('free');
    await one.subscribe('pro');
    await one.takeEvents();
    expect(await one.planOfAccount()).toBe('pro@1');
    expect((await one.plans.checkouts.read(one.accountId, checkout_id)).status).toBe('expired');
  });

  test('keeps the events that told of it for ninety days, and one that is told again later changes nothing', async () => {
    await one.subscribe('pro');
    await one.takeEvents();
    const kept = async () => (await one.pool.query('select from webhook_events')).rowCount ?? 0;
    const taken = await kept();
    const days = Math.ceil((one.fake.now() - Date.now()) / 86_400_000);
    const age = (by: number) => one.pool.query('update webhook_events set applied_at = now() + make_interval(days => $1)', [days - by]);
    await age(89);
    await one.plans.events.sweep();
    expect(await kept()).toBe(taken);
    await age(92);
    await one.plans.events.sweep();
    expect(await kept()).toBe(0);
    await one.takeEvents();
    expect([await one.planOfAccount(), (await one.plans.reconcile()).differences]).toEqual(['pro@1', []]);
  });

  test('goes up at once, the difference charged to the card, and down at the end of the period', async () => {
    await one.subscribe('pro');
    await one.takeEvents();
    const { status, amount_nano } = await one.subscribe('scale');
    expect([status, await one.planOfAccount()]).toEqual(['completed', 'scale@1']);
    expect(amount_nano).toBeGreaterThan(400n * USD);
    await one.plans.downgrades.schedule(one.accountId, planOf('pro'), 'first', one.trail);
    expect([await one.planOfAccount(), await one.downgrades()]).toEqual(['scale@1', ['pro scheduled']]);
    expect(await one.plans.downgrades.apply(10)).toEqual([]);
    one.fake.advance({ days: 31 });
    expect(await one.plans.downgrades.apply(10)).toMatchObject([{ outcome: 'applied' }]);
    expect(await one.plans.downgrades.apply(10)).toEqual([]);
    expect([await one.planOfAccount(), await one.downgrades()]).toEqual(['pro@1', ['pro applied']]);
    expect(await one.auditTrail()).toEqual([
      'checkout.created',
      'plan.changed',
      'plan.changed',
      'plan.upgraded',
      'downgrade.scheduled',
      'plan.changed',
    ]);
    expect(await one.mails()).toEqual(['plan-changed', 'plan-changed', 'plan-changed']);
  });

  test('that is cancelled goes on to the end of what is paid, and may be kept after all', async () => {
    await one.subscribe('pro');
    await one.takeEvents();
    await one.plans.downgrades.schedule(one.accountId, planOf('free'), 'a', one.trail);
    await one.plans.downgrades.cancel(one.accountId, 'b', one.trail);
    expect(await one.downgrades()).toEqual(['free canceled']);
    await one.plans.downgrades.schedule(one.accountId, planOf('free'), 'c', one.trail);
    expect(await one.planOfAccount()).toBe('pro@1');
    one.fake.advance({ days: 31 });
    await one.plans.downgrades.apply(10);
    expect([await one.planOfAccount(), await one.downgrades()]).toEqual(['free', ['free canceled', 'free applied']]);
  });

  test('stays for a week of grace when the renewal is declined, and not longer', async () => {
    await one.subscribe('pro', CARDS.noFundsLater);
    await one.takeEvents();
    one.fake.advance({ days: 32 });
    await one.takeEvents();
    expect(await one.state()).toMatchObject({ account: [{ plan: 'pro@1' }], subscription: [{ status: 'past_due' }] });
    one.fake.advance({ days: 6.5 });
    await one.plans.downgrades.endGrace();
    expect(await one.state()).toMatchObject({ account: [{ plan: 'free' }], subscription: [{ status: 'past_due', plan_id: 'pro' }] });
    expect(await one.mails()).toEqual(['plan-changed', 'payment-late', 'plan-changed']);
  });

  test('of an account that was closed is not renewed, and nothing more is charged', async () => {
    await one.subscribe('pro');
    await one.topUp(5n);
    await one.takeEvents();
    await one.plans.autoTopup.set(
      ...([one.accountId, { enabled: true, threshold: 10n * USD, amount: 25n * USD, dailyMaximum: 25n * USD }, one.trail] as const),
    );
    await one.pool.query('update users set closed_at = now() where account_id = $1', [one.accountId]);
    await one.plans.downgrades.endClosed();
    await one.plans.downgrades.endClosed();
    await one.plans.autoTopup.run();
    one.fake.advance({ days: 62 });
    await one.takeEvents();
    const { subscription, payments } = await one.state();
    expect([await one.planOfAccount(), subscription, payments]).toMatchObject([
      'free',
      [{ plan_id: null }],
      [{ amount: `${20n * USD}` }, { amount: `${5n * USD}` }].reverse(),
    ]);
    expect(payments).toHaveLength(2);
  });

  test('goes down on time though the provider says nothing of another account’s', async () => {
    await one.subscribe('scale');
    await one.takeEvents();
    await one.plans.downgrades.schedule(one.accountId, planOf('pro'), 'a', one.trail);
    one.fake.advance({ days: 12 });
    const given = newId();
    await one.pool.query("insert into accounts (id, name, created_at, plan, given_plan) values ($1, 'Eve', now(), 'scale', 'scale')", [
      given,
    ]);
    await one.plans.downgrades.schedule(given, planOf('pro'), 'b', one.trail);
    one.fake.advance({ days: 31 });
    one.fake.loseAnswersTo('GET /v1/subscriptions');
    expect((await one.plans.downgrades.apply(10)).map(({ outcome }) => outcome)).toEqual(['waiting', 'applied']);
    one.fake.loseAnswersTo(undefined);
    expect((await one.plans.downgrades.apply(10)).map(({ outcome }) => outcome)).toEqual(['applied']);
  });

  test('that was given by hand goes down with the month, without any payment', async () => {
    await one.pool.query("update accounts set plan = 'scale', given_plan = 'scale' where id = $1", [one.accountId]);
    await one.plans.downgrades.schedule(one.accountId, planOf('pro'), 'a', one.trail);
    one.fake.advance({ days: 31 });
    await one.plans.downgrades.apply(10);
    expect(await one.planOfAccount()).toBe('pro');
  });
});

describe('a plan whose payment the bank takes back', () => {
  withDatabasesOfTheirOwn();
  const paymentOf = async () => {
    const { rows } = await one.pool.query<{ provider_id: string }>('select provider_id from payments where account_id = $1', [
      one.accountId,
    ]);
    return rows[0]?.provider_id ?? '';
  };

  test.each([
    ['won', 'pro@1'],
    ['lost', 'free'],
  ] as const)('is suspended while that is disputed, and once it is %s the plan is %s', async (outcome, plan) => {
    await one.subscribe('pro');
    await one.takeEvents();
    const dispute = one.fake.openDispute(await paymentOf());
    await one.takeEvents();
    expect([await one.planOfAccount(), (await moneyFigures(one.pool, one.accountId)).disputed]).toEqual(['free', 20n * USD]);
    one.fake.closeDispute(dispute, outcome);
    await one.takeEvents();
    expect([await one.planOfAccount(), (await one.plans.reconcile()).differences]).toEqual([plan, []]);
    one.fake.advance({ days: 31 });
    await one.takeEvents();
    expect(await one.planOfAccount()).toBe('pro@1');
  });
});

describe('a downgrade that was scheduled and an upgrade', () => {
  let database: Awaited<ReturnType<typeof openTestPool>>;
  beforeAll(async () => {
    database = await openTestPool();
  });
  afterAll(() => database?.close());
  beforeEach(async () => {
    one = await plansUnderTest({ pool: database.pool });
  });
  afterEach(() => one.close());

  // Whatever happens between them: what the customer decided last stands.
  const orders = (rest: readonly string[]): string[][] =>
    rest.length === 0 ? [[]] : rest.flatMap((step) => orders(rest.filter((other) => other !== step)).map((order) => [step, ...order]));
  // The downgrades that are due are applied once more at the end of each, after whatever came first.
  const ALL = orders(['upgrade', 'events', 'period_end', 'apply']);

  test.each(ALL.map((order) => [order.join(', '), order] as const))('stands with the upgrade: schedule, %s', async (_title, order) => {
    await one.subscribe('pro');
    await one.takeEvents();
    await one.plans.downgrades.schedule(one.accountId, planOf('free'), 'a', one.trail);
    const steps: Record<string, () => Promise<unknown>> = {
      upgrade: () => one.subscribe('scale'),
      events: () => one.takeEvents(),
      period_end: async () => one.fake.advance({ days: 31 }),
      apply: () => one.plans.downgrades.apply(10),
    };
    for (const step of order) await steps[step]?.();
    await one.takeEvents();
    await one.plans.downgrades.apply(10);
    expect(await one.planOfAccount()).toBe('scale@1');
    expect((await one.downgrades()).filter((entry) => entry.endsWith('scheduled'))).toEqual([]);
  });

  test('at the same time, in two processes, leave one plan that both sides agree on', async () => {
    await one.subscribe('pro');
    await one.takeEvents();
    const other = one.over(one.pool);
    await Promise.all([
      one.plans.downgrades.schedule(one.accountId, planOf('free'), 'a', one.trail).catch(() => {}),
      other.checkouts.plan(one.payer, planOf('scale'), {
        ...{ successUrl: undefined, cancelUrl: undefined, proratedAtMs: undefined, requestHash: undefined },
      }),
    ]);
    await one.takeEvents();
    expect(await one.planOfAccount()).toBe('scale@1');
  });
});

describe('a balance', () => {
  withDatabasesOfTheirOwn();
  test('holds what was paid in, less what was returned or is disputed', async () => {
    await one.topUp(25n);
    await one.takeEvents();
    expect(await one.balance()).toEqual({ spent: 0n, cap: 25n * USD, credits: 1 });
    const { rows } = await one.pool.query<{ provider_id: string }>('select provider_id from payments where account_id = $1', [
      one.accountId,
    ]);
    const paymentId = rows[0]?.provider_id ?? '';
    await one.provider.refund({ paymentId, amount: 5n * USD, reference: 'r', idempotencyKey: 'r' });
    await one.takeEvents();
    expect(await one.balance()).toMatchObject({ cap: 20n * USD });
    const dispute = one.fake.openDispute(paymentId);
    await one.takeEvents();
    expect((await one.balance()).cap).toBe(0n);
    one.fake.closeDispute(dispute, 'won');
    await one.takeEvents();
    expect((await one.balance()).cap).toBe(20n * USD);
    expect((await one.plans.reconcile()).differences).toEqual([]);
    expect(await one.auditTrail()).toEqual(['checkout.created', 'payment.disputed', 'payment.disputed']);
    expect(await one.mails()).toEqual(['payment-disputed']);
  });
});

describe('events', () => {
  /** Pays, changes, returns, disputes and lets months pass; `after` is called after every step. */
  async function story(world: PlansUnderTest, after: () => Promise<void>): Promise<void> {
    const { provider, fake, pool, accountId } = world;
    const steps: (() => Promise<unknown>)[] = [
      () => world.topUp(50n),
      () => world.subscribe('pro'),
      async () => {
        const payment = (await world.events()).find(({ kind }) => kind === 'payment_succeeded');
        if (payment?.kind !== 'payment_succeeded') throw new Error('Nothing was paid');
        await provider.refund({ paymentId: payment.payment.id, amount: 7n * USD, reference: 'r', idempotencyKey: 'r' });
        fake.closeDispute(fake.openDispute(payment.payment.id), 'lost');
      },
      () => world.topUp(10n),
      async () => fake.advance({ days: 32 }),
      async () => {
        const [subscription] = await provider.listSubscriptions(
          (await pool.query<{ customer_id: string }>('select customer_id from subscriptions where account_id = $1', [accountId])).rows[0]
            ?.customer_id ?? '',
        );
        await provider.changeSubscription({
          subscriptionId: subscription?.id ?? '',
          plan: { planId: 'scale', version: 1 },
          idempotencyKey: 'up',
        });
        await provider.scheduleChange({
          subscriptionId: subscription?.id ?? '',
          plan: { planId: 'pro', version: 1 },
          idempotencyKey: 'down',
        });
      },
      async () => fake.advance({ days: 40 }),
    ];
    for (const step of steps) {
      await step();
      await after();
    }
  }

  test('three times each, in any order, with a death at any statement, leave what one clean delivery in order leaves', async () => {
    const clean = await plansUnderTest();
    await story(clean, clean.takeEvents);
    const wanted = await clean.state();
    const ordered = { ...wanted, subscription: undefined, scheduled: undefined };
    expect(wanted.account).toEqual([{ plan: 'pro@1' }]);
    await clean.close();

    await fc.assert(
      fc.asyncProperty(fc.infiniteStream(fc.nat({ max: 1_000_000 })), async (random) => {
        const next = (below: number) => (random.next().value ?? 0) % below;
        const world = await plansUnderTest();
        let deaths = 0;
        const deliver = async (times: number) => {
          const waiting = (await world.events()).flatMap((event) => Array.from({ length: times }, () => event));
          while (waiting.length > 0) {
            const [event] = waiting.splice(next(waiting.length), 1);
            if (!event) break;
            // It dies somewhere in one delivery out of three; the event is told again.
            const dying = world.over(dyingPool(world.pool, () => (next(3) === 0 ? next(12) : Number.POSITIVE_INFINITY)));
            await dying.events.apply(event).catch(() => {
              deaths += 1;
              waiting.push(event);
            });
          }
        };
        // While it happens some are told, at the end all of them, thrice.
        await story(world, () => (next(2) === 0 ? deliver(1) : Promise.resolve()));
        await deliver(3);
        const found = await world.state();
        expect({ ...found, subscription: undefined, scheduled: undefined }).toEqual(ordered);
        expect(found.subscription).toMatchObject([{ status: 'active', plan_id: 'pro', cancels_at_period_end: false }]);
        expect(found.scheduled).toEqual([]);
        expect(deaths).toBeGreaterThan(0);
        expect((await world.plans.reconcile()).differences).toEqual([]);
        await world.close();
      }),
      { numRuns: 4 },
    );
  });
});
