import { type SqlBool, sql } from 'kysely';
import type { Pool } from 'pg';
import * as z from 'zod';
import type { PaymentProvider } from '../../adapters/payment/port.ts';
import { type Clock, dayOf, monthOf } from '../../kernel/clock.ts';
import { requestIdAt } from '../../kernel/ids.ts';
import { checkedRows, rowsOf } from '../../kernel/statements.ts';
import { RENEWING } from './billing-of-usage.ts';
import type { PaymentEvents } from './payment-events.ts';
import type { PlanTermsDeps } from './subscription-row.ts';
import { countingSubscription, isRunning } from './sync-subscription.ts';
import { tables } from './tables.ts';
import { uninvoiced } from './usage-invoices.ts';

const DAY_MS = 86_400_000;

export interface PaymentDifference {
  readonly what: string;
  readonly inBooks: string;
  readonly elsewhere: string;
}

interface ReconcileDeps extends Pick<PlanTermsDeps, 'book'> {
  readonly pool: Pool;
  readonly provider: Pick<PaymentProvider, 'readPayment' | 'listSubscriptions'>;
  readonly events: Pick<PaymentEvents, 'catchUp'>;
  readonly clock: Clock;
}

/**
 * Takes the events that no webhook told, then compares: payments of the last days with the provider, the books' clearing account with
 * payments, what is credited with what the books say of balances, the usage of two days with its sums, subscriptions with the provider,
 * charges with invoices, and what is owed with what is billed.
 */
export async function reconcilePayments({ pool, provider, events, clock, book }: ReconcileDeps) {
  const missed = await events.catchUp(clock.now() - DAY_MS);
  const differences: PaymentDifference[] = [];
  const recent = await rowsOf(
    pool,
    tables
      .selectFrom('payments')
      .select(['provider_id', 'status', 'amount_nano', 'refunded_nano'])
      .where('created_at', '>=', new Date(clock.now() - 2 * DAY_MS))
      .orderBy('created_at', 'desc')
      .limit(500),
  );
  for (const { provider_id, status, amount_nano, refunded_nano } of recent) {
    const there = await provider.readPayment(provider_id);
    const inBooks = `${status} ${amount_nano} −${refunded_nano}`;
    const elsewhere = there ? `${there.status} ${there.amount} −${there.refunded}` : 'nothing';
    if (inBooks !== elsewhere) differences.push({ what: `payment ${provider_id}`, inBooks, elsewhere });
  }
  const rows = await checkedRows(
    pool,
    Compared,
    `select 'payment_clearing' as what, coalesce(-sum(amount_nano), 0)::text as "inBooks",
       (select coalesce(sum(booked_nano), 0) from payments)::text as elsewhere from ledger_daily where account = 'payment_clearing'
     union all
     select 'credits', coalesce(sum(e.amount_nano), 0)::text, (select coalesce(sum(amount_nano), 0) from balance_credits)::text
       from ledger_entries e join postings p using (posting_id) where p.request_id is not null and p.kind in ('payment', 'promotion') and e.account like 'customer_balance:%'
     union all
     select 'usage since ' || $1::text, (select coalesce(sum(cost_nano), 0) || ' ' || coalesce(sum(charged_nano), 0) from usage_daily where day >= $1::date),
       (select coalesce(sum(cost_nano), 0) || ' ' || coalesce(sum(charged_nano), 0) from standing_usage
         where request_id >= $2 and started_at >= $1::date::timestamp at time zone 'utc' and not refunded)
     union all
     select 'every account together', coalesce(sum(amount_nano), 0)::text, '0' from ledger_daily`,
    // A request has its id before it starts, so only the ids of three days are read: the others are in months of partitions.
    [dayOf(clock.now() - DAY_MS), requestIdAt(clock.now() - 3 * DAY_MS)],
  );
  differences.push(...rows.filter(({ inBooks, elsewhere }) => inBooks !== elsewhere));
  differences.push(...(await subscriptionDifferences(pool, { provider, book })), ...(await invoiceDifferences(pool, clock.now())));
  return { missed, differences };
}

const Compared = z.object({ what: z.string(), inBooks: z.string(), elsewhere: z.string() });

/** Of the subscriptions whose turn it was last: each is looked at at least once in its period. */
async function subscriptionDifferences(pool: Pool, deps: Pick<ReconcileDeps, 'provider' | 'book'>): Promise<PaymentDifference[]> {
  const rows = await rowsOf(
    pool,
    tables
      .selectFrom('subscriptions')
      .select((eb) => ['subscription_id', 'plan_id', 'plan_version', 'status', eb.ref('customer_id').$notNull().as('customer_id')] as const)
      .where('customer_id', 'is not', null)
      .orderBy('period_end', (order) => order.asc().nullsLast())
      .limit(500),
  );
  const differences: PaymentDifference[] = [];
  for (const { customer_id, plan_id, plan_version, status, subscription_id } of rows) {
    const there = await countingSubscription(deps, customer_id);
    const running = there && isRunning(there) ? there : undefined;
    const inBooks = subscription_id === null ? 'none' : `${subscription_id} ${plan_id}@${plan_version} ${status}`;
    const elsewhere = running ? `${running.id} ${running.plan?.planId}@${running.plan?.version} ${running.status}` : 'none';
    if (inBooks !== elsewhere) differences.push({ what: `subscription of ${customer_id}`, inBooks, elsewhere });
  }
  return differences;
}

/** A day is enough for all that runs by itself: what is charged and not invoiced after it, or owed and not billed, never will be. */
async function invoiceDifferences(pool: Pool, now: number): Promise<PaymentDifference[]> {
  const late = now - DAY_MS;
  const missing = (await uninvoiced(pool, monthOf(late))).flatMap(({ account_id, months }) =>
    months.map((month) => ({ what: `usage of ${account_id} in ${month}`, inBooks: 'charged', elsewhere: 'on no invoice' })),
  );
  const rows = await rowsOf(
    pool,
    tables
      .selectFrom('invoices as i')
      .leftJoin('subscriptions as s', 's.account_id', 'i.account_id')
      .select(['i.invoice_id', 'i.due_nano as due'])
      .where('i.kind', '=', 'usage')
      .where('i.status', '=', 'open')
      .where('i.issued_at', '<', new Date(late))
      .where('i.billed_on', 'is', null)
      .where(sql<SqlBool>`(provider_item_id is null or item_subscription_id is distinct from ${sql.raw(RENEWING)})`),
  );
  const unbilled = rows.map(({ due, invoice_id }) => ({
    what: `invoice ${invoice_id}`,
    inBooks: `${due} owed`,
    elsewhere: 'billed nowhere',
  }));
  return [...missing, ...unbilled];
}
