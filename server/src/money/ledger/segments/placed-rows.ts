import type { GroupKeys } from './group-table.ts';
import type { NameList } from './name-list.ts';
import type { Names } from './packed-column.ts';
import type { TagList, TagSets } from './tag-list.ts';
import type { WantedRows } from './wanted-rows.ts';

/** A group that is asked for: the names in the column of each segment, and all of them as one list. */
export type Side = { readonly columns: readonly Names[] } & ({ readonly names: NameList } | { readonly tags: TagList });

/** The rows that are asked for with what groups are told apart by, one segment after the other; a row with several tags is there once for each. */
export interface PlacedRows {
  /** In their segment. */
  readonly rows: Uint32Array;
  /** Where those of each segment begin, and at the end where those of the last one end. */
  readonly starts: readonly number[];
  readonly keys: GroupKeys;
}

export function placedRows(wanted: readonly WantedRows[], [first, second]: readonly Side[]): PlacedRows {
  const tagged = [first, second].find((side) => side !== undefined && 'tags' in side);
  const parts = wanted.map((part, at) => (tagged ? rowsByTag(part, tagged, at) : part));
  const starts = [0];
  for (const { rows } of parts) starts.push((starts.at(-1) ?? 0) + rows.length);
  const all = () => new Uint32Array(starts.at(-1) ?? 0);
  const placed = { rows: all(), starts, keys: { periods: all(), first: all(), second: all() } };
  for (const [at, part] of parts.entries()) {
    placed.rows.set(part.rows, starts[at]);
    placed.keys.periods.set(part.periods, starts[at]);
    placeNames(placed.keys.first.subarray(starts[at], starts[at + 1]), first, part, at);
    placeNames(placed.keys.second.subarray(starts[at], starts[at + 1]), second, part, at);
  }
  return placed;
}

interface RowsByTag extends WantedRows {
  readonly tags: Uint32Array;
}

function rowsByTag(wanted: WantedRows, side: Side, segment: number): WantedRows | RowsByTag {
  const [codes, sets] = [side.columns[segment]?.codes, 'tags' in side ? side.tags.sets[segment] : undefined];
  if (!codes || !sets) return wanted;
  let count = 0;
  for (const row of wanted.rows) count += sizeOf(sets, codes[row] ?? 0);
  const [rows, periods, tags] = [new Uint32Array(count), new Uint32Array(count), new Uint32Array(count)];
  let place = 0;
  for (let at = 0; at < wanted.rows.length; at += 1) {
    const row = wanted.rows[at] ?? 0;
    const [start, end] = [sets.starts[codes[row] ?? 0] ?? 0, sets.starts[(codes[row] ?? 0) + 1] ?? 0];
    for (let tag = start; tag < end; tag += 1) {
      rows[place] = row;
      periods[place] = wanted.periods[at] ?? 0;
      tags[place] = sets.tags[tag] ?? 0;
      place += 1;
    }
  }
  return { rows, periods, tags };
}

const sizeOf = ({ starts }: TagSets, set: number): number => (starts[set + 1] ?? 0) - (starts[set] ?? 0);

/** @param into where there is no such group, it stays at 0 */
function placeNames(into: Uint32Array, side: Side | undefined, part: WantedRows | RowsByTag, segment: number): void {
  if (!side) return;
  if ('tags' in side) {
    if ('tags' in part) into.set(part.tags);
    return;
  }
  const [codes, places] = [side.columns[segment]?.codes, side.names.places[segment]];
  if (!codes || !places) return;
  for (let at = 0; at < into.length; at += 1) into[at] = places[codes[part.rows[at] ?? 0] ?? 0] ?? 0;
}
