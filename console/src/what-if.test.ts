import type { UsageRow } from '@tallygate/sdk';
import { expect, test } from 'vitest';
import { lastMonth, whatIf } from './what-if.ts';

const row = (at: string, cost_usd: string) => ({ [at.includes('T') ? 'hour' : 'day']: at, cost_usd }) as Partial<UsageRow> as UsageRow;
/** Friday, Monday, Tuesday, Sunday: three in one week. */
const DAYS = [row('2026-10-02', '4'), row('2026-10-05', '3'), row('2026-10-06', '3'), row('2026-10-11', '2')];

test('a monthly cap says from which day on it would have stopped, and how much', () => {
  expect(whatIf('8', 'month', DAYS)).toBe(
    'Last month $12.00 was spent: it would have stopped requests from Oct\u00a06,\u00a02026 on, $4.00 of it.',
  );
  expect(whatIf('12', 'month', DAYS)).toBe('Last month $12.00 was spent: nothing would have been stopped.');
});

test('a weekly cap is compared with weeks from Monday to Sunday', () => {
  expect(whatIf('5', 'week', DAYS)).toBe('Last month it would have stopped requests in one week, $3.00 of it; the dearest was $8.00.');
  expect(whatIf('8', 'week', DAYS)).toBe('In no week of last month it would have stopped anything: the dearest was $8.00.');
});

test('a daily cap is compared with each day, an hourly one with each hour', () => {
  expect(whatIf('2.5', 'day', DAYS)).toBe('Last month it would have stopped requests in 3 days, $2.50 of it; the dearest was $4.00.');
  const hours = [row('2026-10-05T08:00:00.000Z', '1'), row('2026-10-05T09:00:00.000Z', '2')];
  expect(whatIf('1', 'hour', hours)).toBe('Last month it would have stopped requests in one hour, $1.00 of it; the dearest was $2.00.');
});

test('nothing is said before a number is typed', () => {
  expect([whatIf('', 'month', DAYS), whatIf('1,5', 'month', DAYS)]).toEqual(['', '']);
});

test('last month is whole, also in January and after a short month', () => {
  expect(lastMonth(new Date('2027-01-31T12:00:00Z'))).toEqual({ from: '2026-12-01', to: '2026-12-31' });
  expect(lastMonth(new Date('2027-03-31T12:00:00Z'))).toEqual({ from: '2027-02-01', to: '2027-02-28' });
});
