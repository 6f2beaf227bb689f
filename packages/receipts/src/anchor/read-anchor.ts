import { isPlainObject } from '../canonical.ts';
import type { ReceiptAnchor } from '../receipt.ts';
import { Refused } from '../refusal.ts';
import { count, matching, nullable, object, oneOf, type Shape, string, timestamp } from '../shape.ts';

/** An anchor that the service has sent to a chain. */
export type MadeAnchor = Extract<ReceiptAnchor, { index: number }>;

const STATES = ['submitted', 'included', 'finalized'] as const;
/** The path of a leaf in a tree of 2^53 leaves. */
const LONGEST_PATH = 53;

const bytes32 = matching(/^0x[0-9a-f]{64}$/, '0x and 64 lower-case hex digits');

const path: Shape<string[]> = (value, at) => {
  if (!Array.isArray(value) || value.length > LONGEST_PATH)
    throw new Refused(at.code, `${at.path} must be a list of at most ${LONGEST_PATH} hashes.`);
  return value.map((hash: unknown, index) => bytes32(hash, { ...at, path: `${at.path}[${index}]` }));
};

const made = object<MadeAnchor>({
  state: oneOf(...STATES),
  id: string,
  chain_id: count,
  contract: matching(/^0x[0-9a-fA-F]{40}$/, '0x and 40 hex digits'),
  tree_size: count,
  root: bytes32,
  transaction_hash: nullable(bytes32),
  block_number: nullable(count),
  block_time: nullable(timestamp),
  index: count,
  path,
});

/** Where a receipt says that it can be found on a chain; undefined where it says that it cannot yet, `unknown` in words of a later version. */
export function readAnchor(value: unknown): MadeAnchor | 'unknown' | undefined {
  if (value === null || (isPlainObject(value) && value['state'] === 'pending')) return undefined;
  if (!isPlainObject(value) || !STATES.some((known) => known === value['state'])) return 'unknown';
  return made(value, { path: 'receipt.anchor', code: 'malformed_anchor' });
}
