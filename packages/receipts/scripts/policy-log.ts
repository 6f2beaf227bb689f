import { declarationDigest } from '../src/log/declaration.ts';
import { leafHash } from '../src/log/tree.ts';
import type { LogPolicyDeclaration } from '../src/receipt.ts';
import { entryAt, leavesAround } from './vector-log.ts';
import { LOG_ORIGIN } from './vector-receipts.ts';

export const policyWith = (witness_policy: string | null): LogPolicyDeclaration => ({
  ...{ number: 1, previous: null },
  ...{ version: 'tallygate-declaration/v1', kind: 'policy', declared_at: '2026-11-21T08:00:00.000Z', log: LOG_ORIGIN },
  ...{ receipt_version: 'tallygate-receipt/v1', logged_within_s: 300, witness_policy, anchors: [] },
});

/** Of the log around the receipt of the vectors. */
const INDEX = 3;

/** A log that declares these witnesses beside that receipt, and how `GET /v1/log/declarations?kind=policy` answers of it. */
export function policyLog(witness_policy: string | null) {
  const declaration = policyWith(witness_policy);
  const leaves = leavesAround().with(INDEX, leafHash(declarationDigest(declaration)));
  const { checkpoint, inclusion_path, tree_size } = entryAt(leaves, INDEX);
  const digest = Buffer.from(declarationDigest(declaration)).toString('hex');
  const data = [{ index: INDEX, digest, declaration, inclusion_path }];
  const declared = { price: 0, key: 0, key_retired: 0, policy: 1 };
  return { leaves, page: { checkpoint, tree_size, declared, data, has_more: false, next_cursor: null } };
}
