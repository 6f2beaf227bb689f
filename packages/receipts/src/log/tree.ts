import { sha256 } from '../sha256.ts';

/**
 * The Merkle tree of RFC 9162, section 2.1: SHA-256, leaves and nodes kept apart by a prefix, split at the largest power of two below the
 * size. Positions follow from index and size alone; no last leaf is ever doubled. Sizes are integers up to 2^53 − 1.
 */

const LEAF = 0x00;
const NODE = 0x01;
export const HASH_BYTES = 32;

/** SHA-256; who has a faster one than this package may give it. */
export type Hash = (message: Uint8Array) => Uint8Array;

/** The root of a log without entries: SHA-256 of nothing. */
export const emptyRoot = (hash: Hash = sha256): Uint8Array => hash(new Uint8Array());

export const leafHash = (entry: Uint8Array, hash: Hash = sha256): Uint8Array => hash(prefixed(LEAF, entry));

export const nodeHash = (left: Uint8Array, right: Uint8Array, hash: Hash = sha256): Uint8Array => hash(prefixed(NODE, left, right));

function prefixed(prefix: number, ...parts: readonly Uint8Array[]): Uint8Array {
  const bytes = new Uint8Array(1 + parts.reduce((sum, { length }) => sum + length, 0));
  bytes[0] = prefix;
  let at = 1;
  for (const part of parts) {
    bytes.set(part, at);
    at += part.length;
  }
  return bytes;
}

/** A subtree without gaps: the hash over the leaves from `index · 2^level` on, `2^level` of them. It never changes once it is there. */
export interface TreeNode {
  readonly level: number;
  readonly index: number;
}

/** Leaves from `start` up to, not including, `end`. */
export interface LeafRange {
  readonly start: number;
  readonly end: number;
}

/** Whether `value` is a size or an index. */
export const isSize = (value: number): boolean => Number.isSafeInteger(value) && value >= 0;

/** The largest power of two below `size`, which is at least 2. */
function splitOf(size: number): number {
  let split = 1;
  while (split * 2 < size) split *= 2;
  return split;
}

/**
 * The nodes whose hashes make the hash of a range, the largest first. The range has to be one that the tree's splits make, as those of proofs
 * are: it begins at a multiple of the largest power of two that it holds.
 */
export function nodesOf({ start, end }: LeafRange): TreeNode[] {
  const nodes: TreeNode[] = [];
  for (let at = start; at < end; ) {
    let level = 0;
    while (2 ** (level + 1) <= end - at) level += 1;
    nodes.push({ level, index: at / 2 ** level });
    at += 2 ** level;
  }
  return nodes;
}

/** The hash of a range, from those of its nodes. */
export function rangeHash(range: LeafRange, hashOf: (node: TreeNode) => Uint8Array, hash: Hash = sha256): Uint8Array {
  const hashes = nodesOf(range).map(hashOf);
  return hashes.length === 0 ? emptyRoot(hash) : hashes.reduceRight((right, left) => nodeHash(left, right, hash));
}

/** The nodes that a new leaf completes, from itself upwards; `left` reads the one beside each. */
export function completedBy(
  leaf: { readonly index: number; readonly hash: Uint8Array },
  left: (node: TreeNode) => Uint8Array,
  hash: Hash = sha256,
): (TreeNode & { readonly hash: Uint8Array })[] {
  const completed = [{ level: 0, ...leaf }];
  let { index, hash: right } = leaf;
  for (let level = 0; index % 2 === 1; level += 1) {
    right = nodeHash(left({ level, index: index - 1 }), right, hash);
    index = (index - 1) / 2;
    completed.push({ level: level + 1, index, hash: right });
  }
  return completed;
}

/** The ranges whose hashes are the audit path of a leaf, from the leaf upwards (RFC 9162, section 2.1.3.1). */
export function inclusionRanges(index: number, size: number): LeafRange[] {
  const path: LeafRange[] = [];
  let [start, end] = [0, size];
  while (end - start > 1) {
    const middle = start + splitOf(end - start);
    if (index < middle) {
      path.push({ start: middle, end });
      end = middle;
    } else {
      path.push({ start, end: middle });
      start = middle;
    }
  }
  return path.reverse();
}

/** The ranges whose hashes prove that the tree of `oldSize` is the beginning of that of `newSize` (RFC 9162, section 2.1.4.1). */
export function consistencyRanges(oldSize: number, newSize: number): LeafRange[] {
  if (oldSize === 0 || oldSize === newSize) return [];
  const path: LeafRange[] = [];
  let [start, end] = [0, newSize];
  // As long as the old tree is one whole subtree of what is left, whoever checks has its root already.
  let isKnown = true;
  while (oldSize < end) {
    const middle = start + splitOf(end - start);
    if (oldSize <= middle) {
      path.push({ start: middle, end });
      end = middle;
    } else {
      path.push({ start, end: middle });
      start = middle;
      isKnown = false;
    }
  }
  if (!isKnown) path.push({ start, end });
  return path.reverse();
}
