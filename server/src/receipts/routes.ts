import type { contract, ReceiptPayload, ReceiptResponse } from '@tallygate/contract';
import type { Pool } from 'pg';
import type { Handlers } from '../identity/index.ts';
import { Problem } from '../kernel/problem.ts';
import { consistencyOf, newestCheckpoint, proofOfReceipt } from './log/read-log.ts';
import { publishedKeys } from './signing-keys.ts';

export const receiptRoutes = (pool: Pool): Handlers<typeof contract.receipts> => ({
  getReceipt: async ({ params }) => ({ status: 200, body: await findReceipt(pool, params.receipt_id) }),
  getReceiptProof: async ({ params }) => ({ status: 200, body: await proofOfReceipt(pool, params.receipt_id) }),
  getCheckpoint: async () => ({ status: 200, body: (await newestCheckpoint(pool)).note }),
  getConsistency: async ({ query: { from, to } }) => ({
    status: 200,
    body: {
      object: 'log.consistency',
      from,
      to,
      path: (await consistencyOf(pool, from, to)).map((hash) => Buffer.from(hash).toString('base64')),
    },
  }),
  getKeys: async () => ({ status: 200, body: await publishedKeys(pool) }),
});

async function findReceipt(pool: Pool, receiptId: string): Promise<ReceiptResponse> {
  const { rows } = await pool.query<{ payload: string; digest: Buffer; kid: string; signature: Buffer }>(
    'select payload, digest, kid, signature from receipts where receipt_id = $1',
    [receiptId],
  );
  const [row] = rows;
  if (!row) throw new Problem('not_found', 'There is no receipt with this id; a receipt appears a moment after its answer has ended.');
  return {
    object: 'receipt',
    id: receiptId,
    payload: JSON.parse(row.payload) as ReceiptPayload,
    digest: row.digest.toString('hex'),
    signature: { alg: 'Ed25519', kid: row.kid, value: row.signature.toString('base64url') },
    log: null,
    anchor: null,
  };
}
