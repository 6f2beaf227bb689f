import type { Pool } from 'pg';
import { anyOf, rowsOf } from '../../kernel/statements.ts';
import { tables } from './tables.ts';

/**
 * Which of these receipts the ledger has a settlement of. For whoever takes a hold anew after a restart: what was settled is in the
 * ledger by then, since the journal is drained before anything is held.
 */
export async function settledAmong(pool: Pool, receiptIds: readonly string[]): Promise<ReadonlySet<string>> {
  const rows = await rowsOf(pool, tables.selectFrom('receipts').select('receipt_id').where('receipt_id', '=', anyOf(receiptIds)));
  return new Set(rows.map(({ receipt_id }) => receipt_id));
}

/** Whether the ledger has a settlement of the request, under that receipt where one is given. */
export async function isSettled(pool: Pool, requestId: string, receiptId?: string): Promise<boolean> {
  const { rows } = await pool.query('select from usage_records where request_id = $1 and ($2::uuid is null or receipt_id = $2) limit 1', [
    requestId,
    receiptId ?? null,
  ]);
  return rows.length > 0;
}
