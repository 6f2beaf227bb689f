import { createHash } from 'node:crypto';
import { promisify } from 'node:util';
import { gunzip, gzip } from 'node:zlib';
import type { Pool, PoolClient } from 'pg';
import * as z from 'zod';
import type { BlobStore } from '../adapters/blobs/port.ts';
import { type Clock, type Month, monthOf, monthStart } from '../kernel/clock.ts';
import type { Log } from '../kernel/log.ts';
import { checkedRow, firstOf } from '../kernel/statements.ts';
import { inTransaction } from '../kernel/transaction.ts';
import { archivedAmong } from './archive.ts';
import { MONTHLY_TABLES, type MonthlyTable } from './monthly-tables.ts';
import { forgetPartitions, keysOf, monthsOf, partitionOf } from './partitions.ts';
import { tables } from './tables.ts';

const compress = promisify(gzip);
const decompress = promisify(gunzip);

/** Rows of a piece; more where one key has several. */
const PIECE_ROWS = 2_000;

interface ArchiveDeps {
  readonly pool: Pool;
  readonly blobs: BlobStore;
  readonly clock: Clock;
  /** Rows of a piece. */
  readonly pieceRows?: number;
  /** For tests: in place of the database's own clock. */
  readonly databaseClock?: Clock;
}

/** On how many days after a month there have to be requests before it may go. */
const DAYS_AFTER = 7;

/**
 * The result for a month. `archived`: its rows are in the blob store, and no longer in the database. `pending`: some of its rows still have
 * unfinished work. `changed`: rows were added meanwhile, so the next run starts over. `absent`: it has no rows in the database, but for those
 * that came after it was archived.
 */
export type ArchiveOutcome = 'archived' | 'pending' | 'changed' | 'absent';

interface ArchiveAllDeps extends ArchiveDeps {
  readonly log: Log;
  /** Whether all receipts of the month are on invoices: those need them in the database. */
  readonly isInvoiced: (month: Month) => Promise<boolean>;
}

/**
 * Archives the months older than so many whole months, of every table, that are on invoices. After an abort the next run continues there.
 * @returns the first month that is not archived: all before it are
 */
export async function archiveOldMonths(deps: ArchiveAllDeps, keptMonths: number, signal: AbortSignal): Promise<Month> {
  const { pool, log } = deps;
  const oldest = await oldestKept(deps, keptMonths);
  let first = oldest;
  for (const table of MONTHLY_TABLES)
    for (const month of await monthsOf(pool, table)) {
      if (month >= oldest) break;
      const isDue = !signal.aborted && (await deps.isInvoiced(month));
      const outcome = isDue ? await archiveMonth(deps, table, month, signal) : 'not_due';
      log.info({ table: table.name, month, outcome }, 'a month of requests was to be archived');
      if (outcome !== 'archived' && outcome !== 'absent' && month < first) first = month;
    }
  return first;
}

const Time = z.object({ now_ms: z.number(), busy_since: z.date().nullable() });

/**
 * The first month that may not go. No clock is believed alone: of that of the process and that of the database the one that is behind counts, and
 * after the month there have to be days with requests. So a clock that is ahead for some days, of a machine that both share, archives nothing.
 */
export async function oldestKept({ pool, clock, databaseClock }: ArchiveDeps, keptMonths: number): Promise<Month> {
  const time = await checkedRow(
    pool,
    Time,
    `select (extract(epoch from clock_timestamp()) * 1000)::float8 as now_ms, (
       select distinct day from ledger_daily where account in ('revenue', 'test_revenue') order by day desc offset ${DAYS_AFTER - 1} limit 1
     )::timestamp at time zone 'utc' as busy_since`,
  );
  const now = new Date(Math.min(clock.now(), databaseClock?.now() ?? time?.now_ms ?? 0));
  const byClock = monthOf(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - keptMonths, 1));
  const byDays = monthOf(time?.busy_since?.getTime() ?? monthStart('1970-01').getTime());
  return [byClock, byDays].toSorted()[0] ?? byClock;
}

/**
 * Moves the rows of a month to the blob store, as compressed NDJSON in the order of their keys, a piece at a time. A piece is in the index once
 * its bytes were read back; the rows leave the database, all at once, when every one of them is in a piece. After a crash, the next
 * call continues after the last piece.
 */
export async function archiveMonth(deps: ArchiveDeps, table: MonthlyTable, month: Month, signal?: AbortSignal): Promise<ArchiveOutcome> {
  const { pool } = deps;
  if (!(await monthsOf(pool, table)).includes(month) || (await archivedAmong(pool, table, [month])).has(month)) return 'absent';
  if (await isPending(pool, table, month)) return 'pending';
  while (await archivePiece(deps, table, month)) if (signal?.aborted) return 'pending';
  const outcome = await inTransaction(pool, (client) => dropMonth(client, deps.clock, table, month));
  forgetPartitions(pool);
  return outcome;
}

