import type { UsageDimension } from '@tallygate/contract';
import { USAGE_SUMS } from '../rollup-columns.ts';
import type { GroupRow } from '../usage-groups.ts';
import type { UsageQuestion } from '../usage-sources.ts';
import { Calendar } from './calendar.ts';
import { ExactSums } from './exact-sums.ts';
import { firstOf } from './first-of.ts';
import { GroupTable } from './group-table.ts';
import { NameList } from './name-list.ts';
import { unpackNames, unpackNumbers } from './packed-column.ts';
import type { Dimension, PackedSegment, SegmentSum } from './segment.ts';
import { TagList } from './tag-list.ts';
import { type WantedRows, wantedRows } from './wanted-rows.ts';

/** In which column of a segment a group is. */
export const COLUMN = {
  ...{ account: 'account', project: 'project', member: 'member', key: 'key', model: 'model', provider: 'provider' },
  ...{ outcome: 'outcome', run: 'run', end_user: 'end_user', tag: 'tags' },
} as const satisfies Record<UsageDimension, Dimension>;

/** The names of a group that the rows of a segment have, by their places in the list of all: of tags as many as a row has. */
type Side = { readonly codes: Uint32Array; readonly places: Uint32Array } | { readonly codes: Uint32Array; readonly sets: number[][] };

/** Rows of a segment, and the group of each; a row with several tags is there once for each. */
interface Placed {
  readonly rows: Uint32Array;
  readonly groups: Uint32Array;
}

/** All groups of the usage in some segments, with their sums. */
export class UsageGroups {
  readonly #calendar: Calendar;
  readonly #lists: readonly (NameList | TagList)[];
  readonly #table: GroupTable;
  readonly #sums = new Map<SegmentSum, ExactSums>();
  readonly #totals = new Map<SegmentSum, ExactSums>();
  /** Places of the groups that have requests. */
  readonly #shown: Uint32Array;

