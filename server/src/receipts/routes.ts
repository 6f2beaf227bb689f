import type { contract, ReceiptResponse, VaasKeySet } from '@tallygate/contract';
import type { Handlers, Principal, SeenBy } from '../http/index.ts';
import { findAnchor, listAnchors } from './anchors/read-anchors.ts';
import { withAnchors } from './anchors/receipt-anchor.ts';
import { listReceipts, type ReceiptScope } from './list-receipts.ts';
import { listDeclarations } from './log/declarations.ts';
import { consistencyOf, newestCheckpoint, proofOfReceipt } from './log/read-log.ts';
import { findReceipt, type ReadDeps } from './read-receipt.ts';
import { listTimestamps, timestampOfReceipt } from './timestamps/read-timestamps.ts';

interface ReceiptRouteDeps extends ReadDeps {
  readonly keySet: () => Promise<VaasKeySet>;
  /** Whether what has no anchor yet is waiting for one. */
  readonly isAnchoring?: boolean;
  readonly requirePlan: RequirePlan;
  readonly seenBy: SeenBy;
}

/** Refuses the receipts of an account whose plan does not include them. */
export type RequirePlan = (scope: ReceiptScope) => Promise<void>;

export const receiptRoutes = ({
  pool,
  archive,
  key,
  keySet,
  requirePlan,
  seenBy,
  isAnchoring = false,
}: ReceiptRouteDeps): Handlers<typeof contract.receipts> => ({
  listReceipts: async ({ principal, query: { livemode, ...wanted } }) => {
    const scope = { ...scopeOf(principal, livemode), seen: await seenBy(principal) };
    await requirePlan(scope);
    return { status: 200, body: await listReceipts(pool, archive, scope, wanted) };
  },
  getReceipt: async ({ params }) => ({ status: 200, body: await anchoredReceipt({ pool, archive, key }, params.receipt_id, isAnchoring) }),
  getReceiptProof: async ({ params }) => ({ status: 200, body: await proofOfReceipt(pool, archive, params.receipt_id) }),
  getCheckpoint: async ({ query: { witnesses } }) => ({ status: 200, body: (await newestCheckpoint(pool, witnesses)).note }),
  getConsistency: async ({ query: { from, to } }) => ({
    status: 200,
    body: {
      object: 'log.consistency',
      from,
      to,
      path: (await consistencyOf(pool, from, to)).map((hash) => Buffer.from(hash).toString('base64')),
    },
  }),
  listDeclarations: async ({ query }) => ({ status: 200, body: await listDeclarations(pool, query) }),
  getKeys: async () => ({ status: 200, body: await keySet() }),
});

/** @throws Problem `not_found` */
async function anchoredReceipt(deps: ReadDeps, receiptId: string, isAnchoring: boolean): Promise<ReceiptResponse> {
  const receipt = await findReceipt(deps, receiptId);
  const [anchored = receipt] = await withAnchors(deps.pool, [receipt], isAnchoring);
  return anchored;
}

export const anchorRoutes = ({ pool, archive }: Pick<ReadDeps, 'pool' | 'archive'>): Handlers<typeof contract.anchors> => ({
  listAnchors: async ({ query }) => ({ status: 200, body: await listAnchors(pool, query) }),
  getAnchor: async ({ params }) => ({ status: 200, body: await findAnchor(pool, params.anchor_id) }),
  listTimestamps: async ({ query }) => ({ status: 200, body: await listTimestamps(pool, query) }),
  getReceiptTimestamp: async ({ params }) => ({ status: 200, body: await timestampOfReceipt(pool, archive, params.receipt_id) }),
});

/** @param livemode as asked for; otherwise the mode of the key, and live for sessions */
export const scopeOf = (principal: Principal, livemode: boolean | undefined): ReceiptScope => ({
  accountId: principal.accountId,
  livemode: livemode ?? (principal.kind === 'session' || principal.livemode),
});
