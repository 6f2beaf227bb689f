import { sql } from 'kysely';
import type { Pool, PoolClient } from 'pg';
import { monthEnd, monthStart } from '../../../kernel/clock.ts';
import { newId } from '../../../kernel/ids.ts';
import { anyOf, rowsOf } from '../../../kernel/statements.ts';
import { inTransaction } from '../../../kernel/transaction.ts';
import { tables } from '../tables.ts';
import { rowsIn } from './segment.ts';
import { PACKED_COLUMNS, SEGMENT_INSERT, segmentRow } from './segment-row.ts';
import { done } from './segment-thread.ts';
import type { SegmentOfMonth } from './segment-work.ts';

/** SQL: whether there are segments of batches that are older than half a minute. */
export const SEGMENTS_TO_MERGE = `exists (select from usage_segments where not is_merged and written_at < now() - interval '30 seconds')`;

/** Of so many batches at once. */
const BATCHES = 500;
/** A segment does not become larger by taking up others: its columns pass the event loop whole. */
const MOST_ROWS = 262_144;

/**
 * Makes one segment for each account, mode and month of those that the ledger's batches have written, which have a few rows of several accounts
 * each. A new segment takes up those before it that are at most twice as large: so there are few of them, and a row is written few times.
 * It returns once no batch is left, or after an abort.
 */
export async function mergeSegments(pool: Pool, signal: AbortSignal): Promise<void> {
  while (!signal.aborted && (await inTransaction(pool, mergeBatches)) === BATCHES);
}

/** @returns how many were there */
async function mergeBatches(client: PoolClient): Promise<number> {
  const oldest = tables
    .selectFrom('usage_segments')
    .select('segment_id')
    .where('is_merged', '=', false)
    .orderBy('written_at')
    .limit(BATCHES);
  const batches = await rowsOf(
    client,
    tables
      .deleteFrom('usage_segments')
      .where('segment_id', 'in', oldest.forUpdate().skipLocked())
      .returning(['livemode', 'rows', ...PACKED_COLUMNS]),
  );
  if (batches.length === 0) return 0;
  const ofModes = batches.map(({ livemode, ...segment }) => ({ livemode, segment }));
  for (const part of await done('byMonth', ofModes, rowsIn(batches))) await mergePart(client, part);
  return batches.length;
}

async function mergePart(client: PoolClient, { accountId, livemode, month, segment: part }: SegmentOfMonth): Promise<void> {
  const known = await rowsOf(
    client,
    tables
      .selectFrom('usage_segments')
      .select(['segment_id', 'rows'])
      .where('account_id', '=', accountId)
      .where('livemode', '=', livemode)
      .where('is_merged', '=', true)
      .where(sql<boolean>`first_day >= ${monthStart(month)}::date and first_day < ${monthEnd(month)}::date`)
      .orderBy('rows')
      .forUpdate(),
  );
  const taken: string[] = [];
  let rows = part.rows;
  for (const before of known) {
    if (before.rows > rows * 2 || before.rows + rows > MOST_ROWS) break;
    rows += before.rows;
    taken.push(before.segment_id);
  }
  const before = await rowsOf(
    client,
    tables
      .deleteFrom('usage_segments')
      .where('segment_id', '=', anyOf(taken))
      .returning(['rows', ...PACKED_COLUMNS]),
  );
  const segment = before.length === 0 ? part : await done('merged', [part, ...before], rows);
  // Of requests whose money was given back nothing is left.
  if (segment.rows === 0) return;
  const row = segmentRow({ segmentId: newId(), accountId, livemode, requestDay: null, isMerged: true }, segment);
  await client.query(SEGMENT_INSERT, [JSON.stringify([row])]);
}
