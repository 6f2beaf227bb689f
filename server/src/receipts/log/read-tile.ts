import { TILE_WIDTH, type Tile } from '@tallygate/receipts';
import type { Pool } from 'pg';
import { Problem } from '../../kernel/problem.ts';
import { rowsOf } from '../../kernel/statements.ts';
import { tables } from '../tables.ts';

/** Levels of the tree from one level of tiles to the next. */
const TILE_HEIGHT = 8;

/** The hashes of a tile, one after the other. @throws Problem `not_found` where the log does not have so many */
export async function readTile(pool: Pool, { level, index, width }: Tile): Promise<Buffer> {
  const first = BigInt(index) * BigInt(TILE_WIDTH);
  const rows = await rowsOf(
    pool,
    tables
      .selectFrom('receipt_log_nodes')
      .select('hash')
      .where('level', '=', level * TILE_HEIGHT)
      .where('index', '>=', first)
      .where('index', '<', first + BigInt(width))
      .orderBy('index'),
  );
  if (rows.length < width) throw new Problem('not_found', `The log does not have this tile: so far it has ${rows.length} of its hashes.`);
  return Buffer.concat(rows.map(({ hash }) => hash));
}
