import type { LogTimestamp, LogTimestampList, ReceiptTimestamp } from '@tallygate/contract';
import { inclusionRanges } from '@tallygate/receipts';
import type { Pool } from 'pg';
import type { Archive } from '../../archive/index.ts';
import { rfc3339 } from '../../kernel/clock.ts';
import { type Keyed, Keyset, mapPage, type PageQuery } from '../../kernel/page.ts';
import { Problem } from '../../kernel/problem.ts';
import { readRanges } from '../log/stored-tree.ts';
import { storedReceipt } from '../stored-receipt.ts';

interface Row {
  readonly timestamp_id: string;
  readonly authority: string;
  readonly tree_size: bigint;
  readonly checkpoint: string;
  readonly token: Buffer;
  readonly stamped_at: Date;
}

const COLUMNS = 'timestamp_id, authority, tree_size, checkpoint, token, stamped_at';

const TIMESTAMPS = new Keyset({ name: 'log_timestamps', columns: { created_at: 'time', timestamp_id: 'uuid' }, direction: 'desc' });

/** The newest first. */
export async function listTimestamps(pool: Pool, query: PageQuery): Promise<LogTimestampList> {
  const { rows } = await pool.query<Row & Keyed>(
    `select ${COLUMNS}, ${TIMESTAMPS.key} from log_timestamps where ${TIMESTAMPS.after('$1')} order by ${TIMESTAMPS.order} limit $2`,
    [...TIMESTAMPS.values(query)],
  );
  return mapPage(TIMESTAMPS.page(rows, query), toWire);
}

/** The first that was made of a state of the log with the receipt in it, and the receipt's place there. @throws Problem `not_found` */
export async function timestampOfReceipt(pool: Pool, archive: Archive, receiptId: string): Promise<ReceiptTimestamp> {
  const receipt = await storedReceipt(pool, archive, receiptId);
  if (!receipt) throw new Problem('not_found', 'There is no receipt with this id; a receipt appears a moment after its answer has ended.');
  const index = receipt.log_index === null ? undefined : Number(receipt.log_index);
  const { rows } = await pool.query<Row>(
    `select ${COLUMNS} from log_timestamps where tree_size > $1 order by tree_size, authority limit 1`,
    [index ?? null],
  );
  const [row] = rows;
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
