import type { LimitPeriod } from '@tallygate/contract';

/** A period as it is around one moment, epoch milliseconds; `end` is the first moment after it. Null: from the beginning, without an end. */
export interface Window {
  readonly start: number | null;
  readonly end: number | null;
}

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const LIFETIME: Window = { start: null, end: null };

/** The last one of each zone and period: most requests are in it. */
const last = new Map<string, { readonly start: number; readonly end: number }>();
/** Zones are those that accounts have chosen. */
const clocks = new Map<string, Intl.DateTimeFormat>();

/**
 * The hour, day, week (from Monday) or month of a moment, as the clocks of the zone have it. A day is 23 or 25 hours long where they change.
 * @param zone an IANA name such as `Europe/Berlin`
 */
export function windowAt(period: LimitPeriod, zone: string, at: number): Window {
  if (period === 'lifetime') return LIFETIME;
  const name = `${period} ${zone}`;
  const known = last.get(name);
  if (known && at >= known.start && at < known.end) return known;
  const found = period === 'hour' ? hourAt(zone, at) : daysAt(period, zone, at);
  last.set(name, found);
  return found;
}

/** Offsets are not whole hours everywhere. */
function hourAt(zone: string, at: number) {
  const offset = offsetAt(zone, at);
  const start = Math.floor((at + offset) / HOUR_MS) * HOUR_MS - offset;
  return { start, end: start + HOUR_MS };
}

function daysAt(period: 'day' | 'week' | 'month', zone: string, at: number) {
  const local = new Date(at + offsetAt(zone, at));
  const [year, month, day] = [local.getUTCFullYear(), local.getUTCMonth(), local.getUTCDate()];
  const sinceMonday = (local.getUTCDay() + 6) % 7;
  switch (period) {
    case 'day':
      return { start: midnight(zone, Date.UTC(year, month, day)), end: midnight(zone, Date.UTC(year, month, day + 1)) };
    case 'week':
      return {
        start: midnight(zone, Date.UTC(year, month, day - sinceMonday)),
        end: midnight(zone, Date.UTC(year, month, day - sinceMonday + 7)),
      };
    case 'month':
      return { start: midnight(zone, Date.UTC(year, month, 1)), end: midnight(zone, Date.UTC(year, month + 1, 1)) };
    default:
      return period satisfies never;
  }
}

/**
 * When a day begins that UTC would begin at `wall`. Where clocks are put forward at midnight it is the moment of that; where they are put
 * back over midnight, the first of the two.
 */
function midnight(zone: string, wall: number): number {
  const early = wall - offsetAt(zone, wall - DAY_MS);
  const late = wall - offsetAt(zone, wall + DAY_MS);
  const isMidnight = (at: number) => at + offsetAt(zone, at) === wall;
  const [first, second] = early <= late ? [early, late] : [late, early];
  if (isMidnight(first)) return first;
  return isMidnight(second) ? second : early;
}

/** How far the clocks of the zone are ahead of UTC, milliseconds. */
function offsetAt(zone: string, at: number): number {
  const parts = new Map(
    clockOf(zone)
      .formatToParts(at)
      .map(({ type, value }) => [type, Number(value)]),
  );
  const read = (type: Intl.DateTimeFormatPartTypes) => parts.get(type) ?? 0;
  const wall = Date.UTC(read('year'), read('month') - 1, read('day'), read('hour'), read('minute'), read('second'));
  return wall - Math.floor(at / 1_000) * 1_000;
}

function clockOf(zone: string): Intl.DateTimeFormat {
  const known = clocks.get(zone);
  if (known) return known;
  const digits = { year: 'numeric', month: 'numeric', day: 'numeric', hour: 'numeric', minute: 'numeric', second: 'numeric' } as const;
  const clock = new Intl.DateTimeFormat('en-US', { timeZone: zone, hourCycle: 'h23', ...digits });
  clocks.set(zone, clock);
  return clock;
}
