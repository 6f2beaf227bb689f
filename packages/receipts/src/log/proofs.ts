import { sha256 } from '../sha256.ts';
import { HASH_BYTES, type Hash, isSize, nodeHash } from './tree.ts';

/** That an entry stands at an index of the log of a size. */
export interface InclusionClaim {
  readonly index: number;
  readonly size: number;
  readonly leafHash: Uint8Array;
  readonly root: Uint8Array;
  readonly path: readonly Uint8Array[];
}

/** That the log of a size is the beginning of a larger one. */
export interface ConsistencyClaim {
  readonly oldSize: number;
  readonly oldRoot: Uint8Array;
  readonly newSize: number;
  readonly newRoot: Uint8Array;
  readonly path: readonly Uint8Array[];
  /** The root of the old size as the new log has it: with it a path also shows that an old root is another one where that log was a whole tree. */
  readonly beginning?: Uint8Array | undefined;
}

/** RFC 9162, section 2.1.3.2. Left and right follow from index and size: nothing of the proof can choose them. */
export function isIncluded({ index, size, leafHash, root, path }: InclusionClaim, hash: Hash = sha256): boolean {
  if (!isSize(index) || !isSize(size) || index >= size || !areHashes([leafHash, root, ...path])) return false;
  let [at, last] = [index, size - 1];
  let found = leafHash;
  for (const sibling of path) {
    if (last === 0) return false;
    if (isOdd(at) || at === last) {
      found = nodeHash(sibling, found, hash);
      // The last node of a level without a neighbour goes up as it is.
      while (!isOdd(at) && at !== 0) [at, last] = [half(at), half(last)];
    } else {
      found = nodeHash(found, sibling, hash);
    }
    [at, last] = [half(at), half(last)];
  }
  return last === 0 && areEqual(found, root);
}

/**
 * What a path shows of two states. `other_beginning`: it leads to the new root, and from another old one: both roots cannot be of one log.
 * `unproven`: it does not lead to the new root, and so shows nothing.
 */
export type Consistency = 'consistent' | 'other_beginning' | 'unproven';

/** Whether the log of the new root begins with the log of the old one. */
export const isConsistent = (claim: ConsistencyClaim, hash: Hash = sha256): boolean => consistencyOf(claim, hash) === 'consistent';

/** RFC 9162, section 2.1.4.2; a log of nothing is the beginning of every log. */
export function consistencyOf(claim: ConsistencyClaim, hash: Hash = sha256): Consistency {
  const { oldSize, oldRoot, newSize, newRoot, path } = claim;
  if (!isSize(oldSize) || !isSize(newSize) || oldSize > newSize || !areHashes([oldRoot, newRoot, ...path])) return 'unproven';
  const found = rootsOf(claim, hash);
  if (!found || !areEqual(found.newRoot, newRoot)) return 'unproven';
  return areEqual(found.oldRoot, oldRoot) ? 'consistent' : 'other_beginning';
}

/** The roots to which the path leads; undefined for a path of another length. */
function rootsOf(claim: ConsistencyClaim, hash: Hash): Pick<ConsistencyClaim, 'oldRoot' | 'newRoot'> | undefined {
  const { oldSize, newSize, newRoot, path } = claim;
  // Of one size there is one root, and of nothing too.
  if (oldSize === newSize) return path.length === 0 ? { oldRoot: newRoot, newRoot } : undefined;
  if (oldSize === 0) return path.length === 0 ? { oldRoot: hash(new Uint8Array()), newRoot } : undefined;

  let [at, last] = [oldSize - 1, newSize - 1];
  while (isOdd(at)) [at, last] = [half(at), half(last)];
  // The old tree was whole: its root is where the path begins.
  const [first, ...rest] = at === 0 ? [claim.beginning ?? claim.oldRoot, ...path] : path;
  if (!first) return undefined;
  let [oldFound, newFound] = [first, first];
  for (const sibling of rest) {
    if (last === 0) return undefined;
    if (isOdd(at) || at === last) {
      oldFound = nodeHash(sibling, oldFound, hash);
      newFound = nodeHash(sibling, newFound, hash);
      while (!isOdd(at) && at !== 0) [at, last] = [half(at), half(last)];
    } else {
      newFound = nodeHash(newFound, sibling, hash);
    }
    [at, last] = [half(at), half(last)];
  }
  return last === 0 ? { oldRoot: oldFound, newRoot: newFound } : undefined;
}

/** Sizes may be above 2^32, where bit operations fail. */
const isOdd = (value: number): boolean => value % 2 === 1;
const half = (value: number): number => Math.floor(value / 2);

const areHashes = (hashes: readonly Uint8Array[]): boolean => hashes.every(({ length }) => length === HASH_BYTES);
const areEqual = (a: Uint8Array, b: Uint8Array): boolean => a.length === b.length && a.every((byte, at) => byte === b[at]);
