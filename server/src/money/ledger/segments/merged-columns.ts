import { firstEquals } from './first-equals.ts';
import { NameList } from './name-list.ts';
import type { NameTexts } from './packed-column.ts';
import { type Columns, DIMENSIONS, recordOf, SEGMENT_SUMS, type Segment } from './segment.ts';
import { isExact } from './segment-builder.ts';

const FREE = -1;

/** The rows of several segments, those of the same key as one. None is left of what comes to nothing: of a request whose money was given back. */
export function mergedColumns(segments: readonly Segment[]): Columns {
  const rows = segments.reduce((sum, segment) => sum + segment.rows, 0);
  const lists = recordOf(DIMENSIONS, (name) => new NameList(segments.map(({ names }) => names[name])));
  const all: Columns = {
    quarters: joined(segments, ({ quarters }) => quarters, new Float64Array(rows)),
    codes: recordOf(DIMENSIONS, (name) => joined(segments, codesIn(lists[name], segments, name), new Uint32Array(rows))),
    sums: recordOf(SEGMENT_SUMS, (name) => joined(segments, ({ sums }) => sums[name], new Float64Array(rows))),
    lists: recordOf(DIMENSIONS, (name) => lists[name].texts()),
  };
  return columnsOf(all, addedUp(all));
}

/** Some rows, with the names that they have. */
export function columnsOf({ quarters, codes, sums, lists }: Columns, rows: Uint32Array): Columns {
  const picked = recordOf(DIMENSIONS, (name) => pickedNames(codes[name], lists[name], rows));
  return {
    quarters: pickedFrom(quarters, new Float64Array(rows.length), rows),
    codes: recordOf(DIMENSIONS, (name) => picked[name].codes),
    lists: recordOf(DIMENSIONS, (name) => picked[name].texts),
    sums: recordOf(SEGMENT_SUMS, (name) => pickedFrom(sums[name], new Float64Array(rows.length), rows)),
  };
}

function joined<Column extends Float64Array | Uint32Array>(
  segments: readonly Segment[],
  columnOf: (segment: Segment, at: number) => Column,
  into: Column,
): Column {
  let start = 0;
  for (const [at, segment] of segments.entries()) {
    into.set(columnOf(segment, at), start);
    start += segment.rows;
  }
  return into;
}

const codesIn = (list: NameList, segments: readonly Segment[], name: (typeof DIMENSIONS)[number]) => (_: Segment, at: number) => {
  const [codes, places] = [segments[at]?.names[name].codes ?? new Uint32Array(), list.places[at] ?? new Uint32Array()];
  return codes.map((code) => places[code] ?? 0);
};

/** Adds each row to the first one of its key, unless that would no longer be exact. @returns the rows that are left */
function addedUp({ quarters, codes, sums, lists }: Columns): Uint32Array {
  // All rows have the same name where there is one.
  const keys = [quarters, ...DIMENSIONS.filter((name) => lists[name].count > 1).map((name) => codes[name])];
  const firsts = firstEquals(hashesOf(keys, quarters.length), (a, b) => keys.every((column) => column[a] === column[b]));
  const columns = SEGMENT_SUMS.map((name) => sums[name]);
  const isTaken = new Uint8Array(quarters.length);
  for (let row = 0; row < firsts.length; row += 1) {
    const first = firsts[row] ?? 0;
    if (first === row || !columns.every((column) => isExact((column[first] ?? 0) + (column[row] ?? 0)))) continue;
    for (const column of columns) column[first] = (column[first] ?? 0) + (column[row] ?? 0);
    isTaken[row] = 1;
  }
  const isSomething = new Uint8Array(quarters.length);
  for (const column of columns) for (let row = 0; row < column.length; row += 1) if (column[row] !== 0) isSomething[row] = 1;
  return Uint32Array.from(quarters.keys()).filter((row) => isTaken[row] === 0 && isSomething[row] === 1);
}

/** A column after the other. */
function hashesOf(keys: readonly (Float64Array | Uint32Array)[], rows: number): Uint32Array {
  const hashes = new Uint32Array(rows);
  for (const column of keys) for (let row = 0; row < rows; row += 1) hashes[row] = mixed((hashes[row] ?? 0) ^ (column[row] ?? 0));
  return hashes;
}

function mixed(hash: number): number {
  const mixedOnce = Math.imul(hash ^ (hash >>> 16) ^ 0x9e3779b9, 0x85ebca6b);
  const mixedTwice = Math.imul(mixedOnce ^ (mixedOnce >>> 13), 0xc2b2ae35);
  return (mixedTwice ^ (mixedTwice >>> 16)) >>> 0;
}

function pickedFrom<Column extends Float64Array | Uint32Array>(column: Column, into: Column, rows: Uint32Array): Column {
  for (let at = 0; at < rows.length; at += 1) into[at] = column[rows[at] ?? 0] ?? 0;
  return into;
}

/** In the order in which the rows have them. */
function pickedNames(
  codes: Uint32Array,
  { count, offsets, bytes }: NameTexts,
  rows: Uint32Array,
): { codes: Uint32Array; texts: NameTexts } {
  const places = new Int32Array(count).fill(FREE);
  const own = new Uint32Array(rows.length);
  const used = new Uint32Array(count);
  const ends = new Uint32Array(count + 1);
  let found = 0;
  for (let at = 0; at < rows.length; at += 1) {
    const code = codes[rows[at] ?? 0] ?? 0;
    let place = places[code] ?? FREE;
    if (place === FREE) {
      place = found;
      places[code] = place;
      used[place] = code;
      found += 1;
      ends[found] = (ends[place] ?? 0) + (offsets[code + 1] ?? 0) - (offsets[code] ?? 0);
    }
    own[at] = place;
  }
  const text = new Uint8Array(ends[found] ?? 0);
  for (let place = 0; place < found; place += 1) {
    const code = used[place] ?? 0;
    text.set(bytes.subarray(offsets[code], offsets[code + 1]), ends[place]);
  }
  return { codes: own, texts: { count: found, offsets: ends.subarray(0, found + 1), bytes: text } };
}
