import { hash as digest } from 'node:crypto';
import {
  HASH_BYTES,
  type Hash,
  hashesOf,
  type LeafRange,
  nodesOf,
  placeInTile,
  rangeHash,
  rootOver,
  type TreeNode,
} from '@tallygate/receipts';
import { sql } from 'kysely';
import type { Pool, PoolClient } from 'pg';
import { rowsOf } from '../../kernel/statements.ts';
import { tables } from '../tables.ts';
import { TILE_WIDTH, type TilePlace } from './tile-rows.ts';

/** Many times faster than the verifier's own, which needs no platform. */
export const sha256: Hash = (message) => digest('sha256', message, 'buffer');

/** The hashes of each of these tiles that are stored, up to the first that is not. @returns by {@link tileName} */
export async function readTiles(db: Pool | PoolClient, places: readonly TilePlace[]): Promise<ReadonlyMap<string, Buffer>> {
  const wanted = sql<TilePlace>`(select * from unnest(${places.map(({ level }) => level)}::smallint[], ${places.map(({ tile }) => tile)}::bigint[]) as given (level, tile))`;
  const rows = await rowsOf(
    db,
    tables
      .selectFrom('receipt_log_tiles')
      .innerJoin(wanted.as('wanted'), (on) =>
        on
          .onRef('wanted.level', '=', 'receipt_log_tiles.level')
          .on('start', '>=', sql<bigint>`wanted.tile * ${TILE_WIDTH}`)
          .on('start', '<', sql<bigint>`(wanted.tile + 1) * ${TILE_WIDTH}`),
      )
      .select(['receipt_log_tiles.level', 'start', 'hashes'])
      .orderBy('receipt_log_tiles.level')
      .orderBy('start'),
  );
  const tiles = new Map<string, Buffer[]>();
  for (const { level, start, hashes } of rows) {
    const [tile, at] = [Number(start / BigInt(TILE_WIDTH)), Number(start % BigInt(TILE_WIDTH))];
    const name = tileName({ level, tile });
    const parts = tiles.get(name) ?? [];
    tiles.set(name, parts);
    if (parts.reduce((sum, { length }) => sum + length, 0) === at * HASH_BYTES) parts.push(hashes);
  }
  return new Map([...tiles].map(([name, parts]) => [name, Buffer.concat(parts)]));
}

export const tileName = ({ level, tile }: TilePlace): string => `${level}/${tile}`;

/** The hashes of whole subtrees, from tiles that are read in one query; undefined for those that are not there. */
export async function storedNodes(db: Pool | PoolClient, nodes: readonly TreeNode[]): Promise<(node: TreeNode) => Uint8Array | undefined> {
  const places = new Map(nodes.map(placeInTile).map((place) => [tileName(place), place]));
  const tiles = await readTiles(db, [...places.values()]);
  const known = new Map<string, Uint8Array>();
  return (node) => {
    const hash = known.get(nameOf(node)) ?? rootInTile(node, tiles);
    if (hash) known.set(nameOf(node), hash);
    return hash;
  };
}

function rootInTile(node: TreeNode, tiles: ReadonlyMap<string, Buffer>): Uint8Array | undefined {
  const { start, end, ...place } = placeInTile(node);
  const bytes = tiles.get(tileName(place));
  if (!bytes || bytes.length < end * HASH_BYTES) return undefined;
  return rootOver(hashesOf(bytes.subarray(start * HASH_BYTES, end * HASH_BYTES)), sha256);
}

/** The same. @throws when one is not there: the log is shorter than was asked for */
export async function readNodes(db: Pool | PoolClient, nodes: readonly TreeNode[]): Promise<(node: TreeNode) => Uint8Array> {
  const stored = await storedNodes(db, nodes);
  return (node) => {
    const hash = stored(node);
    if (!hash) throw new Error(`The log has no node ${nameOf(node)}`);
    return hash;
  };
}

/** The hashes of ranges as proofs need them. */
export async function readRanges(db: Pool | PoolClient, ranges: readonly LeafRange[]): Promise<Uint8Array[]> {
  const hashOf = await readNodes(db, ranges.flatMap(nodesOf));
  return ranges.map((range) => rangeHash(range, hashOf, sha256));
}

export const nameOf = ({ level, index }: TreeNode): string => `${level}/${index}`;
