import { type EntryBundle, TILE_WIDTH } from '@tallygate/receipts';
import type { Pool } from 'pg';
import type { Archive } from '../../archive/index.ts';
import { Problem } from '../../kernel/problem.ts';
import { declarationsAt } from './declarations.ts';
import { documentsAt } from './documents.ts';
import { receiptsAt } from './receipts-at.ts';

const LENGTH_BYTES = 2;

/** A bundle as c2sp.org/tlog-tiles has it: each entry, the digest of a receipt, a declaration or another document, behind its length. @throws Problem `not_found` where the log does not have so many */
export async function readEntries(
  deps: { readonly pool: Pool; readonly archive: Archive },
  { index, width }: EntryBundle,
): Promise<Buffer> {
  const start = index * TILE_WIDTH;
  const range = { start, end: start + width };
  const [declared, documents] = [await declarationsAt(deps.pool, range), await documentsAt(deps.pool, range)];
  const others = declared.size + documents.size;
  const receipts = await receiptsAt(deps, range, (placed) => placed.select(['digest', 'log_index']), others);
  const found = new Map<number, { readonly digest: Buffer }>([...receipts, ...declared, ...documents]);
  if (found.size < width) throw new Problem('not_found', `The log does not have this bundle: so far it has ${found.size} of its entries.`);
  return Buffer.concat([...found].toSorted(([one], [other]) => one - other).flatMap(([, { digest }]) => [lengthOf(digest), digest]));
}

function lengthOf(entry: Buffer): Buffer {
  const length = Buffer.alloc(LENGTH_BYTES);
  length.writeUInt16BE(entry.length);
  return length;
}
