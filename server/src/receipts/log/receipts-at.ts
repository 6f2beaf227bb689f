import type { Compilable } from 'kysely';
import type { Pool } from 'pg';
import type { Archive } from '../../archive/index.ts';
import { rowsOf } from '../../kernel/statements.ts';
import { type Receipts, receiptsIn } from '../stored-receipt.ts';

/** Entries from one place in the log on, before another. */
export interface Entries {
  readonly start: number;
  readonly end: number;
}

/**
 * Receipts by their places in the log, from the database and from the archive.
 *
 * @param select columns of them, with `log_index`
 * @param others how many of these entries are no receipts
 */
export async function receiptsAt<Found extends { readonly log_index: bigint | null }>(
  { pool, archive }: { readonly pool: Pool; readonly archive: Archive },
  { start, end }: Entries,
  select: (placed: Receipts) => Compilable<Found>,
  others: number,
): Promise<Map<number, Found>> {
  const read = (archived?: string) =>
    rowsOf(pool, select(receiptsIn(archived).where('log_index', '>=', BigInt(start)).where('log_index', '<', BigInt(end))));
  const found = new Map((await read()).map((row) => [Number(row.log_index), row]));
  // A month that is being archived is still in the database as well.
  if (found.size === end - start - others) return found;
  for (const piece of await archive.piecesOfLog(start, end)) {
    const json = await archive.rows(piece);
    if (json === undefined) continue;
    for (const row of await read(json)) found.set(Number(row.log_index), row);
  }
  return found;
}
