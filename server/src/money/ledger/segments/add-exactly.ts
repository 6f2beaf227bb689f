import { recordOf, SEGMENT_SUMS, type SegmentSum } from './segment.ts';
import { MOST_EXACT, type RowKey, type SegmentBuilder } from './segment-builder.ts';

const MOST = BigInt(MOST_EXACT);

/** Adds sums of any size: what no number of JavaScript holds exactly becomes several rows. */
export function addExactly(builder: SegmentBuilder, key: RowKey, sums: Readonly<Record<SegmentSum, bigint>>): void {
  let rest = sums;
  do {
    const part = recordOf(SEGMENT_SUMS, (name) => within(rest[name]));
    builder.addRow(
      key,
      recordOf(SEGMENT_SUMS, (name) => Number(part[name])),
    );
    const before = rest;
    rest = recordOf(SEGMENT_SUMS, (name) => before[name] - part[name]);
  } while (SEGMENT_SUMS.some((name) => rest[name] !== 0n));
}

const within = (value: bigint): bigint => (value > MOST ? MOST : value < -MOST ? -MOST : value);
