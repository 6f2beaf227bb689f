import { afterEach, expect, test, vi } from 'vitest';
import { Calendar, OUTSIDE } from './calendar.ts';
import { QUARTER_MS } from './segment.ts';

afterEach(() => {
  vi.restoreAllMocks();
});

const quarterOf = (time: string): number => Date.parse(time) / QUARTER_MS;

/** In which day a quarter of an hour is, and in which minute of its hour, by the clock on the wall. */
function wallOf(timeZone: string): (quarter: number) => { day: string; minute: number } {
  const format = new Intl.DateTimeFormat('en', { timeZone, year: 'numeric', month: '2-digit', day: '2-digit', minute: 'numeric' });
  return (quarter) => {
    const parts = Object.fromEntries(format.formatToParts(quarter * QUARTER_MS).map(({ type, value }) => [type, value]));
    return { day: `${parts['year']}-${parts['month']}-${parts['day']}`, minute: Number(parts['minute']) };
  };
}

test.each([
  ['UTC', '2026-11-20', '2026-11-22'],
  ['Europe/Berlin', '2026-03-28', '2026-03-30'],
  ['Europe/Berlin', '2026-10-24', '2026-10-26'],
  ['America/St_Johns', '2026-11-01', '2026-11-02'],
  ['Asia/Kathmandu', '2026-11-20', '2026-11-21'],
  // Its clock is moved by half an hour.
  ['Australia/Lord_Howe', '2026-04-04', '2026-04-06'],
  ['Africa/Casablanca', '2026-02-14', '2026-02-16'],
])('hours and days of %s from %s to %s are those of its clock', (timeZone, from, to) => {
  const [first, last] = [quarterOf(`${from}T00:00:00Z`) - 96, quarterOf(`${to}T00:00:00Z`) + 192];
  const [hours, days] = (['hour', 'day'] as const).map((per) => {
    const calendar = new Calendar({ from, to, timeZone, per });
    return Array.from(calendar.between(first, last), (period) => (period === OUTSIDE ? undefined : calendar.periods[period]));
  });
  const onTheWall = wallOf(timeZone);
  for (let quarter = first; quarter <= last; quarter += 1) {
    const { day, minute } = onTheWall(quarter);
    const isIn = day >= from && day <= to;
    const hourMs = quarter * QUARTER_MS - minute * 60_000;
    expect(days?.[quarter - first]).toBe(isIn ? day : undefined);
    expect(Date.parse(hours?.[quarter - first] ?? '')).toBe(isIn ? hourMs : Number.NaN);
  }
});

test('a month of a time zone takes few readings of its clock', () => {
  const read = vi.spyOn(Intl.DateTimeFormat.prototype, 'formatToParts');
  const calendar = new Calendar({ from: '2026-10-01', to: '2026-10-31', timeZone: 'Europe/Berlin', per: 'hour' });
  calendar.between(quarterOf('2026-09-30T00:00:00Z'), quarterOf('2026-11-02T00:00:00Z'));
  expect(calendar.periods).toHaveLength(31 * 24 + 1);
  expect(read.mock.calls.length).toBeLessThan(200);
});
