import { expect, test } from 'vitest';
import { SteadyClock } from './steady-clock.ts';

const START = Date.parse('2026-11-30T12:00:00Z');
const DAY = 86_400_000;

/** A machine: what passes is seen by all of its clocks but where it sleeps; what is set by the time of day alone. */
function machine() {
  const at = { timeOfDay: START, elapsed: 5_000.25, sinceBoot: 3_600_000 };
  const clock = new SteadyClock({ timeOfDay: () => at.timeOfDay, elapsed: () => at.elapsed, sinceBoot: () => at.sinceBoot });
  const pass = (ms: number) => {
    for (let left = ms; left > 0; left -= 1_000) {
      const step = Math.min(left, 1_000);
      for (const name of ['timeOfDay', 'elapsed', 'sinceBoot'] as const) at[name] += step;
      clock.now();
    }
  };
  const sleep = (ms: number) => {
    at.timeOfDay += ms;
    at.sinceBoot += ms;
  };
  return { at, clock, pass, sleep };
}

test.each([40_000, -40_000, 31 * DAY, -31 * DAY, -200 * DAY])('a time of day that leaps by %d ms is not followed', (leap) => {
  const { at, clock, pass } = machine();
  pass(10_000);
  at.timeOfDay += leap;
  pass(600_000);
  expect(Math.abs(clock.now() - (START + 610_000))).toBeLessThanOrEqual(300);
  expect(Math.abs(clock.differenceMs - leap)).toBeLessThanOrEqual(301);
});

test('a small difference is made up for, and never by a leap', () => {
  const { at, clock, pass } = machine();
  at.timeOfDay += 200;
  let last = clock.now();
  for (let second = 0; second < 600; second += 1) {
    pass(1_000);
    const now = clock.now();
    expect(now - last).toBeGreaterThanOrEqual(999);
    expect(now - last).toBeLessThanOrEqual(1_001);
    last = now;
  }
  expect(Math.abs(clock.differenceMs)).toBeLessThan(1);
});

test('a machine that was suspended continues at the current time', () => {
  const { clock, pass, sleep } = machine();
  pass(5_000);
  sleep(8 * 3_600_000);
  pass(2_000);
  expect(Math.abs(clock.now() - (START + 8 * 3_600_000 + 7_000))).toBeLessThanOrEqual(10);
});

test('the clock of the database is followed from the start, and no leap of it or of the time of day after that', () => {
  const { at, clock, pass } = machine();
  clock.set(START - 31 * DAY);
  expect(clock.now()).toBe(START - 31 * DAY);
  pass(60_000);
  at.timeOfDay += DAY;
  clock.compare(START - 31 * DAY + 60_000 + 100);
  pass(600_000);
  expect(Math.abs(clock.now() - (START - 31 * DAY + 660_100))).toBeLessThanOrEqual(1);
  clock.compare(START);
  pass(60_000);
  expect(clock.now()).toBeLessThan(START - 31 * DAY + 721_000);
});
