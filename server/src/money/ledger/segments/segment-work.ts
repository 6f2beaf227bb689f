import { type Month, monthOf } from '../../../kernel/clock.ts';
import { USAGE_METERS } from '../rollup-columns.ts';
import { addExactly } from './add-exactly.ts';
import { nameAt, type PackedSegment, packed, QUARTER_MS, recordOf, SEGMENT_SUMS, type Segment, unpacked } from './segment.ts';
import { type RowKey, SegmentBuilder } from './segment-builder.ts';

export interface SegmentOfMode {
  readonly livemode: boolean;
  readonly segment: PackedSegment;
}

export interface SegmentOfMonth extends SegmentOfMode {
  readonly accountId: string;
  readonly month: Month;
}

/** What is done with many rows, off the event loop; it looks at nothing but its arguments. */
export interface SegmentWork {
  /** One segment for each account, mode and month, in one order. */
  byMonth(batches: readonly SegmentOfMode[]): SegmentOfMonth[];
  /** One segment of several of the same mode. */
  merged(segments: readonly PackedSegment[]): PackedSegment;
  /** One for each mode. @param rows a JSON array, as {@link STANDING_ROW} makes them */
  ofRequests(rows: string): SegmentOfMode[];
}

export const segmentWork: SegmentWork = {
  byMonth: (batches) => {
    const parts = new Map<string, Omit<SegmentOfMonth, 'segment'> & { readonly builder: SegmentBuilder }>();
    for (const { livemode, segment } of batches) addByMonth(parts, livemode, unpacked(segment));
    return [...parts.keys()].toSorted().flatMap((key) => {
      const part = parts.get(key);
      if (!part) return [];
      const { builder, ...of } = part;
      return { ...of, segment: packed(builder.columns()) };
    });
  },
  merged: (segments) => {
    const builder = new SegmentBuilder();
    for (const segment of segments) builder.addSegment(unpacked(segment));
    return packed(builder.columns());
  },
  ofRequests: (rows) => {
    const builders = new Map<boolean, SegmentBuilder>();
    for (const row of JSON.parse(rows) as StandingRow[]) {
      const builder = builders.get(row.livemode) ?? new SegmentBuilder();
      builders.set(row.livemode, builder);
      addRow(builder, row);
    }
    return [...builders].map(([livemode, builder]) => ({ livemode, segment: packed(builder.columns()) }));
  },
};

function addByMonth(
  parts: Map<string, Omit<SegmentOfMonth, 'segment'> & { readonly builder: SegmentBuilder }>,
  livemode: boolean,
  segment: Segment,
): void {
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

/** SQL: a request with what counts of it today: `u` is the usage record, `c` its correction. */
export const STANDING_ROW = `u.livemode, floor(extract(epoch from u.started_at) * 1000 / ${QUARTER_MS})::float8 as quarter,
    u.account_id::text as account, coalesce(u.project_id::text, '') as project, coalesce(u.user_id::text, '') as member,
    coalesce(u.key_id::text, '') as key, u.model_served as model, u.provider, u.outcome, coalesce(u.run_id, '') as run,
    coalesce(u.end_user, '') as end_user, coalesce(u.tags, '{}') as tag_list, '1' as records,
    case when u.outcome = 'failed' then '0' else '1' end as requests,
    ${['input_tokens', 'cached_input_tokens', 'output_tokens', 'cost_nano', 'charged_nano'].map((name) => `coalesce(c.${name}, u.${name})::text as ${name}`).join()},
    ${USAGE_METERS.map((name) => `coalesce(coalesce(c.meters, u.meters)->>'${name}', '0') as ${name}`).join()}`;

type StandingRow = Omit<RowKey['names'], 'tags'> &
  Readonly<Record<(typeof SEGMENT_SUMS)[number], string>> & {
    readonly livemode: boolean;
    readonly quarter: number;
    readonly tag_list: readonly string[];
  };

function addRow(builder: SegmentBuilder, row: StandingRow): void {
  const { account, project, member, key, model, provider, outcome, run, end_user } = row;
  const tags = row.tag_list.length > 0 ? JSON.stringify(row.tag_list) : '';
  const names = { account, project, member, key, model, provider, outcome, run, end_user, tags };
  addExactly(
    builder,
    { quarter: row.quarter, names },
    recordOf(SEGMENT_SUMS, (name) => BigInt(row[name])),
  );
}
