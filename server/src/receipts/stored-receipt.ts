import { type SqlBool, sql } from 'kysely';
import type { Pool } from 'pg';
import { type Archive, RECEIPTS } from '../archive/index.ts';
import { firstOf, type RowOf } from '../kernel/statements.ts';
import type { Receipt } from './entities.ts';
import { UNPACKED_COLUMNS } from './packed-receipt.ts';
import { tables } from './tables.ts';

type Row = Readonly<RowOf<typeof Receipt>>;

export const RECEIPT_COLUMNS = [...UNPACKED_COLUMNS, 'digest', 'log_index'] as const;
/** A receipt as it is stored. */
export type ReceiptRow = Pick<Row, (typeof RECEIPT_COLUMNS)[number]>;

/** Receipts in the database; or those of a piece of the archive, as rows of the table. @param archived JSON */
export const receiptsIn = (archived?: string) =>
  tables.selectFrom(
    archived === undefined
      ? sql<Row>`receipts`.as('receipts')
      : sql<Row>`json_populate_recordset(null::receipts, ${archived})`.as('receipts'),
  );
export type Receipts = ReturnType<typeof receiptsIn>;

/** What comes behind a receipt in the order of the requests' starts. */
export const afterReceipt = (id: string) =>
  sql<SqlBool>`(started_at, receipt_id) > ((select started_at from receipts where receipt_id = ${id}), ${id}::uuid)`;

/** A receipt by its id, from the database or from the archive. */
export async function storedReceipt(pool: Pool, archive: Archive, receiptId: string): Promise<ReceiptRow | undefined> {
  const read = (archived?: string) => receiptsIn(archived).select(RECEIPT_COLUMNS);
  const live = await firstOf(pool, read().where('receipt_id', '=', receiptId));
  if (live) return live;
  const archived = await archive.find(RECEIPTS, receiptId);
  return archived === undefined ? undefined : firstOf(pool, read(archived));
}