  constructor(question: UsageQuestion, segments: readonly PackedSegment[]) {
    this.#calendar = new Calendar(question);
    this.#lists = question.groups.map((group) => (group === 'tag' ? new TagList() : new NameList()));
    const read = segments.map((segment) => ({
      segment,
      wanted: wantedRows(question, this.#calendar, segment),
      sides: question.groups.map((group, at) => sideOf(segment, COLUMN[group], this.#lists[at])),
    }));
    const [first, second] = this.#lists;
    this.#table = new GroupTable([Math.max(this.#calendar.periods.length, 1), first?.count ?? 1, second?.count ?? 1]);
    const placed = read.map(({ segment, wanted, sides }) => ({ segment, wanted, placed: placedIn(this.#table, wanted, sides) }));
    for (const name of ['records', ...USAGE_SUMS] as const) this.#addUp(name, placed);
    this.#shown = this.#withRequests();
  }

  get count(): number {
    return this.#shown.length;
  }

  /** Sums of all, in which every request counts once. */
  total(): GroupRow {
    return { ...NO_GROUP, ...written(this.#totals, 0) };
  }

  /** Those of the highest cost, in the order of their names; of the same cost those that are first in it. */
  mostCostly(limit: number): GroupRow[] {
    const cost = this.#sums.get('cost_nano');
    const isBefore = (a: number, b: number) => (cost?.compare(b, a) ?? 0) || this.#compare(a, b);
    const most = firstOf(this.#shown, limit, isBefore).sort((a, b) => this.#compare(a, b));
    return most.map((at) => this.#row(at));
  }

  /** All, in the order of their names. */
  *inOrder(): Generator<GroupRow> {
    for (const at of this.#shown.toSorted((a, b) => this.#compare(a, b))) yield this.#row(at);
  }

  /** One column at a time: together they may be large. */
  #addUp(name: SegmentSum, read: readonly { segment: PackedSegment; wanted: WantedRows; placed: Placed }[]): void {
    const [sums, total] = [new ExactSums(this.#table.count), new ExactSums(1)];
    for (const { segment, wanted, placed } of read) {
      if (segment[name] === null) continue;
      const values = unpackNumbers(segment[name], segment.rows);
      sums.addAll(values, placed.rows, placed.groups);
      total.addAll(values, wanted.rows, undefined);
    }
    this.#sums.set(name, sums);
    this.#totals.set(name, total);
  }

  #withRequests(): Uint32Array {
    const records = this.#sums.get('records');
    const shown = new Uint32Array(this.#table.count);
    let count = 0;
    for (let at = 0; at < shown.length; at += 1) {
      if (records?.isZero(at)) continue;
      shown[count] = at;
      count += 1;
    }
    return shown.subarray(0, count);
  }

  #compare(a: number, b: number): number {
    const table = this.#table;
    const [periodA, periodB] = [table.key(a, 0), table.key(b, 0)];
    if (periodA !== periodB) return (this.#calendar.periods[periodA] ?? '') < (this.#calendar.periods[periodB] ?? '') ? -1 : 1;
    return this.#compareNames(1, table.key(a, 1), table.key(b, 1)) || this.#compareNames(2, table.key(a, 2), table.key(b, 2));
  }

  #compareNames(which: 1 | 2, a: number, b: number): number {
    return a === b ? 0 : (this.#lists[which - 1]?.compare(a, b) ?? 0);
  }

  #row(at: number): GroupRow {
    const name = (which: 1 | 2) => this.#lists[which - 1]?.text(this.#table.key(at, which)) || null;
    return { period: this.#calendar.periods[this.#table.key(at, 0)] ?? null, g0: name(1), g1: name(2), ...written(this.#sums, at) };
  }
}

function sideOf(segment: PackedSegment, column: Dimension, list: NameList | TagList | undefined): Side {
  const names = unpackNames(segment[column], segment.rows);
  if (list instanceof TagList) return { codes: names.codes, sets: list.add(names) };
  return { codes: names.codes, places: list?.add(names) ?? new Uint32Array(1) };
}

function placedIn(table: GroupTable, { rows, periods }: WantedRows, [first, second]: readonly Side[]): Placed {
  const tagged = [first, second].find((side) => side && 'sets' in side);
  if (tagged) return placedByTag(table, { rows, periods }, [first, second]);
  const groups = new Uint32Array(rows.length);
  for (let at = 0; at < rows.length; at += 1) {
    const row = rows[at] ?? 0;
    groups[at] = table.placeOf(periods[at] ?? 0, placeIn(first, row), placeIn(second, row));
  }
  return { rows, groups };
}

const placeIn = (side: Side | undefined, row: number): number => (side && 'places' in side ? (side.places[side.codes[row] ?? 0] ?? 0) : 0);

function placedByTag(table: GroupTable, { rows, periods }: WantedRows, [first, second]: readonly (Side | undefined)[]): Placed {
  const placed: { rows: number[]; groups: number[] } = { rows: [], groups: [] };
  const setIn = (side: Side | undefined, row: number) => (side && 'sets' in side ? side.sets[side.codes[row] ?? 0] : undefined);
  for (let at = 0; at < rows.length; at += 1) {
    const row = rows[at] ?? 0;
    for (const tag of setIn(first, row) ?? setIn(second, row) ?? []) {
      const isFirst = first !== undefined && 'sets' in first;
      placed.rows.push(row);
      placed.groups.push(table.placeOf(periods[at] ?? 0, isFirst ? tag : placeIn(first, row), isFirst ? placeIn(second, row) : tag));
    }
  }
  return { rows: Uint32Array.from(placed.rows), groups: Uint32Array.from(placed.groups) };
}

const NO_GROUP = { period: null, g0: null, g1: null };

function written(sums: ReadonlyMap<SegmentSum, ExactSums>, at: number): Omit<GroupRow, keyof typeof NO_GROUP> {
  const of = (name: SegmentSum) => (sums.get(name)?.at(at) ?? 0n).toString();
  return {
    ...{ requests: of('requests'), input_tokens: of('input_tokens'), cached_input_tokens: of('cached_input_tokens') },
    ...{ output_tokens: of('output_tokens'), cost_nano: of('cost_nano'), charged_nano: of('charged_nano') },
    ...{ input_characters: of('input_characters'), audio_seconds: of('audio_seconds'), video_seconds: of('video_seconds') },
    images: of('images'),
  };
}
