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

/** RFC 9162, section 2.1.4.2; a log of nothing is the beginning of every log. */
export function isConsistent({ oldSize, oldRoot, newSize, newRoot, path }: ConsistencyClaim, hash: Hash = sha256): boolean {
  if (!isSize(oldSize) || !isSize(newSize) || oldSize > newSize || !areHashes([oldRoot, newRoot, ...path])) return false;
  if (oldSize === 0) return path.length === 0 && areEqual(oldRoot, hash(new Uint8Array()));
  if (oldSize === newSize) return path.length === 0 && areEqual(oldRoot, newRoot);

  let [at, last] = [oldSize - 1, newSize - 1];
  while (isOdd(at)) [at, last] = [half(at), half(last)];
  // The old tree was whole: its root is where the path begins.
  const [first, ...rest] = at === 0 ? [oldRoot, ...path] : path;
  if (!first) return false;
  let [oldFound, newFound] = [first, first];
  for (const sibling of rest) {
    if (last === 0) return false;
    if (isOdd(at) || at === last) {
      oldFound = nodeHash(sibling, oldFound, hash);
      newFound = nodeHash(sibling, newFound, hash);
      while (!isOdd(at) && at !== 0) [at, last] = [half(at), half(last)];
    } else {
      newFound = nodeHash(newFound, sibling, hash);
    }
    [at, last] = [half(at), half(last)];
  }
  return last === 0 && areEqual(oldFound, oldRoot) && areEqual(newFound, newRoot);
}

/** Sizes may be above 2^32, where bit operations fail. */
const isOdd = (value: number): boolean => value % 2 === 1;
const half = (value: number): number => Math.floor(value / 2);

const areHashes = (hashes: readonly Uint8Array[]): boolean => hashes.every(({ length }) => length === HASH_BYTES);
const areEqual = (a: Uint8Array, b: Uint8Array): boolean => a.length === b.length && a.every((byte, at) => byte === b[at]);
