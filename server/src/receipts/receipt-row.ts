import type { ReceiptLog, ReceiptPayload, ReceiptResponse } from '@tallygate/contract';
import { inclusionRanges, nodesOf, rangeHash } from '@tallygate/receipts';
import type { Pool } from 'pg';
import type { SignedState } from './log/read-log.ts';
import { nameOf, readNodes, sha256 } from './log/stored-tree.ts';
import type { ReceiptRow } from './stored-receipt.ts';

/** Receipts with their proofs against one state of the log, whose nodes are read in one query. What came after that state is pending. */
export async function provenReceipts(pool: Pool, rows: readonly ReceiptRow[], state: SignedState | undefined): Promise<ReceiptResponse[]> {
  const size = state?.size ?? 0;
  const ranges = rows.map(({ log_index: index }) => (index === null || index >= size ? [] : inclusionRanges(Number(index), size)));
  const nodes = new Map(
    ranges
      .flat()
      .flatMap(nodesOf)
      .map((node) => [nameOf(node), node]),
  );
  const hashOf = await readNodes(pool, [...nodes.values()]);
  return rows.map((row, at) => {
    const { log_index: index } = row;
    if (index === null || !state || index >= size) return receiptToWire(row, { state: 'pending' });
    const path = (ranges[at] ?? []).map((range) => Buffer.from(rangeHash(range, hashOf, sha256)).toString('base64'));
    return receiptToWire(row, { state: 'logged', index: Number(index), tree_size: size, inclusion_path: path, checkpoint: state.note });
  });
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
