import { type Month, monthOf } from '../../../kernel/clock.ts';
import { USAGE_METERS } from '../rollup-columns.ts';
import { addExactly } from './add-exactly.ts';
import { type AddedUp, addUp, type CostlyGroups } from './add-up.ts';
import { columnsOf, mergedColumns } from './merged-columns.ts';
import { type Columns, nameAt, type PackedSegment, packed, QUARTER_MS, recordOf, SEGMENT_SUMS, unpacked } from './segment.ts';
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
  addUp(asked: AddedUp): CostlyGroups | Uint8Array[];
  /** One for each mode. @param rows a JSON array, as {@link STANDING_ROW} makes them */
  ofRequests(rows: string): SegmentOfMode[];
}

/** One piece of work: its name and what it is given. */
export type SegmentTask = {
  readonly [Name in keyof SegmentWork]: { readonly name: Name; readonly given: Parameters<SegmentWork[Name]>[0] };
}[keyof SegmentWork];

const segmentWork: SegmentWork = {
  addUp,
  byMonth: (batches) =>
    [...Map.groupBy(batches, ({ livemode }) => livemode)]
      .flatMap(([livemode, ofMode]) => partsByMonth(livemode, mergedColumns(ofMode.map(({ segment }) => unpacked(segment)))))
      .toSorted((a, b) => (orderOf(a) < orderOf(b) ? -1 : 1)),
  merged: (segments) => packed(mergedColumns(segments.map(unpacked))),
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

export function doTask(task: SegmentTask): unknown {
  switch (task.name) {
    case 'addUp':
      return segmentWork.addUp(task.given);
    case 'byMonth':
      return segmentWork.byMonth(task.given);
    case 'merged':
      return segmentWork.merged(task.given);
    default:
      return segmentWork.ofRequests(task.given satisfies string);
  }
}

const orderOf = ({ accountId, livemode, month }: SegmentOfMonth): string => `${accountId} ${livemode} ${month}`;

function partsByMonth(livemode: boolean, columns: Columns): SegmentOfMonth[] {
  const { quarters, codes, lists } = columns;
  const parts = Map.groupBy(quarters.keys(), (row) => `${codes.account[row]} ${monthOf((quarters[row] ?? 0) * QUARTER_MS)}`);
  return [...parts.values()].map((rows) => {
    const [first = 0] = rows;
    return {
      ...{ livemode, accountId: nameAt(lists.account, codes.account[first] ?? 0), month: monthOf((quarters[first] ?? 0) * QUARTER_MS) },
      segment: packed(columnsOf(columns, Uint32Array.from(rows))),
    };
  });
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
