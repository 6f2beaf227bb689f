import type { Pool } from 'pg';
import { type Archive, RECEIPTS } from '../archive/index.ts';

/** A receipt as it is stored. */
export interface ReceiptRow {
  readonly receipt_id: string;
  readonly payload: string;
  readonly digest: Buffer;
  readonly log_index: bigint | null;
}

export const RECEIPT_COLUMNS = 'receipt_id, payload, digest, log_index';

export interface StoredReceipt extends ReceiptRow {
  readonly account_id: string;
  readonly livemode: boolean | null;
  readonly started_at: Date;
}

/** SQL: the receipts of a piece of the archive, as rows of the table. */
export const archivedReceipts = (json: string): string => `json_populate_recordset(null::receipts, ${json}) as receipts`;

/** A receipt by its id, from the database or from the archive. */
export async function storedReceipt(pool: Pool, archive: Archive, receiptId: string): Promise<StoredReceipt | undefined> {
  const columns = `${RECEIPT_COLUMNS}, account_id, livemode, started_at`;
  const live = await pool.query<StoredReceipt>(`select ${columns} from receipts where receipt_id = $1`, [receiptId]);
  if (live.rows[0]) return live.rows[0];
  const archived = await archive.find(RECEIPTS, receiptId);
  if (archived === undefined) return undefined;
  const { rows } = await pool.query<StoredReceipt>(`select ${columns} from ${archivedReceipts('$1')}`, [archived]);
  return rows[0];
}
