import type { Pool, PoolClient } from 'pg';
import * as z from 'zod';
import { type Archive, DamagedArchive, USAGE_RECORDS } from '../../../archive/index.ts';
import { newId } from '../../../kernel/ids.ts';
import type { Log } from '../../../kernel/log.ts';
import { checkedRow, checkedRows } from '../../../kernel/statements.ts';
import { inTransaction } from '../../../kernel/transaction.ts';
import { SEGMENT_INSERT, segmentRow } from './segment-row.ts';
import { done } from './segment-thread.ts';
import { STANDING_ROW } from './segment-work.ts';

/** SQL: whether there are days whose requests are not in segments yet: those from before there were any. */
export const DAYS_TO_SUM = 'exists (select from usage_days_unsummed)';

const DAY_MS = 86_400_000;
const ROWS_AT_ONCE = 10_000;

interface SumDaysDeps {
  readonly pool: Pool;
  readonly archive: Archive;
  readonly log: Log;
}

/** Makes the segments of those days from their requests, the newest day first, those of archived months from the archive. */
export async function sumDays({ pool, archive, log }: SumDaysDeps, signal: AbortSignal): Promise<void> {
  const days = await checkedRows(pool, z.object({ day: z.string() }), 'select day::text from usage_days_unsummed order by day desc');
  let damaged: unknown;
  for (const { day } of days) {
    if (signal.aborted) return;
    try {
      await inTransaction(pool, (client) => sumDay(client, archive, day));
    } catch (error) {
      if (!(error instanceof DamagedArchive)) throw error;
      log.error({ err: error, day }, 'usage of a day cannot be summed up: the archive does not have its requests');
      damaged = error;
    }
  }
  if (damaged !== undefined) throw damaged;
}

/** Without the ledger's writer meanwhile: what it books of the day before is among the requests, and what it books afterwards is not. */
async function sumDay(client: PoolClient, archive: Archive, day: string): Promise<void> {
  await client.query('lock table usage_segments in share row exclusive mode');
  const removed = await client.query('delete from usage_days_unsummed where day = $1', [day]);
  if (removed.rowCount === 0) return;
  const [from = '', to = ''] = [0, DAY_MS].map((ms) => USAGE_RECORDS.keyAt(Date.parse(day) + ms));
  for (let after: string | null = from; after !== null; ) after = await sumRows(client, after, to);
  for await (const rows of archive.rowsBetween(USAGE_RECORDS, from, to)) await sumArchived(client, rows);
}

const Rows = z.object({ rows: z.string().nullable(), last: z.string().nullable() });

/** @returns the id after which more may follow, or null */
async function sumRows(client: PoolClient, after: string, to: string): Promise<string | null> {
  const found = await checkedRow(
    client,
    Rows,
    `with part as (select * from usage_records where request_id > $1 and request_id < $2 order by request_id
        fetch first ${ROWS_AT_ONCE} rows with ties)
      select (${standingIn('part')}) as rows, (select max(request_id) from part) as last`,
    [after, to],
  );
  await write(client, found?.rows ?? null);
  return found?.last ?? null;
}

async function sumArchived(client: PoolClient, archived: string): Promise<void> {
  const text = `select (${standingIn('json_populate_recordset(null::usage_records, $1)')}) as rows, null as last`;
  await write(client, (await checkedRow(client, Rows, text, [archived]))?.rows ?? null);
}

async function write(client: PoolClient, rows: string | null): Promise<void> {
  if (rows === null) return;
  const segments = (await done('ofRequests', rows, Number.POSITIVE_INFINITY)).map(({ livemode, segment }) =>
    segmentRow({ segmentId: newId(), accountId: null, livemode, requestDay: null, isMerged: false }, segment),
  );
  await client.query(SEGMENT_INSERT, [JSON.stringify(segments)]);
}

/** SQL: requests with what counts of them today as a JSON array, none whose money was given back. @param source rows of `usage_records` */
const standingIn = (source: string): string => `select json_agg(standing)::text from (select ${STANDING_ROW} from ${source} u
    left join corrections c on c.request_id = u.request_id and c.attempt = u.attempt and c.posted_at is not null
    left join refunds r on r.request_id = u.request_id and r.attempt = u.attempt and r.posted_at is not null
  where r.refund_id is null) standing`;
