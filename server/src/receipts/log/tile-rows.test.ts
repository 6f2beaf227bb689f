import { HASH_BYTES, leafHash, nodeHash } from '@tallygate/receipts';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { sha256 } from './stored-tree.ts';
import { EMPTY_EDGE, grownEdge, rootOfEdge, TILE_WIDTH, type TileRow } from './tile-rows.ts';

const LEAVES = Array.from({ length: 700 }, (_, at) => leafHash(Buffer.from(`${at}`), sha256));

/** RFC 9162, section 2.1.1, as it is written there. */
function rootOf(leaves: readonly Uint8Array[]): Uint8Array {
  if (leaves.length <= 1) return leaves[0] ?? sha256(new Uint8Array());
  const split = 2 ** Math.floor(Math.log2(leaves.length - 1));
  return nodeHash(rootOf(leaves.slice(0, split)), rootOf(leaves.slice(split)), sha256);
}

test('however a log grows, its edge has the root of its entries, and its rows are whole tiles and the rest of the last', () => {
  const steps = fc.array(fc.integer({ min: 1, max: 300 }), { minLength: 1, maxLength: 6 });
  fc.assert(
    fc.property(steps, (counts) => {
      let edge = EMPTY_EDGE;
      let rows: TileRow[] = [];
      for (const count of counts) {
        const grown = grownEdge(edge, LEAVES.slice(edge.size, edge.size + count), sha256);
        const isReplaced = ({ level, start }: TileRow) =>
          grown.replaced.some((whole) => whole.level === level && whole.tile === Math.floor(start / TILE_WIDTH));
        rows = [...rows.filter((row) => !isReplaced(row)), ...grown.written];
        edge = grown.edge;
      }
      expect(Buffer.from(rootOfEdge(edge, sha256))).toEqual(Buffer.from(rootOf(LEAVES.slice(0, edge.size))));
      const leaves = rows.filter(({ level }) => level === 0).toSorted((one, other) => one.start - other.start);
      expect(Buffer.concat(leaves.map(({ hashes }) => hashes))).toEqual(Buffer.concat(LEAVES.slice(0, edge.size)));
      const whole = leaves.filter(({ hashes }) => hashes.length === TILE_WIDTH * HASH_BYTES);
      expect(whole.length).toBe(Math.floor(edge.size / TILE_WIDTH));
    }),
    { numRuns: 30 },
  );
});
