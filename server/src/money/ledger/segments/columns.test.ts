import type { UsageDimension } from '@tallygate/contract';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { GroupRow } from '../usage-groups.ts';
import { addUp, type CostlyGroups } from './add-up.ts';
import { firstEquals } from './first-equals.ts';
import { mergedColumns } from './merged-columns.ts';
import { DIMENSIONS, nameAt, type PackedSegment, packed, recordOf, SEGMENT_SUMS, unpacked } from './segment.ts';
import { type RowKey, SegmentBuilder } from './segment-builder.ts';

const FIRST_QUARTER = Date.UTC(2026, 8, 1) / 900_000;
const NOTHING = recordOf(SEGMENT_SUMS, () => 0);

interface Row {
  readonly quarter: number;
  readonly model: string;
  readonly endUser: string;
  readonly tags: readonly string[];
  readonly records: number;
  readonly cost: number;
}

const keyOf = ({ quarter, model, endUser, tags }: Row): RowKey => ({
  quarter: FIRST_QUARTER + quarter,
  names: {
    ...recordOf(DIMENSIONS, () => ''),
    ...{ account: 'a', model, end_user: endUser, tags: tags.length > 0 ? JSON.stringify(tags) : '' },
  },
});

function segmentOf(rows: readonly Row[]): PackedSegment {
  const builder = new SegmentBuilder();
  for (const row of rows) builder.addRow(keyOf(row), { ...NOTHING, records: row.records, requests: row.records, cost_nano: row.cost });
  return packed(builder.columns());
}

const aRow = fc.record({
  quarter: fc.integer({ min: 0, max: 200 }),
  model: fc.constantFrom('m', 'n', 'ü'),
  endUser: fc.oneof(
    fc.constantFrom('', 'ada', 'ad', 'adaadaada', 'ädä'),
    fc.nat(300).map((at) => `user-${at}`),
  ),
  tags: fc.subarray(['x', 'y', 'z=1']),
  records: fc.constantFrom(1, 1, 1, -1, 0),
  cost: fc.integer({ min: -5, max: 5 }),
});
const someSegments = fc.array(fc.array(aRow, { minLength: 1, maxLength: 60 }), { maxLength: 5 });

const QUESTION = { accountId: 'a', livemode: true, from: '2026-09-01', to: '2026-09-02', timeZone: 'UTC' };

const namesIn = (row: Row, group: UsageDimension): readonly (string | null)[] =>
  group === 'tag' ? (row.tags.length > 0 ? row.tags : [null]) : group === 'model' ? [row.model] : [row.endUser || null];

/** The same, one request after the other. */
function oneByOne(rows: readonly Row[], groups: readonly UsageDimension[], isPerDay: boolean) {
  const wanted = rows.filter(({ quarter }) => quarter < 2 * 96);
  const sums = new Map<string, { records: number; requests: number; cost: number }>();
  for (const row of wanted)
    for (const g0 of namesIn(row, groups[0] ?? 'model'))
      for (const g1 of groups[1] === undefined ? [null] : namesIn(row, groups[1])) {
        const name = JSON.stringify([isPerDay ? (row.quarter < 96 ? '2026-09-01' : '2026-09-02') : null, g0, g1]);
        const sum = sums.get(name) ?? { records: 0, requests: 0, cost: 0 };
        sums.set(name, { records: sum.records + row.records, requests: sum.requests + row.records, cost: sum.cost + row.cost });
      }
  const shown = [...sums].filter(([, { records }]) => records !== 0);
  return {
    groups: new Map(shown.map(([name, { requests, cost }]) => [name, [String(requests), String(cost)]])),
    total: [wanted.reduce((sum, { records }) => sum + records, 0), wanted.reduce((sum, { cost }) => sum + cost, 0)].map(String),
  };
}

const figures = ({ requests, cost_nano }: GroupRow): string[] => [requests, cost_nano];
const named = (rows: readonly GroupRow[]) => new Map(rows.map((row) => [JSON.stringify([row.period, row.g0, row.g1]), figures(row)]));
const most = (segments: readonly PackedSegment[], groups: readonly UsageDimension[], isPerDay: boolean, mostGroups = 1_000) =>
  addUp({ question: { ...QUESTION, groups, per: isPerDay ? 'day' : undefined }, segments, mostGroups }) as CostlyGroups;

