import type { Pool } from 'pg';
import * as z from 'zod';
import { type Month, monthEnd, monthOf, monthStart } from '../../kernel/clock.ts';
import { maxOf, type NanoUsd, proRata } from '../../kernel/money.ts';
import { checkedRow, checkedRows, type Queryable } from '../../kernel/statements.ts';

import { METERS } from './offer.ts';
import type { Meter, Plan } from './tiers.ts';

export interface MeterFigures {
  readonly meter: Meter;
  /** Null: without limit. */
  readonly included: bigint | null;
  /** Of what is included. */
  readonly used: bigint;
  /** Used and not covered. */
  readonly beyond: bigint;
}

export interface ModelCharges {
  readonly model: string;
  /** Those that were charged. */
  readonly requests: bigint;
  readonly charged: NanoUsd;
}

/** What the ledger knows of an account's month, live usage alone. */
export interface MonthFigures {
  readonly month: Month;
  readonly meters: readonly MeterFigures[];
  readonly cost: NanoUsd;
  readonly charged: NanoUsd;
  /** They sum to `charged`. */
  readonly byModel: readonly ModelCharges[];
}

/** How a day's sums count against a quota: see `quotaUnits` of `@tallygate/receipts`. */
const USED: Readonly<Record<Meter, string>> = {
  requests: 'requests',
  tokens: 'case when images > 0 then 0 else input_tokens + output_tokens + input_characters end',
  images: 'images',
  audio_seconds: 'audio_seconds',
  video_seconds: 'video_seconds',
};

const Sums = z.record(z.string(), z.string());
const ChargedRow = z.object({ model: z.string(), requests: z.bigint() });
const Cached = z.object({ requests: z.string() });
const Money = z.object({
  ...{ balance: z.string(), used: z.string(), invoiced: z.string() },
  ...{ disputed: z.string(), owed: z.string(), waiting: z.string() },
});

export async function monthFigures(pool: Pool, accountId: string, plan: Plan, now: number): Promise<MonthFigures> {
  const month = monthOf(now);
  const rows = await checkedRows(
    pool,
    Sums,
    `select model, ${METERS.map((meter) => `sum(${USED[meter]})::text as ${meter}, sum(covered_${meter})::text as covered_${meter}`).join()},
       sum(cost_nano)::text as cost, sum(charged_nano)::text as charged
     from usage_daily where account_id = $1 and livemode and day >= $2 and day < $3 group by model order by model`,
    [accountId, monthStart(month), monthEnd(month)],
  );
  const sum = (name: string) => rows.reduce((total, row) => total + BigInt(row[name] ?? 0), 0n);
  const charged = await checkedRows(
    pool,
    ChargedRow,
    `select model_served as model, count(*) as requests from standing_usage
      where account_id = $1 and livemode and started_at >= $2 and started_at < $3 and charged_nano > 0 and not refunded group by 1`,
    [accountId, monthStart(month), monthEnd(month)],
  );
  const cached = await checkedRow(
    pool,
    Cached,
    `select coalesce(sum(requests), 0)::text as requests from usage_details_daily
      where account_id = $1 and livemode and day >= $2 and day < $3 and outcome = 'cached'`,
    [accountId, monthStart(month), monthEnd(month)],
  );
  // An answer that was kept takes nothing of a quota.
  const uncounted = (meter: Meter) => (meter === 'requests' ? BigInt(cached?.requests ?? 0) : 0n);
  const requestsOf = new Map(charged.map(({ model, requests }) => [model, requests]));
  return {
    month,
    meters: METERS.map((meter) => {
      const used = sum(`covered_${meter}`);
      return { meter, included: plan.quota[meter], used, beyond: maxOf(0n, sum(meter) - uncounted(meter) - used) };
    }),
    cost: sum('cost'),
    charged: sum('charged'),
    byModel: rows
      .map(({ model = '', charged = '0' }) => ({ model, requests: requestsOf.get(model) ?? 0n, charged: BigInt(charged) }))
      .filter(({ charged }) => charged !== 0n),
  };
}

/** What the month comes to if charges go on as they did since it began, rounded up to the nano-dollar. */
export function projection({ month, charged }: Pick<MonthFigures, 'month' | 'charged'>, now: number): NanoUsd {
  const start = monthStart(month).getTime();
  const [elapsed, whole] = [BigInt(Math.max(1, now - start)), BigInt(monthEnd(month).getTime() - start)];
  return charged <= 0n ? charged : maxOf(charged, proRata(charged, whole, elapsed));
}

/** Usage that stands on an open invoice of the provider counts with that one; usage whose collection was given up is owed all the same. */
const UNPAID = `case kind when 'subscription' then status = 'open' else status in ('open', 'uncollectible')
    and not exists (select from invoices bearer where bearer.provider_id = i.billed_on and bearer.status = 'open') end`;
const WAITING = "kind = 'usage' and status = 'open' and billed_on is null and not bills_alone";

/**
 * Sums of the books: what the balance holds, what of usage by invoice stands on no invoice yet, and what was invoiced and is not paid; of that
 * is `waiting` what the next invoice of the subscription takes.
 */
export async function moneyFigures(pool: Queryable, accountId: string) {
  const row = await checkedRow(
    pool,
    Money,
    `select (select coalesce(sum(amount_nano), 0) from ledger_daily where account = any($2))::text as balance,
       (select coalesce(-sum(amount_nano), 0) from ledger_daily where account = any($3))::text as used,
       (select coalesce(sum(owed_nano), 0) from invoices where account_id = $1 and kind = 'usage')::text as invoiced,
       (select coalesce(sum(d.amount_nano), 0) from payment_disputes d join payments p on p.provider_id = d.provider_payment_id
         where p.account_id = $1 and d.status = 'open')::text as disputed,
       (select coalesce(sum(due_nano), 0) from invoices i where account_id = $1 and ${UNPAID})::text as owed,
       (select coalesce(sum(due_nano), 0) from invoices i where account_id = $1 and ${WAITING})::text as waiting`,
    [accountId, [`customer_balance:${accountId}`, `debt:${accountId}`], [`receivable:${accountId}`, `invoice_debt:${accountId}`]],
  );
  const nano = (text: string | undefined) => BigInt(text ?? 0);
  return {
    balance: nano(row?.balance),
    uninvoiced: nano(row?.used) - nano(row?.invoiced),
    disputed: nano(row?.disputed),
    owed: nano(row?.owed),
    waiting: nano(row?.waiting),
  };
}
