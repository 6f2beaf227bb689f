import { USAGE_SUMS } from '../rollup-columns.ts';
import { type Names, type NameTexts, packNames, packNumbers, unpackNames, unpackNumbers } from './packed-column.ts';

/** What requests are told apart by. `tags` is a JSON array of all tags of a request. Where there is none, the empty text. */
export const DIMENSIONS = ['account', 'project', 'member', 'key', 'model', 'provider', 'outcome', 'run', 'end_user', 'tags'] as const;
export type Dimension = (typeof DIMENSIONS)[number];

/** `records`: how many settlements, less those whose money was given back. */
export const SEGMENT_SUMS = ['records', ...USAGE_SUMS] as const;
export type SegmentSum = (typeof SEGMENT_SUMS)[number];

/** Sums of usage by everything that requests are told apart by, and by the quarter of an hour: so many rows, in columns. */
export interface Segment {
  readonly rows: number;
  /** Quarters of an hour since the Unix epoch. */
  readonly quarters: Float64Array;
  readonly names: Readonly<Record<Dimension, Names>>;
  readonly sums: Readonly<Record<SegmentSum, Float64Array>>;
}

export const QUARTER_MS = 900_000;

/** The columns of `usage_segments` that hold those of a segment: of names and of numbers, null where there are none. */
export type PackedSegment = Readonly<Record<'quarters' | Dimension | SegmentSum, Uint8Array | null>> & { readonly rows: number };

export const rowsIn = (segments: readonly { readonly rows: number }[]): number => segments.reduce((sum, { rows }) => sum + rows, 0);

/** Of what is to be packed: the names of each dimension, and the rows' places among them. */
export interface Columns {
  readonly quarters: Float64Array;
  readonly codes: Readonly<Record<Dimension, Uint32Array>>;
  readonly lists: Readonly<Record<Dimension, NameTexts>>;
  readonly sums: Readonly<Record<SegmentSum, Float64Array>>;
}

export const packed = ({ quarters, codes, lists, sums }: Columns): PackedSegment => ({
  rows: quarters.length,
  quarters: packNumbers(quarters),
  ...recordOf(DIMENSIONS, (name) => packNames(codes[name], lists[name])),
  ...recordOf(SEGMENT_SUMS, (name) => packNumbers(sums[name])),
});

export const unpacked = (segment: PackedSegment): Segment => ({
  rows: segment.rows,
  quarters: unpackNumbers(segment.quarters, segment.rows),
  names: recordOf(DIMENSIONS, (name) => unpackNames(segment[name], segment.rows)),
  sums: recordOf(SEGMENT_SUMS, (name) => unpackNumbers(segment[name], segment.rows)),
});

export const recordOf = <Name extends string, Value>(names: readonly Name[], of: (name: Name) => Value): Record<Name, Value> =>
  Object.fromEntries(names.map((name) => [name, of(name)])) as Record<Name, Value>;

const decoder = new TextDecoder();
export const nameAt = ({ offsets, bytes }: NameTexts, at: number): string => decoder.decode(bytes.subarray(offsets[at], offsets[at + 1]));
