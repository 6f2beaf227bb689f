import { HASH_BYTES, type Tile } from '@tallygate/receipts';
import type { Pool } from 'pg';
import { Problem } from '../../kernel/problem.ts';
import { readTiles } from './stored-tree.ts';

/** The hashes of a tile, one after the other. @throws Problem `not_found` where the log does not have so many */
export async function readTile(pool: Pool, { level, index, width }: Tile): Promise<Buffer> {
  const [hashes = Buffer.alloc(0)] = (await readTiles(pool, [{ level, tile: index }])).values();
  const stored = hashes.length / HASH_BYTES;
  if (stored < width) throw new Problem('not_found', `The log does not have this tile: so far it has ${stored} of its hashes.`);
  return hashes.subarray(0, width * HASH_BYTES);
}
