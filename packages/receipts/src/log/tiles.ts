import { sha256 } from '../sha256.ts';
import { HASH_BYTES, type Hash, isSize, type LeafRange, nodeHash, nodesOf, rangeHash, type TreeNode } from './tree.ts';

/**
 * Tiles as C2SP specifies them (c2sp.org/tlog-tiles): the hashes of the log cut into files that never change, so that anybody can fetch them,
 * keep them, and work out every proof without asking for it.
 */

/** Levels of the tree from one level of tiles to the next. */
export const TILE_HEIGHT = 8;
/** Hashes of a whole tile. */
export const TILE_WIDTH = 256;
/** Levels of tiles that there may be. */
const MOST_LEVELS = 64;

/** Hashes from `index · 256` on, `width` of them, of the level `level · 8` of the tree. */
export interface Tile {
  readonly level: number;
  readonly index: number;
  /** 1 to 256; below 256 at the right edge of the log. */
  readonly width: number;
}

/** The bytes of a tile: its hashes, one after the other. */
export type ReadTile = (tile: Tile) => Promise<Uint8Array>;

/** The entries from `index · 256` on, `width` of them. */
export type EntryBundle = Omit<Tile, 'level'>;

/** The bytes of a bundle. */
export type ReadEntries = (bundle: EntryBundle) => Promise<Uint8Array>;

/** The address below that of the log: `tile/0/x001/067`, or `tile/0/x001/067.p/12`. */
export const tilePath = ({ level, ...place }: Tile): string => pathOf(`${level}`, place);

/** The same of a bundle of entries: `tile/entries/x001/067`. */
export const entriesPath = (bundle: EntryBundle): string => pathOf(ENTRIES, bundle);

function pathOf(level: string, { index, width }: EntryBundle): string {
  const last = `${index % 1000}`.padStart(3, '0');
  let path = last;
  for (let rest = Math.floor(index / 1000); rest > 0; rest = Math.floor(rest / 1000))
    path = `x${`${rest % 1000}`.padStart(3, '0')}/${path}`;
  return `tile/${level}/${path}${width === TILE_WIDTH ? '' : `.p/${width}`}`;
}

const ENTRIES = 'entries';
/** Before each entry of a bundle. */
const LENGTH_BYTES = 2;
const TILE_PATH = /^tile\/(0|[1-9]\d?|entries)\/((?:x\d{3}\/){0,4}\d{3})(?:\.p\/([1-9]\d{0,2}))?$/;

/** Undefined for what is no address of a tile, a second spelling of one included. */
export function parseTilePath(path: string): Tile | undefined {
  const read = parsePath(path);
  if (!read || read.level === ENTRIES) return undefined;
  const tile = { ...read.place, level: Number(read.level) };
  return tile.level < MOST_LEVELS ? tile : undefined;
}

/** Undefined for what is no address of a bundle of entries. */
export function parseEntriesPath(path: string): EntryBundle | undefined {
  const read = parsePath(path);
  return read?.level === ENTRIES ? read.place : undefined;
}

function parsePath(path: string): { readonly level: string; readonly place: EntryBundle } | undefined {
  const [, level = '', groups = '', width] = TILE_PATH.exec(path) ?? [];
  const place = { index: Number(groups.replaceAll(/[x/]/g, '')), width: Number(width ?? TILE_WIDTH) };
  return groups !== '' && isSize(place.index) && pathOf(level, place) === path ? { level, place } : undefined;
}

/** The tile of a log of that size at a place: whole, or as wide as it is; undefined where there is none yet. */
export function tileAt(level: number, index: number, size: number): Tile | undefined {
  const width = Math.min(TILE_WIDTH, Math.floor(size / 2 ** (level * TILE_HEIGHT)) - index * TILE_WIDTH);
  return width > 0 ? { level, index, width } : undefined;
}

/** Which hashes of which tile a node is the root over. */
export interface PlaceInTile {
  /** Of the tile. */
  readonly level: number;
  readonly tile: number;
  readonly start: number;
  readonly end: number;
}

/** Where the hashes below a node are: it is the root over some of one tile. */
export function placeInTile({ level, index }: TreeNode): PlaceInTile {
  const tileLevel = Math.floor(level / TILE_HEIGHT);
  const span = 2 ** (level % TILE_HEIGHT);
  const first = index * span;
  const tile = Math.floor(first / TILE_WIDTH);
  return { level: tileLevel, tile, start: first - tile * TILE_WIDTH, end: first - tile * TILE_WIDTH + span };
}

/**
 * The hashes of ranges of a log, from its tiles alone: with `inclusionRanges` and `consistencyRanges`, any proof.
 * @param size of the log; every tile is fetched once
 * @throws RangeError for a range that the log does not have, or a tile of another width
 */
export async function rangesFromTiles(
  ranges: readonly LeafRange[],
  size: number,
  readTile: ReadTile,
  hash: Hash = sha256,
): Promise<Uint8Array[]> {
  const tiles = new Map<string, Uint8Array>();
  for (const node of ranges.flatMap(nodesOf)) {
    const { level, tile: index } = placeInTile(node);
    const tile = tileAt(level, index, size);
    if (!tile) throw new RangeError(`A log of ${size} entries has no tile ${level}/${index}`);
    const name = tilePath({ ...tile, width: TILE_WIDTH });
    if (!tiles.has(name)) tiles.set(name, checkedTile(tile, await readTile(tile)));
  }
  const hashOf = (node: TreeNode): Uint8Array => {
    const { level, tile, start, end } = placeInTile(node);
    const bytes = tiles.get(tilePath({ level, index: tile, width: TILE_WIDTH })) ?? new Uint8Array();
    if (end * HASH_BYTES > bytes.length) throw new RangeError(`A log of ${size} entries has no node ${node.level}/${node.index}`);
    return rootOver(hashesOf(bytes.subarray(start * HASH_BYTES, end * HASH_BYTES)), hash);
  };
  return ranges.map((range) => rangeHash(range, hashOf, hash));
}

/** Of a power of two of hashes. */
export function rootOver(hashes: readonly Uint8Array[], hash: Hash): Uint8Array {
  let level = hashes;
  while (level.length > 1)
    level = Array.from({ length: level.length / 2 }, (_, at) =>
      nodeHash(level[at * 2] ?? new Uint8Array(), level[at * 2 + 1] ?? new Uint8Array(), hash),
    );
  return level[0] ?? new Uint8Array();
}

export const hashesOf = (bytes: Uint8Array): Uint8Array[] =>
  Array.from({ length: bytes.length / HASH_BYTES }, (_, at) => bytes.subarray(at * HASH_BYTES, (at + 1) * HASH_BYTES));

/** The entries of a bundle, each behind its length in two bytes; undefined for bytes that are none. */
export function entriesOf(bundle: Uint8Array): Uint8Array[] | undefined {
  const view = new DataView(bundle.buffer, bundle.byteOffset, bundle.byteLength);
  const entries: Uint8Array[] = [];
  let at = 0;
  while (at + LENGTH_BYTES <= bundle.length) {
    const end = at + LENGTH_BYTES + view.getUint16(at);
    entries.push(bundle.subarray(at + LENGTH_BYTES, end));
    at = end;
  }
  return at === bundle.length ? entries : undefined;
}

export function checkedTile(tile: Tile, bytes: Uint8Array): Uint8Array {
  if (bytes.length === tile.width * HASH_BYTES) return bytes;
  throw new RangeError(`${tilePath(tile)} has ${bytes.length} bytes in place of ${tile.width * HASH_BYTES}`);
}
