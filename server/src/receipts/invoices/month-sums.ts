import { type BookSums, QUOTA_METERS } from '@tallygate/receipts';
import * as z from 'zod';
import { type Month, monthEnd, monthStart } from '../../kernel/clock.ts';
import { checkedRows, type Queryable } from '../../kernel/statements.ts';
import type { ReceiptScope } from '../list-receipts.ts';

/** Both included. */
export interface NumberRange {
  readonly first: number;
  readonly last: number;
}

/** What the receipts of a month with these numbers come to, and the plans that they name. */
export interface MonthSums extends BookSums {
  readonly plans: readonly string[];
}

const SumRow = z.object({
  kind: z.string(),
  funding: z.string().nullable(),
  count: z.number(),
  cost: z.string(),
  charged: z.string(),
  plans: z.array(z.string()),
  ...(Object.fromEntries(QUOTA_METERS.map((meter) => [meter, z.string()])) as Record<(typeof QUOTA_METERS)[number], z.ZodString>),
});
type SumRow = z.infer<typeof SumRow>;

const units = (payload: string, meter: string): string => `coalesce((${payload} -> 'payment' -> 'covered' ->> '${meter}')::numeric, 0)`;
const amount = (payload: string, path: string): string => `coalesce((${payload} ${path})::numeric, 0)`;

/**
 * From the receipts themselves: a correction counts as the difference from the receipt in whose place it is.
 *
 * @throws where receipts of the range are not in the database: an invoice counts what it has seen
 */
export async function monthSums(
  db: Queryable,
  { accountId, livemode }: ReceiptScope,
  month: Month,
  { first, last }: NumberRange,
): Promise<MonthSums> {
  const rows = await checkedRows(
    db,
    SumRow,
    `with counted as (
       select payload::jsonb as said from receipts
        where account_id = $1 and livemode = $2 and started_at >= $3 and started_at < $4 and account_sequence between $5 and $6)
     select said ->> 'kind' as kind, said -> 'payment' ->> 'funding' as funding, count(*)::int as count,
       sum(${amount('said', "->> 'cost_nano_usd'")} - ${amount('was', "->> 'cost_nano_usd'")})::text as cost,
       sum(${amount('said', "-> 'payment' ->> 'charged_nano_usd'")} - ${amount('was', "-> 'payment' ->> 'charged_nano_usd'")})::text as charged,
       ${QUOTA_METERS.map((meter) => `sum(${units('said', meter)} - ${units('was', meter)})::text as ${meter}`).join()},
       coalesce(array_agg(distinct said -> 'payment' ->> 'plan') filter (where said -> 'payment' ->> 'plan' is not null), '{}') as plans
       from counted left join lateral (
         select payload::jsonb as was from receipts where said ->> 'kind' = 'correction' and receipt_id = (said ->> 'refund_of')::uuid) corrected on true
      group by 1, 2`,
    [accountId, livemode, monthStart(month), monthEnd(month), first, last],
  );
  const count = rows.reduce((total, row) => total + row.count, 0);
  if (count !== last - first + 1) throw new Error(`${month} has ${count} receipts with the numbers ${first} to ${last} in the database`);
  return { ...sumsOfRows(rows), plans: [...new Set(rows.flatMap(({ plans }) => plans))].sort() };
}

function sumsOfRows(rows: readonly SumRow[]): BookSums {
  const sums = { charges: 0, corrections: 0, refunds: 0, used: 0n, corrected: 0n, refunded: 0n, fromBalance: 0n, byInvoice: 0n };
  const covered = { requests: 0n, tokens: 0n, images: 0n, audio_seconds: 0n, video_seconds: 0n };
  for (const row of rows) {
    const [counted, costed] = FIGURES[row.kind] ?? (['charges', 'used'] as const);
    const sign = row.kind === 'refund' ? -1n : 1n;
    sums[counted] += row.count;
    sums[costed] += BigInt(row.cost);
    sums[row.funding === 'invoice' ? 'byInvoice' : 'fromBalance'] += sign * BigInt(row.charged);
    for (const meter of QUOTA_METERS) covered[meter] += sign * BigInt(row[meter]);
  }
  return { ...sums, covered };
}

const FIGURES: Readonly<Record<string, readonly ['corrections', 'corrected'] | readonly ['refunds', 'refunded']>> = {
  correction: ['corrections', 'corrected'],
  refund: ['refunds', 'refunded'],
};
