import type { ReceiptUsage } from '@tallygate/contract';
import {
  CurrentPlanResponse,
  PlanBillingSummaryResponse,
  PlanInvoiceResponse,
  PlanOverageEstimateResponse,
  PlanUsageQuotaResponse,
} from '@tallygate/contract';
import fc from 'fast-check';
import type { Pool } from 'pg';
import { expect, test } from 'vitest';
import type { Principal } from '../../http/index.ts';
import { newId } from '../../kernel/ids.ts';
import { parseUsd } from '../../kernel/money.ts';
import { billFaults, invoicesOf } from '../../receipts/testing/bills.ts';
import { declareSamplePrices } from '../ledger/testing/ledger.ts';
import { planRoutes } from './routes.ts';
import { planOf } from './testing/book.ts';
import { CARDS, type PlansUnderTest, plansUnderTest } from './testing/plans.ts';
import { type UsageUnderTest, usageUnderTest } from './testing/usage.ts';

const USD = 1_000_000_000n;
const MODELS = ['gpt-5.4-nano', 'gpt-image-1', 'sora-2'];
const NOTHING: ReceiptUsage = { input_tokens: 0, cached_input_tokens: 0, cache_write_tokens: 0, output_tokens: 0, reasoning_tokens: 0 };

/** Everything that happens to an account's money, in any order. */
type Step =
  | { readonly kind: 'use'; readonly model: string; readonly costNano: bigint; readonly sparesNano: bigint; readonly usage: ReceiptUsage }
  | { readonly kind: 'refund_usage'; readonly which: number }
  | { readonly kind: 'dispute'; readonly which: number; readonly isWon: boolean }
  | { readonly kind: 'top_up'; readonly dollars: bigint }
  | { readonly kind: 'refund_payment'; readonly which: number; readonly cents: bigint }
  | { readonly kind: 'buy'; readonly plan: 'pro' | 'scale' | 'enterprise' }
  | { readonly kind: 'go_down'; readonly plan: 'free' | 'pro' | 'scale' }
  | { readonly kind: 'keep' | 'events' | 'jobs' | 'auto_topup' }
  | { readonly kind: 'days'; readonly days: number };

const usages: fc.Arbitrary<ReceiptUsage> = fc.oneof(
  // Up to a third of what the largest plan includes, so that every quota is crossed now and then.
  fc.integer({ min: 1, max: 1_700_000_000 }).map((input_tokens) => ({ ...NOTHING, input_tokens })),
  fc.integer({ min: 1, max: 3_000_000 }).map((input_tokens) => ({ ...NOTHING, input_tokens })),
  fc.integer({ min: 1, max: 300 }).map((images) => ({ ...NOTHING, images })),
  fc.integer({ min: 1, max: 5_000 }).map((video_seconds) => ({ ...NOTHING, video_seconds })),
);
const which = fc.nat({ max: 30 });
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.record({
      kind: fc.constant('use' as const),
      model: fc.constantFrom(...MODELS),
      costNano: fc.bigInt({ min: 1n, max: 9n * USD }),
      // Below zero the provider bills more than was held: debt.
      sparesNano: fc.bigInt({ min: -USD / 2n, max: USD }),
      usage: usages,
    }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('refund_usage' as const), which }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('dispute' as const), which, isWon: fc.boolean() }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('top_up' as const), dollars: fc.bigInt({ min: 1n, max: 60n }) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('refund_payment' as const), which, cents: fc.bigInt({ min: 1n, max: 900n }) }) },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant('buy' as const),
      plan: fc.constantFrom('pro' as const, 'scale' as const, 'enterprise' as const),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant('go_down' as const),
      plan: fc.constantFrom('free' as const, 'pro' as const, 'scale' as const),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constantFrom('keep' as const, 'events' as const, 'events' as const, 'jobs' as const, 'auto_topup' as const),
    }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('days' as const), days: fc.integer({ min: 1, max: 20 }) }) },
);

/** A customer with a plan, a balance and a quota that is nearly used up. */
const beginning: fc.Arbitrary<Step[]> = fc
  .constantFrom(['pro', 24_000_000] as const, ['enterprise', 4_999_000_000] as const)
  .map(([plan, tokens]) => [
    { kind: 'buy', plan },
    { kind: 'top_up', dollars: 60n },
    { kind: 'events' },
    { kind: 'use', model: 'gpt-5.4-nano', costNano: 3n * USD, sparesNano: 0n, usage: { ...NOTHING, input_tokens: tokens } },
  ]);

test('whatever is used, paid, returned and changed, books, lanes, invoices and every answer say the same to the nano-dollar', async () => {
  let charged = 0;
  await fc.assert(
    fc.asyncProperty(beginning, fc.array(step, { minLength: 8, maxLength: 24 }), async (first, steps) => {
      let usage: UsageUnderTest | undefined;
      const wire = (pool: Pool) => {
        usage = usageUnderTest(pool);
        return usage;
      };
      const world = await plansUnderTest({ wire });
      if (!usage) throw new Error('Nothing was wired');
      await declareSamplePrices(world.pool, MODELS);
      const life = new Life(world, usage);
      try {
        for (const one of [...first, ...steps]) await life.take(one);
        await life.settleDown();
        charged += (await life.expectAgreement()) > 0n ? 1 : 0;
      } finally {
        await usage.close();
        await world.close();
      }
    }),
    { numRuns: 8 },
  );
  // Otherwise it proves nothing.
  expect(charged).toBeGreaterThan(2);
});

