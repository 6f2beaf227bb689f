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
      if (error instanceof ChangedMeanwhile) continue;
      if (!(error instanceof DamagedArchive)) throw error;
      log.error({ err: error, day }, 'usage of a day cannot be summed up: the archive does not have its requests');
      damaged = error;
    }
  }
  if (damaged !== undefined) throw damaged;
}

/** The day stays: what had been read of it was changed afterwards. */
class ChangedMeanwhile extends Error {}

/**
 * What the ledger's writer books of the day before its end is among the requests, and what it books afterwards is not. It is held up only while the
 * requests are added that it has booked since the day was read.
 */
async function sumDay(client: PoolClient, archive: Archive, day: string): Promise<void> {
  // Whoever sums up the same day waits here.
  const removed = await client.query('delete from usage_days_unsummed where day = $1', [day]);
  if (removed.rowCount === 0) return;
  await client.query(
    'create temporary table summed_requests (request_id text collate "C", attempt smallint, primary key (request_id, attempt)) on commit drop',
  );
  const [from = '', to = ''] = [0, DAY_MS].map((ms) => USAGE_RECORDS.keyAt(Date.parse(day) + ms));
  const changes = async () => `${await postedIn(client, from, to)} ${await archive.countPieces(USAGE_RECORDS)}`;
  const before = await changes();
  await sumStored(client, from, to);
  for await (const rows of archive.rowsBetween(USAGE_RECORDS, from, to)) await sumArchived(client, rows);
  await client.query('lock table usage_segments in share row exclusive mode');
  if ((await changes()) !== before) throw new ChangedMeanwhile(`Requests of ${day} were changed while they were summed up`);
  await sumStored(client, from, to);
}

/** What changes when a request counts as something else. */
async function postedIn(client: PoolClient, from: string, to: string): Promise<string | undefined> {
  const posted = (table: string) =>
    `(select count(*) from ${table} where posted_at is not null and request_id collate "C" > $1 and request_id collate "C" < $2)`;
  const text = `select concat_ws(' ', ${posted('corrections')}, ${posted('refunds')}) as posted`;
  return (await checkedRow(client, z.object({ posted: z.string() }), text, [from, to]))?.posted;
}

const Rows = z.object({ rows: z.string().nullable(), last: z.string().nullable() });

/** Those that are not summed up yet. */
async function sumStored(client: PoolClient, from: string, to: string): Promise<void> {
  for (let after: string | null = from; after !== null; ) after = await sumRows(client, after, to);
}

/** @returns the id after which more may follow, or null */
async function sumRows(client: PoolClient, after: string, to: string): Promise<string | null> {
  const found = await checkedRow(
    client,
    Rows,
    `with part as (select * from usage_records u where request_id > $1 and request_id < $2
        and not exists (select from summed_requests s where s.request_id = u.request_id and s.attempt = u.attempt)
        order by request_id fetch first ${ROWS_AT_ONCE} rows with ties),
      noted as (insert into summed_requests select request_id, attempt from part)
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
