import { dayOf } from '../../../kernel/clock.ts';
import { unpackNumbers } from './packed-column.ts';
import { DIMENSIONS, type PackedSegment, QUARTER_MS, recordOf, SEGMENT_SUMS } from './segment.ts';

/** The columns of `usage_segments` that a segment is read from. */
export const PACKED_COLUMNS = ['quarters', ...DIMENSIONS, ...SEGMENT_SUMS] as const;
const COLUMNS = [
  'segment_id',
  'account_id',
  'livemode',
  'request_day',
  'is_merged',
  'first_day',
  'last_day',
  'rows',
  ...PACKED_COLUMNS,
].join();

/** A row of `usage_segments` in JSON, with bytes as PostgreSQL writes them. */
export type SegmentRow = Readonly<Record<string, string | number | boolean | null>>;

/** SQL: writes segments, but for batches of days that are still to be summed up from their requests. */
export const SEGMENT_INSERT = `insert into usage_segments (${COLUMNS}) select ${COLUMNS} from json_populate_recordset(null::usage_segments, $1) of_batch
  where not exists (select from usage_days_unsummed where day = request_day)`;

interface OfSegment {
  readonly segmentId: string;
  /** Null: of several. */
  readonly accountId: string | null;
  readonly livemode: boolean;
  /** Of a segment that is not merged yet: when the ids of its requests were made. */
  readonly requestDay: string | null;
  readonly isMerged: boolean;
}

export function segmentRow({ segmentId, accountId, livemode, requestDay, isMerged }: OfSegment, segment: PackedSegment): SegmentRow {
  const quarters = unpackNumbers(segment.quarters, segment.rows);
  return {
    ...{ segment_id: segmentId, account_id: accountId, livemode, request_day: requestDay, is_merged: isMerged },
    ...{ first_day: dayOfQuarter(quarters, Math.min), last_day: dayOfQuarter(quarters, Math.max), rows: segment.rows },
    ...recordOf(PACKED_COLUMNS, (name) => {
      const column = segment[name];
      return column === null ? null : `\\x${Buffer.from(column.buffer, column.byteOffset, column.length).toString('hex')}`;
    }),
  };
}

const dayOfQuarter = (quarters: Float64Array, which: (a: number, b: number) => number): string =>
  dayOf(quarters.reduce((found, quarter) => which(found, quarter)) * QUARTER_MS);
