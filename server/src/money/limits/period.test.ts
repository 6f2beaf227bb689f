import { expect, test } from 'vitest';
import { windowAt } from './period.ts';

const at = (text: string) => Date.parse(text);
const windowOf = (period: Parameters<typeof windowAt>[0], zone: string, text: string) => {
  const { start, end } = windowAt(period, zone, at(text));
  return [start, end].map((moment) => moment && new Date(moment).toISOString().replace(':00.000', ''));
};

test.each([
  ['hour', 'UTC', '2026-11-25T21:30:00Z', '2026-11-25T21:00Z', '2026-11-25T22:00Z'],
  ['hour', 'Asia/Kathmandu', '2026-11-25T21:30:00Z', '2026-11-25T21:15Z', '2026-11-25T22:15Z'],
  ['day', 'Europe/Berlin', '2026-11-25T23:30:00Z', '2026-11-25T23:00Z', '2026-11-26T23:00Z'],
  ['week', 'America/New_York', '2026-11-30T03:00:00Z', '2026-11-23T05:00Z', '2026-11-30T05:00Z'],
  ['month', 'Pacific/Auckland', '2026-11-30T11:30:00Z', '2026-11-30T11:00Z', '2026-12-31T11:00Z'],
] as const)('a %s in %s is what the clocks there say', (period, zone, moment, start, end) => {
  expect(windowOf(period, zone, moment)).toEqual([start, end]);
});

test('a day on which clocks change is 23 or 25 hours long', () => {
  expect(windowOf('day', 'Europe/Berlin', '2026-03-29T10:00:00Z')).toEqual(['2026-03-28T23:00Z', '2026-03-29T22:00Z']);
  expect(windowOf('day', 'Europe/Berlin', '2026-10-25T10:00:00Z')).toEqual(['2026-10-24T22:00Z', '2026-10-25T23:00Z']);
});

test('a day without a midnight begins when the clocks are put forward', () => {
  expect(windowOf('day', 'America/Asuncion', '2024-10-06T12:00:00Z')).toEqual(['2024-10-06T04:00Z', '2024-10-07T03:00Z']);
});

test('windows follow each other without a gap, over a year of hours', () => {
  for (const zone of ['UTC', 'Europe/Berlin', 'America/Havana', 'Australia/Lord_Howe', 'Africa/Casablanca']) {
    for (const period of ['day', 'week', 'month'] as const) {
      let end = windowAt(period, zone, at('2026-01-01T12:00:00Z')).end ?? 0;
      while (end < at('2027-01-01T12:00:00Z')) {
        const next = windowAt(period, zone, end);
        expect(next.start).toBe(end);
        expect(windowAt(period, zone, (next.end ?? 0) - 1)).toEqual(next);
        end = next.end ?? 0;
      }
    }
  }
});

test('a lifetime has no end', () => {
  expect(windowAt('lifetime', 'UTC', 0)).toEqual({ start: null, end: null });
});