class Life {
  readonly #world: PlansUnderTest;
  readonly #usage: UsageUnderTest;
  readonly #requests: string[] = [];
  #commands = 0;

  constructor(world: PlansUnderTest, usage: UsageUnderTest) {
    this.#world = world;
    this.#usage = usage;
  }

  async take(one: Step): Promise<void> {
    const { plans, accountId, clock, fake, provider } = this.#world;
    this.#commands += 1;
    switch (one.kind) {
      case 'use': {
        const mostNano = one.costNano + one.sparesNano > 0n ? one.costNano + one.sparesNano : 1n;
        const requestId = await this.#usage.use(accountId, await this.#world.planOfAccount(), clock.now(), { ...one, mostNano });
        if (requestId) this.#requests.push(requestId);
        return;
      }
      case 'refund_usage': {
        const requestId = this.#requests[one.which];
        if (requestId) await this.#usage.refunds(clock).refund(accountId, requestId, null, { reason: 'It failed.' });
        return;
      }
      case 'top_up':
        await this.#world.topUp(one.dollars);
        return;
      case 'refund_payment':
      case 'dispute': {
        const { rows } = await this.#world.pool.query<{ provider_id: string }>(
          "select provider_id from payments where status = 'succeeded' order by created_at, payment_id",
        );
        const paymentId = rows[one.which % Math.max(1, rows.length)]?.provider_id;
        if (!paymentId) return;
        if (one.kind === 'dispute') {
          // One that was disputed or returned cannot be disputed again.
          await refusable(async () => fake.closeDispute(fake.openDispute(paymentId), one.isWon ? 'won' : 'lost'));
        } else
          await provider.refund({
            paymentId,
            amount: one.cents * (USD / 100n),
            reference: 'r',
            idempotencyKey: `refund:${this.#commands}`,
          });
        return;
      }
      case 'buy':
        await refusable(() => this.#world.subscribe(one.plan, CARDS.good));
        return;
      case 'go_down': {
        await refusable(() => plans.downgrades.schedule(accountId, planOf(one.plan), newId(), this.#world.trail));
        return;
      }
      case 'keep':
        return plans.downgrades.cancel(accountId, newId(), this.#world.trail);
      case 'events':
        await this.#world.takeEvents();
        return this.#usage.lanes.refreshCredit(`balance:${accountId}`);
      case 'jobs':
        return this.#runJobs();
      case 'auto_topup':
        return refusable(() =>
          plans.autoTopup.set(
            accountId,
            { enabled: true, threshold: 2n * USD, amount: 15n * USD, dailyMaximum: 75n * USD },
            this.#world.trail,
          ),
        );
      case 'days':
        fake.advance({ days: one.days });
        return;
      default:
        return one satisfies never;
    }
  }

  async #runJobs(): Promise<void> {
    const { plans } = this.#world;
    await this.#usage.write();
    await plans.downgrades.apply(100);
    await plans.downgrades.endGrace();
    await plans.autoTopup.run();
    await plans.usageInvoices.issue();
    await plans.billing.run();
  }

  async settleDown(): Promise<void> {
    await this.#world.takeEvents();
    await this.#runJobs();
    await this.#world.takeEvents();
    await this.#usage.write();
  }

  /** @returns what the month was charged, nano-USD */
  async expectAgreement(): Promise<bigint> {
    const { pool, accountId, plans } = this.#world;
    const number = async (sql: string, ...values: unknown[]): Promise<bigint> => {
      const { rows } = await pool.query<{ n: string | null }>(sql, values);
      return BigInt(rows[0]?.n ?? 0);
    };
    const booked = (...accounts: string[]) =>
      number('select sum(amount_nano)::text as n from ledger_entries where account = any($1)', accounts);
    const usageSum = (column: string, where = 'true') =>
      number(
        `select sum(${column})::text as n from usage_records u left join refunds r using (request_id, attempt) where r.posted_at is null and ${where}`,
      );

    // The books: nothing is created or lost, and the sums by day are the sums of the entries.
    expect(await number('select sum(amount_nano)::text as n from ledger_entries')).toBe(0n);
    const { rows: differing } = await pool.query(
      `select account from (select account, sum(amount_nano) as a from ledger_entries group by 1) e
         full join (select account, sum(amount_nano) as b from ledger_daily group by 1) d using (account) where a is distinct from b`,
    );
    expect(differing).toEqual([]);
    expect(this.#usage.quarantined).toEqual([]);
    // What a provider bills beyond the hold is the operator's loss, and no customer's cost.
    expect(await booked('revenue', 'operator_losses')).toBe(await usageSum('cost_nano'));
    expect(-(await booked(`plan_quota:${accountId}`))).toBe(await usageSum('cost_nano - charged_nano'));
    const paidIn = await number("select sum(booked_nano)::text as n from payments where kind <> 'subscription'");
    const balance = await booked(`customer_balance:${accountId}`, `debt:${accountId}`);
    expect(balance).toBe(paidIn - (await usageSum('charged_nano', "funding = 'balance'")));
    const owed = -(await booked(`receivable:${accountId}`, `invoice_debt:${accountId}`));
    expect(owed).toBe(await usageSum('charged_nano', "funding = 'invoice'"));
    expect(-(await booked('payment_clearing'))).toBe(await number('select sum(booked_nano)::text as n from payments'));

    // The lanes, and the payment provider.
    expect(await this.#usage.differences()).toEqual([]);
    const lane = await this.#usage.source.moneyLane(`balance:${accountId}`);
    expect((lane.cap ?? 0n) - lane.spent).toBe(balance);
    expect((await plans.reconcile()).differences).toEqual([]);

    // Every answer.
    const { summary, overage, month, invoices, current } = await this.#answers();
    const period = `started_at >= '${month.period_start}' and started_at < '${month.resets_at}'`;
    const chargedNow = await usageSum('charged_nano', period);
    expect(nano(summary.balance_usd)).toBe(balance);
    expect([summary, overage, month].map(({ charged_usd }) => nano(charged_usd))).toEqual([chargedNow, chargedNow, chargedNow]);
    expect(sum(overage.lines.map(({ charged_usd }) => charged_usd))).toBe(chargedNow);
    expect(nano(month.cost_usd)).toBe(await usageSum('cost_nano', period));
    expect(nano(month.covered_usd) + chargedNow).toBe(nano(month.cost_usd));
    expect(current.plan.plan_id).toBe(summary.plan_id);

    // The invoices: the sum of their lines, and with what is on none yet all that is owed.
    const ofUsage = invoices.filter(({ kind }) => kind === 'usage');
    for (const invoice of invoices) expect(sum(invoice.lines.map(({ amount_usd }) => amount_usd))).toBe(nano(invoice.total_usd));
    const invoiced = sum(ofUsage.map(({ total_usd }) => total_usd)) - sum(ofUsage.map(({ from_balance_usd }) => from_balance_usd));
    expect(invoiced + nano(summary.uninvoiced_usd)).toBe(owed);
    const carried = ofUsage.toSorted((a, b) => a.period.localeCompare(b.period)).at(-1)?.carried_usd ?? '0';
    expect(sum(ofUsage.map(({ due_usd }) => due_usd)) + nano(carried)).toBe(invoiced);
    // The signed invoices, worked out again from the receipts that they count; and what was charged of them is what was invoiced.
    const scope = { accountId, livemode: true };
    expect(await billFaults({ pool }, scope)).toEqual([]);
    const signed = (await invoicesOf({ pool }, scope)).map(({ payload }) => payload);
    const totals = signed.reduce((total, { total_nano_usd }) => total + BigInt(total_nano_usd), 0n);
    expect(totals).toBe(sum(ofUsage.map(({ total_usd }) => total_usd)));
    return usageSum('charged_nano');
  }

  async #answers() {
    const { plans, payer, clock } = this.#world;
    const routes = planRoutes({ live: plans, paying: plans }, clock);
    const principal: Principal = { ...payer, kind: 'session', sessionId: newId(), role: 'member' };
    const call = {
      principal,
      headers: { 'x-api-key': undefined, 'x-internal-secret': undefined, 'x-web-session-token': undefined },
      requestId: 'req_test',
      peer: { address: null, userAgent: null },
      setHeader: () => {},
    };
    const { body: list } = await routes.listInvoices({ ...call, query: { limit: 200 } });
    const ids = 'data' in list ? list.data.map(({ invoice_id }) => invoice_id) : [];
    return {
      summary: PlanBillingSummaryResponse.parse((await routes.billingSummary(call)).body),
      overage: PlanOverageEstimateResponse.parse((await routes.overageEstimate(call)).body),
      month: PlanUsageQuotaResponse.parse((await routes.usage(call)).body),
      current: CurrentPlanResponse.parse((await routes.current(call)).body),
      invoices: await Promise.all(
        ids.map(async (invoice_id) => PlanInvoiceResponse.parse((await routes.getInvoice({ ...call, params: { invoice_id } })).body)),
      ),
    };
  }
}

const nano = (usd: string): bigint => (usd.startsWith('-') ? -(parseUsd(usd.slice(1)) ?? 0n) : (parseUsd(usd) ?? 0n));
const sum = (amounts: readonly string[]): bigint => amounts.reduce((total, amount) => total + nano(amount), 0n);

/** What the customer is refused changes nothing. */
async function refusable(work: () => Promise<unknown>): Promise<void> {
  await work().catch((failure: unknown) => {
    if (!(failure instanceof Error) || !/Problem|StripeFault|PaymentFault/.test(`${failure.name} ${failure.constructor.name}`))
      throw failure;
  });
}
