import type { UsageQuestion } from '../usage-sources.ts';
import { type Calendar, OUTSIDE } from './calendar.ts';
import { unpackNames, unpackNumbers } from './packed-column.ts';
import { type Dimension, nameAt, type PackedSegment } from './segment.ts';

/** Rows of a segment that are asked for, and of each its period. */
export interface WantedRows {
  readonly rows: Uint32Array;
  readonly periods: Uint32Array;
}

export function wantedRows(question: UsageQuestion, calendar: Calendar, segment: PackedSegment): WantedRows {
  const quarters = unpackNumbers(segment.quarters, segment.rows);
  const [first, last] = extentOf(quarters);
  const periodOf = calendar.between(first, last);
  const conditions = conditionsOn(question, segment);
  const [rows, periods] = [new Uint32Array(segment.rows), new Uint32Array(segment.rows)];
  let count = 0;
  for (let row = 0; row < segment.rows; row += 1) {
    const period = periodOf[(quarters[row] ?? 0) - first] ?? OUTSIDE;
    if (period === OUTSIDE || (conditions.length > 0 && !conditions.every((holds) => holds(row)))) continue;
    rows[count] = row;
    periods[count] = period;
    count += 1;
  }
  return { rows: rows.subarray(0, count), periods: periods.subarray(0, count) };
}

function extentOf(quarters: Float64Array): [first: number, last: number] {
  let [first, last] = [quarters[0] ?? 0, quarters[0] ?? 0];
  for (let row = 0; row < quarters.length; row += 1) {
    const quarter = quarters[row] ?? 0;
    if (quarter < first) first = quarter;
    if (quarter > last) last = quarter;
  }
  return [first, last];
}

type Condition = (row: number) => boolean;

/** What holds of a row that is asked for, without what holds of all. */
function conditionsOn({ accountId, model, keyId, runId, seen }: UsageQuestion, segment: PackedSegment): Condition[] {
  const named = (dimension: Dimension, isIt: (name: string) => boolean): Condition[] => {
    const names = unpackNames(segment[dimension], segment.rows);
    const are = Array.from({ length: names.count }, (_, at) => isIt(nameAt(names, at)));
    return are.every(Boolean) ? [] : [(row) => are[names.codes[row] ?? 0] === true];
  };
  const given = { account: accountId, model, key: keyId, run: runId };
  const conditions = Object.entries(given).flatMap(([dimension, value]) =>
    value === undefined ? [] : named(dimension as Dimension, (name) => name === value),
  );
  if (!seen) return conditions;
  const [own] = named('member', (name) => name === seen.userId);
  const [inProject] = named('project', (name) => seen.projects.includes(name));
  return own && inProject ? [...conditions, (row) => own(row) || inProject(row)] : conditions;
}
