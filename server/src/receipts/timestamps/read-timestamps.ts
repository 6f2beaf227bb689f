import type { LogTimestamp, LogTimestampList, ReceiptTimestamp } from '@tallygate/contract';
import { inclusionRanges } from '@tallygate/receipts';
import type { InferResult } from 'kysely';
import type { Pool } from 'pg';
import type { Archive } from '../../archive/index.ts';
import { rfc3339 } from '../../kernel/clock.ts';
import { Keyset, mapPage, type PageQuery } from '../../kernel/page.ts';
import { Problem } from '../../kernel/problem.ts';
import { firstOf, rowsOf } from '../../kernel/statements.ts';
import { readRanges } from '../log/stored-tree.ts';
import { storedReceipt } from '../stored-receipt.ts';
import { tables } from '../tables.ts';

const STAMPED = tables.selectFrom('log_timestamps').select(['timestamp_id', 'authority', 'tree_size', 'checkpoint', 'token', 'stamped_at']);
type Row = InferResult<typeof STAMPED>[number];

const TIMESTAMPS = new Keyset({ name: 'log_timestamps', columns: { created_at: 'time', timestamp_id: 'uuid' }, direction: 'desc' });

/** The newest first. */
export async function listTimestamps(pool: Pool, query: PageQuery): Promise<LogTimestampList> {
  const rows = await rowsOf(pool, TIMESTAMPS.pageIn(STAMPED, query));
  return mapPage(TIMESTAMPS.page(rows, query), toWire);
}

/** The first that was made of a state of the log with the receipt in it, and the receipt's place there. @throws Problem `not_found` */
export async function timestampOfReceipt(pool: Pool, archive: Archive, receiptId: string): Promise<ReceiptTimestamp> {
  const receipt = await storedReceipt(pool, archive, receiptId);
  if (!receipt) throw new Problem('not_found', 'There is no receipt with this id; a receipt appears a moment after its answer has ended.');
  const index = receipt.log_index === null ? undefined : Number(receipt.log_index);
  const after = STAMPED.where('tree_size', '>', BigInt(index ?? 0))
    .orderBy('tree_size')
    .orderBy('authority')
    .limit(1);
  const row = index === undefined ? undefined : await firstOf(pool, after);
  if (!row || index === undefined)
    throw new Problem('not_found', 'No state of the log with this receipt in it was stamped yet: states are stamped on a schedule.');
  const path = await readRanges(pool, inclusionRanges(index, Number(row.tree_size)));
  return { ...toWire(row), object: 'receipt.timestamp', index, path: path.map((hash) => Buffer.from(hash).toString('base64')) };
}

const toWire = ({ timestamp_id: id, authority, tree_size, checkpoint, token, stamped_at }: Row): LogTimestamp => ({
  object: 'log.timestamp',
  id,
  authority,
  tree_size: Number(tree_size),
  checkpoint,
  time: rfc3339(stamped_at),
  token: token.toString('base64'),
});
