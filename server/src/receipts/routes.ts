import type { contract } from '@tallygate/contract';
import type { Pool } from 'pg';
import type { Handlers } from '../identity/index.ts';
import { consistencyOf, newestCheckpoint, proofOfReceipt } from './log/read-log.ts';
import { findReceipt } from './read-receipt.ts';
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
