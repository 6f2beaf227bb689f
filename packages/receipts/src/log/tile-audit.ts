import { sha256 } from '../sha256.ts';
import { checkedTile, entriesOf, hashesOf, type ReadEntries, type ReadTile, rangesFromTiles, TILE_WIDTH, tileAt } from './tiles.ts';
import { completedBy, type Hash, leafHash, nodesOf, rangeHash, type TreeNode } from './tree.ts';

/** A state of the log, as a checkpoint has it. */
interface LogState {
  readonly size: number;
  readonly root: Uint8Array;
}

/**
 * What an audit found. `rewritten`: the log does not begin with the state that was kept. `other_root`: its entries do not have the root that
 * was signed. `tiles_disagree`: a tile of a higher level is not that of the tiles below. `entries_disagree`: an entry is not the one whose hash
 * is in the tree.
 */
export type LogGrowth = 'ok' | 'shrunk' | 'rewritten' | 'other_root' | 'tiles_disagree' | 'entries_disagree';

interface Audit {
  /** The state that was kept of an earlier audit; without one, the log is audited from its first entry on. */
  readonly from?: LogState | undefined;
  readonly to: LogState;
  readonly readTile: ReadTile;
  /** Where given, the new entries themselves are compared with the tree too. */
  readonly readEntries?: ReadEntries | undefined;
  readonly hash?: Hash;
}

/**
 * Works the root of a log out again from the hash of every entry since the state that was kept, and so proves that the log is that state and
 * what came after it, without believing any proof that the log hands out. Reads one tile for every 256 new entries.
 */
export async function auditGrowth({ from, to, readTile, readEntries, hash = sha256 }: Audit): Promise<LogGrowth> {
  const start = from?.size ?? 0;
  if (start > to.size) return 'shrunk';
  const known = new Map<string, Uint8Array>();
  const nameOf = ({ level, index }: TreeNode): string => `${level}/${index}`;
  const left = (node: TreeNode): Uint8Array => known.get(nameOf(node)) ?? new Uint8Array();

  const edge = nodesOf({ start: 0, end: start });
  const hashes = await rangesFromTiles(edge.map(leavesOf), to.size, readTile, hash);
  for (const [at, node] of edge.entries()) known.set(nameOf(node), hashes[at] ?? new Uint8Array());
  if (from && !areEqual(rangeHash({ start: 0, end: start }, left, hash), from.root)) return 'rewritten';

  for (let tileIndex = Math.floor(start / TILE_WIDTH); tileIndex * TILE_WIDTH < to.size; tileIndex += 1) {
    const tile = tileAt(0, tileIndex, to.size);
    if (!tile) break;
    const leaves = hashesOf(checkedTile(tile, await readTile(tile)));
    if (readEntries && !isOfEntries(leaves, await readEntries(tile), hash)) return 'entries_disagree';
    for (const [at, leaf] of leaves.entries()) {
      const index = tileIndex * TILE_WIDTH + at;
      if (index < start) continue;
      for (const node of completedBy({ index, hash: leaf }, left, hash)) known.set(nameOf(node), node.hash);
    }
    if (tile.width === TILE_WIDTH) forget(known, tileIndex);
  }
  if (!areEqual(rangeHash({ start: 0, end: to.size }, left, hash), to.root)) return 'other_root';
  const ownEdge = nodesOf({ start: 0, end: to.size });
  const published = await rangesFromTiles(ownEdge.map(leavesOf), to.size, readTile, hash);
  return ownEdge.every((node, at) => areEqual(left(node), published[at] ?? new Uint8Array())) ? 'ok' : 'tiles_disagree';
}

function isOfEntries(leaves: readonly Uint8Array[], bundle: Uint8Array, hash: Hash): boolean {
  const entries = entriesOf(bundle);
  return entries?.length === leaves.length && leaves.every((leaf, at) => areEqual(leaf, leafHash(entries[at] ?? new Uint8Array(), hash)));
}

const leavesOf = ({ level, index }: TreeNode) => ({ start: index * 2 ** level, end: (index + 1) * 2 ** level });

/** Of what lies within a whole tile only its root is needed from then on. */
function forget(known: Map<string, Uint8Array>, tileIndex: number): void {
  for (let level = 0, width = TILE_WIDTH; level < 8; level += 1, width /= 2)
    for (let at = 0; at < width; at += 1) known.delete(`${level}/${tileIndex * width + at}`);
}

const areEqual = (a: Uint8Array, b: Uint8Array): boolean => a.length === b.length && a.every((byte, at) => byte === b[at]);
