import { createHash } from 'node:crypto';
import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import { type SqlBool, sql } from 'kysely';
import type { Pool } from 'pg';
import type { BlobStore } from '../adapters/blobs/port.ts';
import { type Month, monthOf } from '../kernel/clock.ts';
import { RecentMap } from '../kernel/recent-map.ts';
import { anyOf, firstOf, ifGiven, prepared, type RowOf, rowsOf } from '../kernel/statements.ts';
import type { ArchivePiece } from './entities.ts';
import type { MonthlyTable } from './monthly-tables.ts';
import { tables } from './tables.ts';

const decompress = promisify(gunzip);
/** A cache of pieces: a client that pages through a month reads the same one again. */
const PIECES_KEPT = 4;

const PIECE = ['month', 'blob_key', 'sha256', 'started_from', 'started_to', 'log_from', 'log_to'] as const;
/** A piece of an archived table, as its index has it: of the requests in it; of receipts also their places in the log. */
export type ArchivedPiece = Readonly<Pick<RowOf<typeof ArchivePiece>, (typeof PIECE)[number]>>;

/** Of an account's requests, those that started from one moment on and until another. */
export interface ArchivedSpan {
  readonly accountId: string;
  readonly from?: Date | undefined;
  readonly to?: Date | undefined;
}

/** The archive does not have what was archived. */
export class DamagedArchive extends Error {}

/** Reads what has left the database. Rows come as a JSON array that `json_populate_recordset` makes rows of the table of again. */
export class Archive {
  readonly #pool: Pool;
  readonly #blobs: BlobStore;
  readonly #lines = new RecentMap<string, readonly string[]>(PIECES_KEPT);

  constructor(pool: Pool, blobs: BlobStore) {
    this.#pool = pool;
    this.#blobs = blobs;
  }

