import type { SetLimitRequest, UsageRow } from '@tallygate/sdk';
import { day, usd } from './format.ts';

export type Period = SetLimitRequest['period'];

/** The month before this one, UTC: its first and its last day. */
export function lastMonth(now = new Date()): { readonly from: string; readonly to: string } {
  const at = (monthsBack: number, date: number) =>
    new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - monthsBack, date)).toISOString().slice(0, 10);
  return { from: at(1, 1), to: at(0, 0) };
}

const costOf = (row: UsageRow): number => Number(row.cost_usd);
const sumOf = (rows: readonly UsageRow[]): number => rows.reduce((sum, row) => sum + costOf(row), 0);

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
 * @param rows of the days, or one sum of the month without a day
 */
export function whatIf(cap: string, period: Period, rows: readonly UsageRow[]): string {
  const most = Number(cap);
  if (cap === '' || Number.isNaN(most)) return '';
  const spent = sumOf(rows);
  if (spent === 0) return 'Nothing was spent last month: it would have stopped nothing.';
  if (period === 'day') return ofDays(most, rows);
  if (period === 'hour' || period === 'week') return `Last month ${usd(spent.toFixed(9))} was spent.`;
  if (spent <= most) return `Last month ${usd(spent.toFixed(9))} was spent: nothing would have been stopped.`;
  const on = reachedOn(rows, most);
  const over = usd((spent - most).toFixed(9));
  return `Last month ${usd(spent.toFixed(9))} was spent: it would have stopped requests${on ? ` from ${day(on)} on` : ''}, ${over} of it.`;
}

function ofDays(most: number, rows: readonly UsageRow[]): string {
  const over = rows.filter((row) => row.day !== undefined && costOf(row) > most);
  if (over.length === 0) return 'On no day of last month it would have stopped anything.';
  return `Last month it would have stopped requests on ${over.length === 1 ? 'one day' : `${over.length} days`}.`;
}