const isPending = async (db: Pick<Pool, 'query'>, table: MonthlyTable, month: Month): Promise<boolean> =>
  ((await db.query(`select from (${table.pending}) as pending limit 1`, keysOf(table, month))).rowCount ?? 0) > 0;

const PieceRow = z.object({
  rows: z.number(),
  first_key: z.string().nullable(),
  last_key: z.string().nullable(),
  accounts: z.string().nullable(),
  started_from: z.date().nullable(),
  started_to: z.date().nullable(),
  log_from: z.bigint().nullable(),
  log_to: z.bigint().nullable(),
  lines: z.string().nullable(),
});

/** @returns whether there was something left to archive */
async function archivePiece({ pool, blobs, pieceRows = PIECE_ROWS }: ArchiveDeps, table: MonthlyTable, month: Month): Promise<boolean> {
  const known = await firstOf(
    pool,
    tables
      .selectFrom('archive_pieces')
      .select(['piece', 'last_key'])
      .where('table_name', '=', table.name)
      .where('month', '=', month)
      .orderBy('piece', 'desc')
      .limit(1),
  );
  const { key, keyType, logIndex } = table;
  const piece = await checkedRow(
    pool,
    PieceRow,
    `with piece as (select * from ${partitionOf(table, month)} where $1::text is null or ${key} > $1::text::${keyType} order by ${key} fetch first ${pieceRows} rows with ties)
     select count(*)::int as rows, min(${key}::text collate "C") as first_key, max(${key}::text collate "C") as last_key,
       array_agg(distinct account_id)::text as accounts, min(started_at) as started_from, max(started_at) as started_to,
       min(${logIndex}) as log_from, max(${logIndex}) as log_to, string_agg(row_to_json(piece)::text, E'\\n' order by ${key}) as lines
     from piece`,
    [known?.last_key ?? null],
  );
  if (!piece || piece.rows === 0) return false;
  const { blobKey, sha256 } = await storePiece(blobs, table, month, `${piece.lines}\n`);
  await pool.query(
    `insert into archive_pieces (table_name, month, piece, first_key, last_key, rows, blob_key, sha256, accounts, started_from, started_to, log_from, log_to)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9::uuid[], $10, $11, $12, $13)`,
    [
      ...[table.name, month, (known?.piece ?? 0) + 1, piece.first_key, piece.last_key, piece.rows, blobKey, sha256],
      ...[piece.accounts, piece.started_from, piece.started_to, piece.log_from, piece.log_to],
    ],
  );
  return true;
}

/** Named by what is in it: who stores the same piece again changes nothing. @throws where other bytes are read back than were stored */
async function storePiece(blobs: BlobStore, table: MonthlyTable, month: Month, text: string): Promise<{ blobKey: string; sha256: string }> {
  const bytes = await compress(text);
  const sha256 = createHash('sha256').update(bytes).digest('hex');
  const blobKey = `${ARCHIVE_PREFIX}/${table.name}/${month}/${sha256}`;
  await blobs.put(blobKey, chunksOf(bytes), { maxBytes: bytes.length });
  const stored = await blobs.get(blobKey);
  const read = stored && (await decompress(Buffer.concat(await stored.stream.toArray())));
  if (read?.equals(Buffer.from(text)) !== true) throw new Error(`The blob ${blobKey} does not hold what was stored in it`);
  return { blobKey, sha256 };
}

const ARCHIVE_PREFIX = 'archive';

async function* chunksOf(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes;
}

const CountedRow = z.object({ there: z.string(), archived: z.string() });

/** The rows are counted under a lock against inserts, then dropped with their partition. */
async function dropMonth(client: PoolClient, clock: Clock, table: MonthlyTable, month: Month): Promise<ArchiveOutcome> {
  const partition = partitionOf(table, month);
  // Writers and readers of the other months wait behind this one, which waits for whoever reads for long: then it is tried again later.
  await client.query(`set local lock_timeout = '500ms'`);
  await client.query(`lock table ${partition} in share mode`);
  const counted = await checkedRow(
    client,
    CountedRow,
    `select (select count(*) from ${partition})::text as there,
       (select coalesce(sum(rows), 0) from archive_pieces where table_name = $1 and month = $2)::text as archived`,
    [table.name, month],
  );
  const { there, archived } = counted ?? { there: '', archived: '' };
  if (there !== archived) {
    await client.query('delete from archive_pieces where table_name = $1 and month = $2', [table.name, month]);
    return 'changed';
  }
  if (await isPending(client, table, month)) return 'pending';
  await client.query('insert into archived_months (table_name, month, rows, archived_at) values ($1, $2, $3, $4)', [
    ...[table.name, month, archived, new Date(clock.now())],
  ]);
  await client.query(`drop table ${partition}`);
  return 'archived';
}
