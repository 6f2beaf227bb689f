import { sql } from 'kysely';
import type { Pool, PoolClient } from 'pg';
import { type Month, monthEnd, monthOf, monthStart } from '../../../kernel/clock.ts';
import { newId } from '../../../kernel/ids.ts';
import { anyOf, rowsOf } from '../../../kernel/statements.ts';
import { inTransaction } from '../../../kernel/transaction.ts';
import { tables } from '../tables.ts';
import { nameAt, packed, QUARTER_MS, type Segment, unpacked } from './segment.ts';
import { SegmentBuilder } from './segment-builder.ts';
import { PACKED_COLUMNS, SEGMENT_INSERT, segmentRow } from './segment-row.ts';

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
  const parts = new Map<string, Part>();
  for (const { livemode, ...batch } of batches) addParts(parts, livemode, unpacked(batch));
  // In one order, so that two that merge wait for each other.
  for (const key of [...parts.keys()].toSorted()) {
    const part = parts.get(key);
    if (part) await mergePart(client, part);
  }
  return batches.length;
}

/** What is merged into one segment. */
interface Part {
  readonly accountId: string;
  readonly livemode: boolean;
  readonly month: Month;
  readonly builder: SegmentBuilder;
}

function addParts(parts: Map<string, Part>, livemode: boolean, segment: Segment): void {
  const { names, quarters } = segment;
  const rowsOfPart = new Map<string, number[]>();
  for (let row = 0; row < segment.rows; row += 1) {
    const accountId = nameAt(names.account, names.account.codes[row] ?? 0);
    const month = monthOf((quarters[row] ?? 0) * QUARTER_MS);
    const key = `${accountId} ${livemode} ${month}`;
    if (!parts.has(key)) parts.set(key, { accountId, livemode, month, builder: new SegmentBuilder() });
    const rows = rowsOfPart.get(key) ?? [];
    rowsOfPart.set(key, rows);
    rows.push(row);
  }
  for (const [key, rows] of rowsOfPart) parts.get(key)?.builder.addSegment(segment, rows);
}

async function mergePart(client: PoolClient, { accountId, livemode, month, builder }: Part): Promise<void> {
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
  let rows = builder.rows;
  for (const before of known) {
    if (before.rows > rows * 2 || before.rows + rows > MOST_ROWS) break;
    rows += before.rows;
    taken.push(before.segment_id);
  }
  if (taken.length > 0) {
    const segments = tables
      .deleteFrom('usage_segments')
      .where('segment_id', '=', anyOf(taken))
      .returning(['rows', ...PACKED_COLUMNS]);
    for (const segment of await rowsOf(client, segments)) builder.addSegment(unpacked(segment));
  }
  const columns = builder.columns();
  if (columns.quarters.length === 0) return;
  const row = segmentRow({ segmentId: newId(), accountId, livemode, requestDay: null, isMerged: true }, packed(columns));
  await client.query(SEGMENT_INSERT, [JSON.stringify([row])]);
}
