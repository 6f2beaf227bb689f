import type { SetLimitRequest, UsageRow } from '@tallygate/sdk';
import { day, NANO_DIGITS, usd } from './format.ts';

export type Period = SetLimitRequest['period'];

/** The month before this one, UTC: its first and its last day. */
export function lastMonth(now = new Date()): { readonly from: string; readonly to: string } {
  const at = (monthsBack: number, date: number) =>
    new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - monthsBack, date)).toISOString().slice(0, 10);
  return { from: at(1, 1), to: at(0, 0) };
}

const costOf = (row: UsageRow): number => Number(row.cost_usd);
/** What was added up, without zeros at its end. */
const written = (amount: number): string => usd(amount.toFixed(NANO_DIGITS).replace(/\.?0+$/, ''));
const sumOf = (rows: readonly UsageRow[]): number => rows.reduce((sum, row) => sum + costOf(row), 0);

/** What usage has to be told apart by to say what a cap of the period would have done: windows begin at full hours, days and Mondays. */
export const perOf = (period: Period): 'hour' | 'day' => (period === 'hour' ? 'hour' : 'day');

const DAY_MS = 86_400_000;
const MONDAY = 1;
const DAYS_OF_WEEK = 7;

/** The window that a row belongs to, by its first day or hour. */
function windowOf({ day: date, hour }: UsageRow, period: Period): string {
  if (period === 'hour') return hour ?? '';
  if (period !== 'week' || date === undefined) return period === 'day' ? (date ?? '') : '';
  const at = new Date(`${date}T00:00:00Z`);
  const sinceMonday = (at.getUTCDay() - MONDAY + DAYS_OF_WEEK) % DAYS_OF_WEEK;
  return new Date(at.getTime() - sinceMonday * DAY_MS).toISOString().slice(0, 10);
}

/** The day on which so much was spent together; undefined where it never was. */
function reachedOn(rows: readonly UsageRow[], cap: number): string | undefined {
  let spent = 0;
  const days = rows.filter((row) => row.day !== undefined).toSorted((a, b) => (a.day ?? '').localeCompare(b.day ?? ''));
  return days.find((row) => {
    spent += costOf(row);
    return spent > cap;
  })?.day;
}

/**
 * What a cap would have done to the usage of last month, in a sentence.
 *
 * @param rows of the hours or days, as `perOf` says
 */
export function whatIf(cap: string, period: Period, rows: readonly UsageRow[]): string {
  const most = Number(cap);
  if (cap === '' || Number.isNaN(most)) return '';
  const spent = sumOf(rows);
  if (spent === 0) return 'Nothing was spent last month: it would have stopped nothing.';
  if (period === 'hour' || period === 'day' || period === 'week') return ofWindows(most, period, rows);
  if (spent <= most) return `Last month ${written(spent)} was spent: nothing would have been stopped.`;
  const on = reachedOn(rows, most);
  const over = written(spent - most);
  return `Last month ${written(spent)} was spent: it would have stopped requests${on ? ` from ${day(on)} on` : ''}, ${over} of it.`;
}

function ofWindows(most: number, period: 'hour' | 'day' | 'week', rows: readonly UsageRow[]): string {
  const windows = [...Map.groupBy(rows, (row) => windowOf(row, period)).values()].map(sumOf);
  const over = windows.filter((spent) => spent > most);
  const dearest = written(Math.max(...windows));
  if (over.length === 0) return `In no ${period} of last month it would have stopped anything: the dearest was ${dearest}.`;
  const lost = written(over.reduce((sum, spent) => sum + spent - most, 0));
  const times = over.length === 1 ? `one ${period}` : `${over.length} ${period}s`;
  return `Last month it would have stopped requests in ${times}, ${lost} of it; the dearest was ${dearest}.`;
}
