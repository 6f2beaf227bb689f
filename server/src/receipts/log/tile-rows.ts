import { HASH_BYTES, type Hash, hashesOf, placeInTile, rangeHash, rootOver, TILE_WIDTH, type TreeNode } from '@tallygate/receipts';

export { TILE_WIDTH };

/** Which tile: the how-manieth of its level. */
export interface TilePlace {
  readonly level: number;
  readonly tile: number;
}

const TILE_BYTES = TILE_WIDTH * HASH_BYTES;

/** The hashes of the tiles that are not whole, one of each level, the lowest first: what a log needs of its tree to grow, and its root. */
export interface TreeEdge {
  readonly size: number;
  readonly tails: readonly Buffer[];
}

export const EMPTY_EDGE: TreeEdge = { size: 0, tails: [] };

/** The tiles that the edge of a log of this size is of, one of each level. */
export function edgeTiles(size: number): TilePlace[] {
  const tiles: TilePlace[] = [];
  for (let level = 0, hashes = size; hashes > 0; level += 1, hashes = Math.floor(hashes / TILE_WIDTH))
    tiles.push({ level, tile: Math.floor(hashes / TILE_WIDTH) });
  return tiles;
}

/** @throws where hashes are not there */
export function rootOfEdge({ size, tails }: TreeEdge, hash: Hash): Uint8Array {
  const hashOf = (node: TreeNode): Uint8Array => {
    const { level, start, end } = placeInTile(node);
    const tail = tails[level];
    if (!tail || tail.length < end * HASH_BYTES) throw new Error(`The edge of ${size} entries has no node ${node.level}/${node.index}`);
    return rootOver(hashesOf(tail.subarray(start * HASH_BYTES, end * HASH_BYTES)), hash);
  };
  return rangeHash({ start: 0, end: size }, hashOf, hash);
}

/** Hashes one after the other in their level, from a place on. */
export interface TileRow {
  readonly level: number;
  readonly start: number;
  readonly hashes: Buffer;
}

/** What growing changes of the stored rows. */
export interface GrownEdge {
  readonly edge: TreeEdge;
  readonly written: readonly TileRow[];
  /** Tiles that were in several rows and are whole: those rows go before the new one comes. */
  readonly replaced: readonly TilePlace[];
}

/**
 * The edge with more leaves. Of a tile that stays incomplete only what is new is written; one that has become whole is written in one row, and
 * its root is a hash of the level above.
 */
export function grownEdge({ size, tails }: TreeEdge, leaves: readonly Uint8Array[], hash: Hash): GrownEdge {
  const written: TileRow[] = [];
  const replaced: TilePlace[] = [];
  const next: Buffer[] = [];
  let added = leaves;
  let before = size;
  for (let level = 0; added.length > 0 || tails[level] !== undefined; level += 1) {
    const tail = tails[level] ?? Buffer.alloc(0);
    const first = before - tail.length / HASH_BYTES;
    const all = Buffer.concat([tail, ...added]);
    const whole = Math.floor(all.length / TILE_BYTES);
    const roots: Uint8Array[] = [];
    for (let at = 0; at < whole; at += 1) {
      const hashes = all.subarray(at * TILE_BYTES, (at + 1) * TILE_BYTES);
      written.push({ level, start: first + at * TILE_WIDTH, hashes });
      roots.push(rootOver(hashesOf(hashes), hash));
    }
    if (whole > 0 && tail.length > 0) replaced.push({ level, tile: first / TILE_WIDTH });
    const rest = all.subarray(whole * TILE_BYTES);
    const start = whole > 0 ? first + whole * TILE_WIDTH : before;
    const hashes = whole > 0 ? rest : all.subarray(tail.length);
    if (hashes.length > 0) written.push({ level, start, hashes });
    next.push(rest);
    added = roots;
    before = Math.floor(before / TILE_WIDTH);
  }
  return { edge: { size: size + leaves.length, tails: next }, written, replaced };
}
