import { createHash } from 'node:crypto';
import { RFC9162 as independent } from '@transmute/rfc9162';
import fc from 'fast-check';
import { MerkleTree } from 'merkletreejs';
import { describe, expect, it } from 'vitest';
import { fromHex, toHex, utf8 } from '../encoding.ts';
import { isConsistent, isIncluded } from './proofs.ts';
import {
  completedBy,
  consistencyRanges,
  emptyRoot,
  inclusionRanges,
  type LeafRange,
  leafHash,
  nodeHash,
  rangeHash,
  type TreeNode,
} from './tree.ts';

const sha = (bytes: Uint8Array): Uint8Array => createHash('sha256').update(bytes).digest();
const entryOf = (index: number): Uint8Array => utf8(`entry ${index}`);

/** A log that keeps whole subtrees, as a server does. */
class Log {
  readonly #nodes = new Map<string, Uint8Array>();
  size = 0;

  append(entry: Uint8Array): void {
    for (const node of completedBy({ index: this.size, hash: leafHash(entry, sha) }, this.#read, sha))
      this.#nodes.set(nameOf(node), node.hash);
    this.size += 1;
  }

  readonly #read = (node: TreeNode): Uint8Array => {
    const hash = this.#nodes.get(nameOf(node));
    if (!hash) throw new Error(`There is no ${nameOf(node)}`);
    return hash;
  };

  readonly hashOf = (range: LeafRange): Uint8Array => rangeHash(range, this.#read, sha);
  root = (size: number): Uint8Array => this.hashOf({ start: 0, end: size });
}
const nameOf = ({ level, index }: TreeNode): string => `${level}/${index}`;

function logOf(size: number): Log {
  const log = new Log();
  for (let index = 0; index < size; index += 1) log.append(entryOf(index));
  return log;
}

const inclusionOf = (log: Log, index: number, size: number) => ({
  index,
  size,
  leafHash: leafHash(entryOf(index), sha),
  root: log.root(size),
  path: inclusionRanges(index, size).map(log.hashOf),
});

const consistencyOf = (log: Log, oldSize: number, newSize: number) => ({
  oldSize,
  oldRoot: log.root(oldSize),
  newSize,
  newRoot: log.root(newSize),
  path: consistencyRanges(oldSize, newSize).map(log.hashOf),
});

const bare = (hashes: readonly Uint8Array[]): string[] => hashes.map(toHex);

describe('the tree', () => {
  // RFC 6962's own test data, as the certificate transparency logs publish it.
  const CT = ['', '00', '10', '2021', '3031', '40414243', '5051525354555657', '606162636465666768696a6b6c6d6e6f'];
  const CT_ROOTS = [
    'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855',
    '6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d',
    'fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125',
    'aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77',
    'd37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7',
    '4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4',
    '76e67dadbcdf1e10e1b74ddc608abd2f98dfb16fbce75277b5232a127f2087ef',
    'ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c',
    '5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328',
  ];

  it('has the roots of certificate transparency', () => {
    const log = new Log();
    expect(toHex(emptyRoot())).toBe(CT_ROOTS[0]);
    for (const [index, entry] of CT.entries()) {
      log.append(fromHex(entry) ?? new Uint8Array());
      expect(toHex(log.root(index + 1))).toBe(CT_ROOTS[index + 1]);
    }
  });

  it('has the roots and proofs of two implementations that nobody here wrote', async () => {
    const SIZE = 33;
    const log = logOf(SIZE);
    const entries = Array.from({ length: SIZE }, (_, index) => entryOf(index));
    for (let size = 1; size <= SIZE; size += 1) {
      const some = entries.slice(0, size);
      expect(toHex(log.root(size))).toBe(toHex(await independent.treeHead(some)));
      const other = new MerkleTree(
        some.map((entry) => Buffer.from(leafHash(entry, sha))),
        nodeOfPair,
        {
          hashLeaves: false,
          sortLeaves: false,
          sortPairs: false,
          duplicateOdd: false,
        },
      );
      expect(toHex(log.root(size))).toBe(other.getRoot().toString('hex'));
      for (let index = 0; index < size; index += 1)
        expect(bare(inclusionOf(log, index, size).path)).toEqual(bare(await independent.PATH(index, some)));
      for (let old = 1; old < size; old += 1)
        expect(bare(consistencyOf(log, old, size).path)).toEqual(bare(await proofElsewhere(old, some)));
    }
  });

  it('has the roots and proofs of another implementation for thousands of leaves', async () => {
    const SIZE = 2_500;
    const log = logOf(SIZE);
    const entries = Array.from({ length: SIZE }, (_, index) => entryOf(index));
    expect(toHex(log.root(SIZE))).toBe(toHex(await independent.treeHead(entries)));
    for (const index of [0, 1024, 2499]) {
      const claim = inclusionOf(log, index, SIZE);
      expect(bare(claim.path)).toEqual(bare(await independent.PATH(index, entries)));
      expect(isIncluded(claim)).toBe(true);
    }
    for (const old of [1000, 2048, 2499]) {
      const claim = consistencyOf(log, old, SIZE);
      expect(bare(claim.path)).toEqual(bare(await proofElsewhere(old, entries)));
      expect(isConsistent(claim)).toBe(true);
    }
  });
});

describe('a proof', () => {
  const LOG = logOf(200);
  const sizes = fc.integer({ min: 1, max: 200 });

  it('holds for every leaf and every earlier size', () => {
    fc.assert(
      fc.property(sizes, fc.nat(), fc.nat(), (size, one, another) => {
        expect(isIncluded(inclusionOf(LOG, one % size, size), sha)).toBe(true);
        expect(isConsistent(consistencyOf(LOG, another % (size + 1), size), sha)).toBe(true);
      }),
    );
  });

  it('of a leaf holds for no other index, size, leaf, root or path', () => {
    fc.assert(
      fc.property(sizes, fc.nat(), fc.nat(), fc.nat(), (size, one, at, bit) => {
        const claim = inclusionOf(LOG, one % size, size);
        const wrong = [
          ...[claim.index - 1, claim.index + 1, claim.index + size, -claim.index - 1, claim.index + 0.5].map((index) => ({
            ...claim,
            index,
          })),
          { ...claim, leafHash: flipped(claim.leafHash, bit) },
          { ...claim, root: flipped(claim.root, bit) },
          ...mutationsOf(claim.path, at, bit).map((path) => ({ ...claim, path })),
        ];
        for (const broken of wrong) expect(isIncluded(broken, sha)).toBe(false);
      }),
    );
  });

  it('of a beginning holds for no other size, root or path', () => {
    fc.assert(
      fc.property(fc.integer({ min: 2, max: 200 }), fc.nat(), fc.nat(), fc.nat(), (size, one, at, bit) => {
        const claim = consistencyOf(LOG, 1 + (one % (size - 1)), size);
        const wrong = [
          { ...claim, oldRoot: flipped(claim.oldRoot, bit) },
          { ...claim, newRoot: flipped(claim.newRoot, bit) },
          { ...claim, oldSize: claim.newSize, newSize: claim.oldSize },
          { ...claim, oldSize: 0 },
          ...mutationsOf(claim.path, at, bit).map((path) => ({ ...claim, path })),
        ];
        for (const broken of wrong) expect(isConsistent(broken, sha)).toBe(false);
      }),
    );
  });

  it('does not hold where an inner node is passed off as an entry', () => {
    const log = logOf(4);
    const left = nodeHash(leafHash(entryOf(0)), leafHash(entryOf(1)));
    const right = log.hashOf({ start: 2, end: 4 });
    // As a tree of two entries, which are two hashes each.
    const forged = leafHash(new Uint8Array([...leafHash(entryOf(0)), ...leafHash(entryOf(1))]));
    expect(isIncluded({ index: 0, size: 2, leafHash: left, root: log.root(4), path: [right] })).toBe(true);
    expect(isIncluded({ index: 0, size: 2, leafHash: forged, root: log.root(4), path: [right] })).toBe(false);
  });

  it('does not hold where the last leaf is counted twice', () => {
    const log = logOf(3);
    const last = leafHash(entryOf(2));
    const doubled = nodeHash(log.hashOf({ start: 0, end: 2 }), nodeHash(last, last));
    expect(toHex(log.root(3))).not.toBe(toHex(doubled));
    expect(isIncluded({ ...inclusionOf(log, 2, 3), root: doubled, path: [last, log.hashOf({ start: 0, end: 2 })] })).toBe(false);
  });
});

/** The other implementation always says the first hash, which RFC 9162 leaves out where it is the old root. */
async function proofElsewhere(old: number, entries: Uint8Array[]): Promise<Uint8Array[]> {
  const path = await independent.PROOF(old, entries);
  return Number.isInteger(Math.log2(old)) ? path.slice(1) : path;
}

const nodeOfPair = (pair: Buffer): Buffer =>
  createHash('sha256')
    .update(Buffer.from([1]))
    .update(pair)
    .digest();

function flipped(hash: Uint8Array, bit: number): Uint8Array {
  const changed = Uint8Array.from(hash);
  const at = bit % (hash.length * 8);
  changed[at >> 3] = (changed[at >> 3] ?? 0) ^ (1 << (at & 7));
  return changed;
}

/** The path cut at both ends, lengthened, with a bit flipped, with two neighbours in each other's place, and with a hash cut short. */
function mutationsOf(path: readonly Uint8Array[], at: number, bit: number): Uint8Array[][] {
  const zero = new Uint8Array(32);
  const lengthened = [
    [...path, zero],
    [zero, ...path],
  ];
  if (path.length === 0) return lengthened;
  const place = at % path.length;
  const swapped = path.length > 1 ? [path.with(place, path.at(place - 1) ?? zero).with(place - 1, path[place] ?? zero)] : [];
  return [
    ...lengthened,
    path.slice(1),
    path.slice(0, -1),
    path.with(place, flipped(path[place] ?? zero, bit)),
    path.with(place, (path[place] ?? zero).subarray(1)),
    ...swapped,
  ];
}
