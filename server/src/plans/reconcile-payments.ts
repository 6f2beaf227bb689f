import type { Pool } from 'pg';
import type { PaymentProvider } from '../adapters/payment/port.ts';
import { type Clock, dayOf } from '../kernel/clock.ts';
import type { PaymentEvents } from './payment-events.ts';

const DAY_MS = 86_400_000;

export interface PaymentDifference {
  readonly what: string;
  readonly inBooks: string;
  readonly elsewhere: string;
}

interface ReconcileDeps {
  readonly pool: Pool;
  readonly provider: Pick<PaymentProvider, 'readPayment'>;
  readonly events: Pick<PaymentEvents, 'catchUp'>;
  readonly clock: Clock;
}

/**
 * Takes the events that no webhook told, then compares: payments of the last days with the provider, the books' clearing account with
 * payments, what is credited with what the books say of balances, and the usage of two days with its sums.
 */
export async function reconcilePayments({ pool, provider, events, clock }: ReconcileDeps) {
  const missed = await events.catchUp(clock.now() - DAY_MS);
  const differences: PaymentDifference[] = [];
  const recent = await pool.query<{ provider_id: string; status: string; amount_nano: bigint; refunded_nano: bigint }>(
    'select provider_id, status, amount_nano, refunded_nano from payments where created_at >= $1 order by created_at desc limit 500',
    [new Date(clock.now() - 2 * DAY_MS)],
  );
  for (const { provider_id, status, amount_nano, refunded_nano } of recent.rows) {
    const there = await provider.readPayment(provider_id);
    const inBooks = `${status} ${amount_nano} −${refunded_nano}`;
    const elsewhere = there ? `${there.status} ${there.amount} −${there.refunded}` : 'nothing';
    if (inBooks !== elsewhere) differences.push({ what: `payment ${provider_id}`, inBooks, elsewhere });
  }
  const { rows } = await pool.query<{ what: string; inBooks: string; elsewhere: string }>(
    `select 'payment_clearing' as what, coalesce(-sum(amount_nano), 0)::text as "inBooks",
       (select coalesce(sum(booked_nano), 0) from payments)::text as elsewhere from ledger_daily where account = 'payment_clearing'
     union all
     select 'credits', coalesce(sum(e.amount_nano), 0)::text, (select coalesce(sum(amount_nano), 0) from balance_credits)::text
       from ledger_entries e join postings p using (posting_id) where p.kind = 'payment' and e.account like 'customer_balance:%'
     union all
     select 'usage since ' || $1::text, (select coalesce(sum(cost_nano), 0) || ' ' || coalesce(sum(charged_nano), 0) from usage_daily where day >= $1::date),
       (select coalesce(sum(cost_nano), 0) || ' ' || coalesce(sum(charged_nano), 0) from usage_records u left join refunds r using (request_id, attempt)
         where started_at >= $1::date::timestamp at time zone 'utc' and r.posted_at is null)
     union all
     select 'every account together', coalesce(sum(amount_nano), 0)::text, '0' from ledger_daily`,
    [dayOf(clock.now() - DAY_MS)],
  );
  differences.push(...rows.filter(({ inBooks, elsewhere }) => inBooks !== elsewhere));
  return { missed, differences };
}
