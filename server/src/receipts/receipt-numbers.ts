import type { Pool, PoolClient } from 'pg';
import * as z from 'zod';
import { monthOf } from '../kernel/clock.ts';
import { checkedRows, firstOf, prepared } from '../kernel/statements.ts';
import { tables } from './tables.ts';

/** What a receipt is numbered among. */
interface Numbered {
  readonly accountId: string;
  readonly livemode: boolean;
  /** Of the request, epoch milliseconds. */
  readonly startedAt: number;
}

const Taken = z.object({ account_id: z.string(), livemode: z.boolean(), month: z.string(), last: z.number() });

/**
 * The number of each receipt among those of its account, mode and month (UTC, of the request): 1, 2, 3, …, without a gap, so that one which is
 * left out of an export is seen. Taken in the transaction that writes the receipts: writers of one account wait for each other, in one order, and
 * who sees a number sees all that are below it.
 */
export async function takeNumbers(client: Pool | PoolClient, posted: readonly Numbered[]): Promise<number[]> {
  const counts = new Map<string, { readonly of: Numbered; count: number }>();
  for (const one of posted) {
    const counted = counts.get(seriesOf(one)) ?? { of: one, count: 0 };
    counted.count += 1;
    counts.set(seriesOf(one), counted);
  }
  const wanted = [...counts.values()].map(({ of, count }) => ({
    account_id: of.accountId,
    livemode: of.livemode,
    month: monthOf(of.startedAt),
    last: count,
  }));
  const rows = await checkedRows(
    prepared(client, 'take numbers'),
    Taken,
    `insert into receipt_numbers (account_id, livemode, month, last)
     select account_id, livemode, month, last from json_populate_recordset(null::receipt_numbers, $1) order by account_id, livemode, month
     on conflict (account_id, livemode, month) do update set last = receipt_numbers.last + excluded.last
     returning account_id, livemode, month, last`,
    [JSON.stringify(wanted)],
  );
  const next = new Map(
    rows.map(({ account_id, livemode, month, last }) => {
      const series = `${account_id} ${livemode} ${month}`;
      return [series, last - (counts.get(series)?.count ?? 0)];
    }),
  );
  return posted.map((one) => {
    const number = (next.get(seriesOf(one)) ?? 0) + 1;
    next.set(seriesOf(one), number);
    return number;
  });
}

const seriesOf = ({ accountId, livemode, startedAt }: Numbered): string => `${accountId} ${livemode} ${monthOf(startedAt)}`;

/** The highest number that has been taken; 0 before the first. */
export async function lastNumber(pool: Pool, { accountId, livemode }: Omit<Numbered, 'startedAt'>, month: string): Promise<number> {
  const taken = tables.selectFrom('receipt_numbers').select('last').where('account_id', '=', accountId).where('livemode', '=', livemode);
  return (await firstOf(pool, taken.where('month', '=', month)))?.last ?? 0;
}
