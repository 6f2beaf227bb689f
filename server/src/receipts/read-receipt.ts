import type { ReceiptResponse } from '@tallygate/contract';
import type { Pool } from 'pg';
import { Problem } from '../kernel/problem.ts';
import { provingState } from './log/read-log.ts';
import { provenReceipts, RECEIPT_COLUMNS, type ReceiptRow } from './receipt-row.ts';

/** With its proof against the newest checkpoint. @throws Problem `not_found` */
export async function findReceipt(pool: Pool, receiptId: string): Promise<ReceiptResponse> {
  const { rows } = await pool.query<ReceiptRow>(`select ${RECEIPT_COLUMNS} from receipts where receipt_id = $1`, [receiptId]);
  // Read after the receipt, so that it is a state that has it.
  const index = rows[0]?.log_index ?? null;
  const state = index === null ? undefined : await provingState(pool, Number(index));
  const [receipt] = await provenReceipts(pool, rows, state);
  if (!receipt) throw new Problem('not_found', 'There is no receipt with this id; a receipt appears a moment after its answer has ended.');
  return receipt;
}
