import { createHash } from 'node:crypto';
import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import type { Pool } from 'pg';
import type { BlobStore } from '../adapters/blobs/port.ts';
import { type Month, monthOf } from '../kernel/clock.ts';
import { RecentMap } from '../kernel/recent-map.ts';
import type { MonthlyTable } from './monthly-tables.ts';

const decompress = promisify(gunzip);
/** Pieces that are kept in memory: who pages through a month asks for the same one again. */
const PIECES_KEPT = 4;

/** A piece of an archived table, as its index has it. */
export interface ArchivedPiece {
  readonly month: Month;
  readonly blob_key: string;
  readonly sha256: string;
  /** Of the requests in it. */
  readonly started_from: Date;
  readonly started_to: Date;
  /** Of receipts: their places in the log. */
  readonly log_from: bigint | null;
  readonly log_to: bigint | null;
}

const PIECE = 'month, blob_key, sha256, started_from, started_to, log_from, log_to';

/** Of an account's requests, those that started from one moment on and until another. */
export interface ArchivedSpan {
  readonly accountId: string;
  readonly from?: Date | undefined;
  readonly to?: Date | undefined;
}

/** Reads what has left the database. Rows come as a JSON array that `json_populate_recordset` makes rows of the table of again. */
export class Archive {
  readonly #pool: Pool;
  readonly #blobs: BlobStore;
  readonly #lines = new RecentMap<string, readonly string[]>(PIECES_KEPT);

  constructor(pool: Pool, blobs: BlobStore) {
    this.#pool = pool;
    this.#blobs = blobs;
  }

  /** The rows with a key; undefined where none is archived. */
  async find(table: MonthlyTable, key: string): Promise<string | undefined> {
    const wanted = key.toLowerCase();
    const month = monthOfKey(table, wanted);
    if (month === undefined) return undefined;
    const { rows } = await this.#pool.query<ArchivedPiece>(
      `select ${PIECE} from archive_pieces where table_name = $1 and month = $2 and first_key <= $3 and last_key >= $3`,
      [table.name, month, wanted],
    );
    const [piece] = rows;
    return piece && this.rows(piece, { name: table.key, value: wanted });
  }

  /** The pieces of the months that have left the database, with requests of an account in them; those with the newest first. */
  async pieces(table: MonthlyTable, { accountId, from, to }: ArchivedSpan): Promise<ArchivedPiece[]> {
    const { rows } = await this.#pool.query<ArchivedPiece>(
      `select ${PIECE} from archive_pieces join archived_months using (table_name, month)
        where table_name = $1 and $2 = any(accounts) and ($3::timestamptz is null or started_to >= $3) and ($4::timestamptz is null or started_from <= $4)
        order by started_to desc, piece desc`,
      [table.name, accountId, from ?? null, to ?? null],
    );
    return rows;
  }

  /** The pieces of receipts with places in the log from one on and before another, in its order. */
  async piecesOfLog(start: number, end: number): Promise<ArchivedPiece[]> {
    const { rows } = await this.#pool.query<ArchivedPiece>(
      `select ${PIECE} from archive_pieces where log_from < $2 and log_to >= $1 order by log_from`,
      [start, end],
    );
    return rows;
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
      throw new Error(`The blob ${blobKey} ${bytes ? 'is not what was archived' : 'of the archive is missing'}`);
    const lines = (await decompress(bytes)).toString().trimEnd().split('\n');
    this.#lines.set(blobKey, lines);
    return lines;
  }
}

/** The months of every table that have left the database, the oldest first. */
export async function archivedMonths(pool: Pool) {
  const { rows } = await pool.query<{ table: string; month: Month; rows: string; pieces: string; archivedAt: Date }>(
    `select table_name as table, month, m.rows::text as rows, count(piece)::text as pieces, archived_at as "archivedAt"
       from archived_months m left join archive_pieces using (table_name, month) group by 1, 2, 3, 5 order by month, table_name`,
  );
  return rows;
}

/** Whether a key is of a month that has left the database. */
export async function isOfArchivedMonth(pool: Pool, table: MonthlyTable, key: string): Promise<boolean> {
  const month = monthOfKey(table, key);
  if (month === undefined) return false;
  const { rowCount } = await pool.query('select from archived_months where table_name = $1 and month = $2', [table.name, month]);
  return rowCount !== 0;
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
