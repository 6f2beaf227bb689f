import type { UsageDimension } from '@tallygate/contract';
import { USAGE_SUMS } from '../rollup-columns.ts';
import type { GroupRow } from '../usage-groups.ts';
import type { UsageQuestion } from '../usage-sources.ts';
import { Calendar } from './calendar.ts';
import { ExactSums } from './exact-sums.ts';
import { firstOf } from './first-of.ts';
import { GroupTable } from './group-table.ts';
import { NameList } from './name-list.ts';
import { isPositive, unpackNames, unpackNumbers } from './packed-column.ts';
import { type PlacedRows, placedRows, type Side } from './placed-rows.ts';
import type { Dimension, PackedSegment, SegmentSum } from './segment.ts';
import { TagList } from './tag-list.ts';
import { type WantedRows, wantedRows } from './wanted-rows.ts';

/** In which column of a segment a group is. */
export const COLUMN = {
  ...{ account: 'account', project: 'project', member: 'member', key: 'key', model: 'model', provider: 'provider' },
  ...{ outcome: 'outcome', run: 'run', end_user: 'end_user', tag: 'tags' },
} as const satisfies Record<UsageDimension, Dimension>;

type Sums = ReadonlyMap<SegmentSum, ExactSums>;

/** Groups with their sums, and the sums of all groups, in which every request counts once. */
export interface SummedGroups {
  readonly rows: Iterable<GroupRow>;
  readonly total: GroupRow;
}

/** The groups of the usage in some segments. Only those that are shown get names, and sums of each column: there may be a million others. */
export class UsageGroups {
  readonly #segments: readonly PackedSegment[];
  readonly #calendar: Calendar;
  readonly #sides: readonly Side[];
  readonly #wanted: readonly WantedRows[];
  readonly #placed: PlacedRows;
  readonly #table: GroupTable;
  /** Those that have requests. */
  readonly #shown: Uint32Array;

