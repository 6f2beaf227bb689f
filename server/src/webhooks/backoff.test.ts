import { expect, test } from 'vitest';
import { delayAfter, THREE_DAYS_MS } from './backoff.ts';

const HOUR_MS = 3_600_000;
/** All attempts of one delivery, with the same spread. */
const total = (random: number): number => {
  let sum = 0;
  for (let failures = 1; ; failures += 1) {
    const delay = delayAfter(failures, random);
    if (delay === undefined) return sum;
    sum += delay;
  }
};

test('a delivery is tried for three days, each time after a longer wait', () => {
  expect(total(0.5) / HOUR_MS).toBeCloseTo(71.6, 1);
  const delays = Array.from({ length: 10 }, (_, at) => delayAfter(at + 1, 0.5) ?? 0);
  expect(delays).toEqual(delays.toSorted((a, b) => a - b));
  expect([delayAfter(1, 0.5), delayAfter(11)]).toEqual([5_000, undefined]);
});

test('deliveries that fail together are spread, and none is given up before its endpoint counts as dead', () => {
  expect([delayAfter(4, 0), delayAfter(4, 1)]).toEqual([27 * 60_000, 33 * 60_000]);
  expect(total(0)).toBeGreaterThanOrEqual(THREE_DAYS_MS - 1);
});