  /** Of these keys, the rows of those whose month has left the database. @throws DamagedArchive */
  async rowsAmong(table: MonthlyTable, keys: readonly string[]): Promise<string[]> {
    const months = new Map(keys.map((key) => [key, monthOfKey(table, key)]));
    const known = [...new Set(months.values())].filter((month) => month !== undefined);
    const archived = await archivedAmong(this.#pool, table, known);
    const rows: string[] = [];
    for (const [key, month] of months) {
      const found = month !== undefined && archived.has(month) ? await this.find(table, key) : undefined;
      if (found !== undefined) rows.push(found);
    }
    return rows;
  }

  /** The rows with a key; undefined where none is archived. @throws DamagedArchive */
  async find(table: MonthlyTable, key: string): Promise<string | undefined> {
    const wanted = key.toLowerCase();
    const month = monthOfKey(table, wanted);
    if (month === undefined) return undefined;
    const piece = await firstOf(
      this.#pool,
      tables
        .selectFrom('archive_pieces')
        .select(PIECE)
        .where('table_name', '=', table.name)
        .where('month', '=', month)
        .where('first_key', '<=', wanted)
        .where('last_key', '>=', wanted),
    );
    return piece && this.rows(piece, { name: table.key, value: wanted });
  }

  /** How many pieces there are of a table: another number, and a month has been archived or restored meanwhile. */
  async countPieces(table: MonthlyTable): Promise<number> {
    const counting = tables
      .selectFrom('archive_pieces')
      .select((eb) => eb.fn.countAll<string>().as('pieces'))
      .where('table_name', '=', table.name);
    return Number((await firstOf(this.#pool, counting))?.pieces);
  }

  /** The pieces of the months that have left the database, with requests of an account in them; those with the newest first. */
  async pieces(table: MonthlyTable, { accountId, from, to }: ArchivedSpan): Promise<ArchivedPiece[]> {
    return rowsOf(
      this.#pool,
      tables
        .selectFrom('archive_pieces as p')
        .innerJoin('archived_months as m', (join) => join.onRef('m.table_name', '=', 'p.table_name').onRef('m.month', '=', 'p.month'))
        .select(['p.month', 'blob_key', 'sha256', 'started_from', 'started_to', 'log_from', 'log_to'])
        .where('p.table_name', '=', table.name)
        .where(sql<SqlBool>`${accountId} = any(accounts)`)
        .where((eb) => ifGiven(from, (time) => eb('started_to', '>=', time)))
        .where((eb) => ifGiven(to, (time) => eb('started_from', '<=', time)))
        .orderBy('started_to', 'desc')
        .orderBy('piece', 'desc'),
    );
  }

  /** Rows with keys from one on and before another, of the months that have left the database, a piece at a time. @throws DamagedArchive */
  async *rowsBetween(table: MonthlyTable, from: string, to: string): AsyncGenerator<string, void, undefined> {
    const pieces = await rowsOf(
      this.#pool,
      tables
        .selectFrom('archive_pieces as p')
        .innerJoin('archived_months as m', (join) => join.onRef('m.table_name', '=', 'p.table_name').onRef('m.month', '=', 'p.month'))
        .select(['p.month', 'blob_key', 'sha256', 'started_from', 'started_to', 'log_from', 'log_to'])
        .where('p.table_name', '=', table.name)
        .where('last_key', '>=', from)
        .where('first_key', '<', to)
        .orderBy('first_key'),
    );
    for (const piece of pieces) {
      const lines = (await this.#linesOf(piece)).filter((line) => {
        const key: unknown = JSON.parse(line)[table.key];
        return typeof key === 'string' && key >= from && key < to;
      });
      if (lines.length > 0) yield `[${lines.join()}]`;
    }
  }

  /** The pieces of receipts with places in the log from one on and before another, in its order. */
  async piecesOfLog(start: number, end: number): Promise<ArchivedPiece[]> {
    return rowsOf(
      this.#pool,
      tables
        .selectFrom('archive_pieces')
        .select(PIECE)
        .where('log_from', '<', BigInt(end))
        .where('log_to', '>=', BigInt(start))
        .orderBy('log_from'),
    );
  }

  /**
   * The rows of a piece; undefined where none has the value in the column. @throws where the bytes are not those that were archived
   */
  async rows(piece: ArchivedPiece, column?: { readonly name: string; readonly value: string }): Promise<string | undefined> {
    const lines = await this.#linesOf(piece);
    const wanted = column && `"${column.name}":${JSON.stringify(column.value)}`;
    const found = wanted === undefined ? lines : lines.filter((line) => line.includes(wanted));
    return found.length === 0 ? undefined : `[${found.join()}]`;
  }

  async #linesOf({ blob_key: blobKey, sha256 }: ArchivedPiece): Promise<readonly string[]> {
    const known = this.#lines.get(blobKey);
    if (known) return known;
    const stored = await this.#blobs.get(blobKey);
    const bytes = stored && Buffer.concat(await stored.stream.toArray());
    if (!bytes || createHash('sha256').update(bytes).digest('hex') !== sha256)
      throw new DamagedArchive(`The blob ${blobKey} ${bytes ? 'is not what was archived' : 'of the archive is missing'}`);
    const lines = (await decompress(bytes)).toString().trimEnd().split('\n');
    this.#lines.set(blobKey, lines);
    return lines;
  }
}

/** The months of every table that have left the database, the oldest first. */
export async function archivedMonths(pool: Pool) {
  return rowsOf(
    pool,
    tables
      .selectFrom('archived_months as m')
      .leftJoin('archive_pieces as p', (join) => join.onRef('m.table_name', '=', 'p.table_name').onRef('m.month', '=', 'p.month'))
      .select(['m.table_name as table', 'm.month', 'm.archived_at as archivedAt'])
      .select([sql<string>`m.rows::text`.as('rows'), sql<string>`count(piece)::text`.as('pieces')])
      .groupBy(['m.table_name', 'm.month', 'm.rows', 'm.archived_at'])
      .orderBy('m.month')
      .orderBy('m.table_name'),
  );
}

/** Which of these months have left the database. */
export async function archivedAmong(pool: Pool, { name }: MonthlyTable, months: readonly Month[]): Promise<ReadonlySet<Month>> {
  if (months.length === 0) return new Set();
  const rows = await rowsOf(
    prepared(pool, 'archived among'),
    tables.selectFrom('archived_months').select('month').where('table_name', '=', name).where('month', '=', anyOf(months)),
  );
  return new Set(rows.map(({ month }) => month));
}

/** Whether a key is of a month that has left the database. */
export async function isOfArchivedMonth(pool: Pool, table: MonthlyTable, key: string): Promise<boolean> {
  const month = monthOfKey(table, key);
  return month !== undefined && (await archivedAmong(pool, table, [month])).has(month);
}

function monthOfKey(table: MonthlyTable, key: string): Month | undefined {
  try {
    return monthOf(table.timeOf(key));
  } catch (error) {
    // What is no key of the table, such as the id that a caller gave a request, is in no month.
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}
