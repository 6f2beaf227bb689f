import type { Pool, QueryResultRow } from 'pg';
import type { Archive } from '../../archive/index.ts';
import { archivedReceipts } from '../stored-receipt.ts';

/** Entries from one place in the log on, before another. */
export interface Entries {
  readonly start: number;
  readonly end: number;
}

/** Receipts by their places in the log, from the database and from the archive. @param columns SQL, with `log_index` */
export async function receiptsAt<Row extends QueryResultRow & { readonly log_index: bigint }>(
  { pool, archive }: { readonly pool: Pool; readonly archive: Archive },
  { start, end }: Entries,
  columns: string,
): Promise<Map<number, Row>> {
  const read = (source: string, ...more: string[]) =>
    pool.query<Row>(`select ${columns} from ${source} where log_index >= $1 and log_index < $2`, [start, end, ...more]);
  const { rows } = await read('receipts');
  const found = new Map(rows.map((row) => [Number(row.log_index), row]));
  // A month that is being archived is still in the database as well.
  if (found.size === end - start) return found;
  for (const piece of await archive.piecesOfLog(start, end)) {
    const json = await archive.rows(piece);
    if (json === undefined) continue;
    for (const row of (await read(archivedReceipts('$3'), json)).rows) found.set(Number(row.log_index), row);
  }
  return found;
}
