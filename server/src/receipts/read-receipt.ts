import type { ReceiptLog, ReceiptPayload, ReceiptResponse } from '@tallygate/contract';
import { inclusionRanges } from '@tallygate/receipts';
import type { Pool } from 'pg';
import { Problem } from '../kernel/problem.ts';
import { newestCheckpoint } from './log/read-log.ts';
import { readRanges } from './log/stored-tree.ts';

interface ReceiptRow {
  readonly receipt_id: string;
  readonly payload: string;
  readonly digest: Buffer;
  readonly kid: string;
  readonly signature: Buffer;
  readonly log_index: bigint | null;
}

/** With its proof against the newest checkpoint. @throws Problem `not_found` */
export async function findReceipt(pool: Pool, receiptId: string): Promise<ReceiptResponse> {
  const { rows } = await pool.query<ReceiptRow>(
    'select receipt_id, payload, digest, kid, signature, log_index from receipts where receipt_id = $1',
    [receiptId],
  );
  const [row] = rows;
  if (!row) throw new Problem('not_found', 'There is no receipt with this id; a receipt appears a moment after its answer has ended.');
  return receiptToWire(row, row.log_index === null ? { state: 'pending' } : await logEntryOf(pool, Number(row.log_index)));
}

/** The checkpoint is read after the index, so it is of a state that has the entry. */
async function logEntryOf(pool: Pool, index: number): Promise<ReceiptLog> {
  const { size, note } = await newestCheckpoint(pool);
  const path = await readRanges(pool, inclusionRanges(index, size));
  return {
    state: 'logged',
    index,
    tree_size: size,
    inclusion_path: path.map((hash) => Buffer.from(hash).toString('base64')),
    checkpoint: note,
  };
}

const receiptToWire = ({ receipt_id: id, payload, digest, kid, signature }: ReceiptRow, log: ReceiptLog): ReceiptResponse => ({
  object: 'receipt',
  id,
  payload: JSON.parse(payload) as ReceiptPayload,
  digest: digest.toString('hex'),
  signature: { alg: 'Ed25519', kid, value: signature.toString('base64url') },
  log,
  anchor: null,
});
