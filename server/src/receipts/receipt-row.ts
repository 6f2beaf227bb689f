import type { ReceiptLog, ReceiptPayload, ReceiptResponse } from '@tallygate/contract';
import { inclusionRanges, nodesOf, rangeHash } from '@tallygate/receipts';
import type { Pool } from 'pg';
import type { SignedState } from './log/read-log.ts';
import { nameOf, readNodes, sha256 } from './log/stored-tree.ts';
import { signReceipt } from './sign-receipt.ts';
import type { SigningKey } from './signing-keys.ts';
import type { ReceiptRow } from './stored-receipt.ts';

/**
 * Receipts, signed now, with their proofs against one state of the log, whose nodes are read in one query. What came after that state is pending.
 *
 * @param key the one in force
 */
export async function provenReceipts(
  { pool, key }: { readonly pool: Pool; readonly key: SigningKey },
  rows: readonly ReceiptRow[],
  state: SignedState | undefined,
): Promise<ReceiptResponse[]> {
  const size = state?.size ?? 0;
  const ranges = rows.map(({ log_index: index }) => (index === null || index >= size ? [] : inclusionRanges(Number(index), size)));
  const nodes = new Map(
    ranges
      .flat()
      .flatMap(nodesOf)
      .map((node) => [nameOf(node), node]),
  );
  const hashOf = await readNodes(pool, [...nodes.values()]);
  const logOf = ({ log_index: index }: ReceiptRow, at: number): ReceiptLog => {
    if (index === null || !state || index >= size) return { state: 'pending' };
    const path = (ranges[at] ?? []).map((range) => Buffer.from(rangeHash(range, hashOf, sha256)).toString('base64'));
    return { state: 'logged', index: Number(index), tree_size: size, inclusion_path: path, checkpoint: state.note };
  };
  return Promise.all(
    rows.map(async (row, at) => ({
      object: 'receipt' as const,
      id: row.receipt_id,
      payload: JSON.parse(row.payload) as ReceiptPayload,
      digest: row.digest.toString('hex'),
      jws: await signReceipt(row.payload, key),
      log: logOf(row, at),
      anchor: null,
    })),
  );
}