test('groups and total of several segments are the sums of their requests, by whatever groups', () => {
  const groupings: UsageDimension[][] = [['model'], ['end_user'], ['tag'], ['end_user', 'model'], ['model', 'tag'], ['tag', 'end_user']];
  fc.assert(
    fc.property(someSegments, fc.constantFrom(...groupings), fc.boolean(), (parts, groups, isPerDay) => {
      const answer = most(parts.map(segmentOf), groups, isPerDay);
      const wanted = oneByOne(parts.flat(), groups, isPerDay);
      expect([named(answer.rows), figures(answer.total)]).toEqual([wanted.groups, wanted.total]);
    }),
  );
});

test('the most costly groups are those of the whole list, with the same sums and the same total', () => {
  fc.assert(
    fc.property(someSegments, fc.integer({ min: 1, max: 20 }), (parts, limit) => {
      const segments = parts.map(segmentOf);
      const [all, some] = [most(segments, ['end_user', 'tag'], true), most(segments, ['end_user', 'tag'], true, limit)];
      const places = new Map(all.rows.map((row, at) => [row, at]));
      const costly = all.rows.toSorted((a, b) => Number(b.cost_nano) - Number(a.cost_nano)).slice(0, limit);
      const inOrder = costly.toSorted((a, b) => (places.get(a) ?? 0) - (places.get(b) ?? 0));
      expect(some).toEqual({ rows: inOrder, omitted: Math.max(all.rows.length - limit, 0), total: all.total });
    }),
  );
});

test('more groups than have places of their own are told apart', () => {
  const rows = Array.from({ length: 12_000 }, (_, at) => ({ ...NO_ROW, endUser: `user-${at % 6_000}`, run: `run-${at % 6_000}` }));
  const segments = [rows.slice(0, 5_000), rows.slice(5_000)].map((part) => {
    const builder = new SegmentBuilder();
    for (const row of part)
      builder.addRow({ ...keyOf(row), names: { ...keyOf(row).names, run: row.run } }, { ...NOTHING, records: 1, cost_nano: 1 });
    return packed(builder.columns());
  });
  const { rows: shown, omitted } = most(segments, ['end_user', 'run'], false, 1);
  expect([shown.map(({ g0, g1, cost_nano }) => [g0, g1, cost_nano]), omitted]).toEqual([[['user-0', 'run-0', '2']], 5_999]);
});

const NO_ROW: Row = { quarter: 0, model: 'm', endUser: '', tags: [], records: 1, cost: 1 };

test('segments that are merged have the same sums by everything, each key once, and only names of their rows', () => {
  const listed = (segments: readonly PackedSegment[]) => {
    const sums = new Map<string, number[]>();
    for (const { rows, quarters, names, sums: columns } of segments.map(unpacked))
      for (let row = 0; row < rows; row += 1) {
        const key = [quarters[row], ...DIMENSIONS.map((name) => nameAt(names[name], names[name].codes[row] ?? 0))].join('\0');
        const before = sums.get(key) ?? SEGMENT_SUMS.map(() => 0);
        sums.set(
          key,
          SEGMENT_SUMS.map((name, at) => (before[at] ?? 0) + (columns[name][row] ?? 0)),
        );
      }
    return new Map([...sums].filter(([, amounts]) => amounts.some((amount) => amount !== 0)));
  };
  fc.assert(
    fc.property(someSegments, (parts) => {
      const segments = parts.map(segmentOf);
      const merged = packed(mergedColumns(segments.map(unpacked)));
      expect(listed([merged])).toEqual(listed(segments));
      expect(merged.rows).toBe(listed(segments).size);
      const { names } = unpacked(merged);
      for (const name of DIMENSIONS) expect(names[name].count).toBe(new Set(names[name].codes).size);
    }),
  );
});

test('of many the first equal is found, also among those whose hashes collide', () => {
  const values = Uint32Array.from({ length: 40_000 }, (_, at) => (at * 7_919) % 20_011);
  for (const hashOf of [(value: number) => value % 5_003, (value: number) => Math.imul(value, 0x9e3779b1) >>> 0]) {
    const firsts = firstEquals(values.map(hashOf), (a, b) => values[a] === values[b]);
    const known = new Map<number, number>();
    for (const [at, value] of values.entries()) if (!known.has(value)) known.set(value, at);
    expect(firsts).toEqual(values.map((value) => known.get(value) ?? 0));
  }
});