  constructor(question: UsageQuestion, segments: readonly PackedSegment[]) {
    this.#segments = segments;
    this.#calendar = new Calendar(question);
    this.#wanted = segments.map((segment) => wantedRows(question, this.#calendar, segment));
    this.#sides = question.groups.map((group) => sideOf(group, segments));
    this.#placed = placedRows(this.#wanted, this.#sides);
    const [first, second] = this.#sides;
    const counts = [Math.max(this.#calendar.periods.length, 1), countOf(first), countOf(second)] as const;
    this.#table = new GroupTable(counts, this.#placed.keys);
    this.#shown = this.#withRequests();
  }

  get count(): number {
    return this.#shown.length;
  }

  /** Those of the highest cost, in the order of their names; of the same cost those that are first in it. */
  mostCostly(limit: number): SummedGroups {
    if (this.count <= limit) return this.inOrder();
    const cost = this.#sumsOfAll('cost_nano');
    const most = firstOf(this.#shown, limit, (a, b) => cost.compare(b, a) || this.#compare(a, b));
    return this.#summed(Uint32Array.from(most).sort((a, b) => this.#compare(a, b)));
  }

  /** All, in the order of their names. */
  inOrder(): SummedGroups {
    return this.#summed(this.#shown.toSorted((a, b) => this.#compare(a, b)));
  }

  #withRequests(): Uint32Array {
    const all = new Uint32Array(this.#table.count);
    for (let group = 0; group < all.length; group += 1) all[group] = group;
    // Nothing was given back or corrected: then every group has requests.
    if (this.#segments.every(({ records }) => isPositive(records))) return all;
    const records = this.#sumsOfAll('records');
    return all.filter((group) => !records.isZero(group));
  }

  #sumsOfAll(name: SegmentSum): ExactSums {
    const sums = new ExactSums(this.#table.count);
    const { rows, starts } = this.#placed;
    for (const [at, { [name]: column, rows: count }] of this.#segments.entries()) {
      const own = [starts[at], starts[at + 1]] as const;
      if (column !== null) sums.addAll(unpackNumbers(column, count), rows.subarray(...own), this.#table.groups.subarray(...own));
    }
    return sums;
  }

  #summed(chosen: Uint32Array): SummedGroups {
    const [sums, totals] = [new Map<SegmentSum, ExactSums>(), new Map<SegmentSum, ExactSums>()];
    const parts = this.#rowsOfGroups(chosen);
    // One column at a time: together they may be large.
    for (const name of USAGE_SUMS) {
      const [ofGroups, ofAll] = [new ExactSums(chosen.length), new ExactSums(1)];
      for (const [at, { [name]: column, rows: count }] of this.#segments.entries()) {
        const [part, wanted] = [parts[at], this.#wanted[at]];
        if (column === null || !part || !wanted) continue;
        const values = unpackNumbers(column, count);
        ofGroups.addAll(values, part.rows, part.places);
        ofAll.addAll(values, wanted.rows, undefined);
      }
      sums.set(name, ofGroups);
      totals.set(name, ofAll);
    }
    return { rows: this.#written(chosen, sums), total: { ...NO_GROUP, ...written(totals, 0) } };
  }

  /** Of each segment the rows of these groups, and the places of their groups among these. */
  #rowsOfGroups(chosen: Uint32Array): { rows: Uint32Array; places: Uint32Array }[] {
    const placeOf = new Int32Array(this.#table.count).fill(-1);
    for (let place = 0; place < chosen.length; place += 1) placeOf[chosen[place] ?? 0] = place;
    const { starts, rows: all } = this.#placed;
    return this.#segments.map((_, at) => {
      const [start, end] = [starts[at] ?? 0, starts[at + 1] ?? 0];
      const [rows, places] = [new Uint32Array(end - start), new Uint32Array(end - start)];
      let count = 0;
      for (let row = start; row < end; row += 1) {
        const place = placeOf[this.#table.groups[row] ?? 0] ?? -1;
        if (place < 0) continue;
        rows[count] = all[row] ?? 0;
        places[count] = place;
        count += 1;
      }
      return { rows: rows.subarray(0, count), places: places.subarray(0, count) };
    });
  }

  *#written(chosen: Uint32Array, sums: Sums): Generator<GroupRow> {
    for (const [place, group] of chosen.entries()) {
      const [g0, g1] = [textIn(this.#sides[0], this.#table.first(group)), textIn(this.#sides[1], this.#table.second(group))];
      yield { period: this.#calendar.periods[this.#table.period(group)] ?? null, g0, g1, ...written(sums, place) };
    }
  }

  #compare(a: number, b: number): number {
    const table = this.#table;
    const [periodA, periodB] = [table.period(a), table.period(b)];
    if (periodA !== periodB) return (this.#calendar.periods[periodA] ?? '') < (this.#calendar.periods[periodB] ?? '') ? -1 : 1;
    const [first, second] = this.#sides;
    return compareIn(first, table.first(a), table.first(b)) || compareIn(second, table.second(a), table.second(b));
  }
}

function sideOf(group: UsageDimension, segments: readonly PackedSegment[]): Side {
  const columns = segments.map((segment) => unpackNames(segment[COLUMN[group]], segment.rows));
  return group === 'tag' ? { columns, tags: new TagList(columns) } : { columns, names: new NameList(columns) };
}

const listOf = (side: Side): NameList | TagList => ('tags' in side ? side.tags : side.names);
const countOf = (side: Side | undefined): number => (side ? listOf(side).count : 1);
const textIn = (side: Side | undefined, at: number): string | null => (side && listOf(side).text(at)) || null;
const compareIn = (side: Side | undefined, a: number, b: number): number =>
  side === undefined || a === b ? 0 : listOf(side).compare(a, b);

const NO_GROUP = { period: null, g0: null, g1: null };

function written(sums: Sums, at: number): Omit<GroupRow, keyof typeof NO_GROUP> {
  const of = (name: SegmentSum) => (sums.get(name)?.at(at) ?? 0n).toString();
  return {
    ...{ requests: of('requests'), input_tokens: of('input_tokens'), cached_input_tokens: of('cached_input_tokens') },
    ...{ output_tokens: of('output_tokens'), cost_nano: of('cost_nano'), charged_nano: of('charged_nano') },
    ...{ input_characters: of('input_characters'), audio_seconds: of('audio_seconds'), video_seconds: of('video_seconds') },
    images: of('images'),
  };
}
