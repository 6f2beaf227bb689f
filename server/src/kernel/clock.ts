import { SteadyClock } from './steady-clock.ts';

/** Where the present comes from; tests hand in their own. */
export interface Clock {
  /** Milliseconds since the Unix epoch. */
  now(): number;
}

/** Of this process: not moved by a time of day that is set. */
export const systemClock = new SteadyClock();

/** Whole milliseconds of this process that only go forward: no change of the time of day touches them, and a suspended machine stops them. */
export const steadyMs = (): number => Math.floor(performance.now());

/** A UTC calendar month, `YYYY-MM`. */
export type Month = string;

/** The month asked for last: nearly every moment that is asked for lies in the present one. */
let recent = { month: '', startMs: 0, endMs: 0 };

/** @throws RangeError for what is no time */
export function monthOf(epochMs: number): Month {
  if (!(epochMs >= recent.startMs && epochMs < recent.endMs)) recent = span(new Date(epochMs).toISOString().slice(0, 7));
  return recent.month;
}

/** A UTC calendar day, `YYYY-MM-DD`. */
export const dayOf = (epochMs: number): string => rfc3339(epochMs).slice(0, 10);

export const monthStart = (month: Month): Date => new Date(`${month}-01T00:00:00.000Z`);

/** The first instant of the month after. @throws RangeError */
export function monthEnd(month: Month): Date {
  if (month !== recent.month) recent = span(month);
  return new Date(recent.endMs);
}

/** @throws RangeError for what is no month: remembered, it would be the month of every later moment */
function span(month: Month): typeof recent {
  const start = monthStart(month);
  if (Number.isNaN(start.getTime())) throw new RangeError(`${month} is not a month`);
  return { month, startMs: start.getTime(), endMs: Date.UTC(start.getUTCFullYear(), start.getUTCMonth() + 1, 1) };
}

const SECOND_MS = 1000;
const SECOND_DIGITS = 'YYYY-MM-DDTHH:MM:SS.'.length;

/** The second written last, and how it begins. */
let writtenSecond = Number.NaN;
let written = '';

/** RFC 3339 in UTC, milliseconds included: the only form in which times leave the service. */
export function rfc3339(at: Date | number): string {
  const epochMs = Number(at);
  const second = Math.floor(epochMs / SECOND_MS);
  if (second !== writtenSecond) {
    // Years beyond 9999 have more digits, and no second in which they are worth remembering.
    const text = new Date(epochMs).toISOString();
    if (text.length !== SECOND_DIGITS + 4) return text;
    writtenSecond = second;
    written = text.slice(0, SECOND_DIGITS);
    return text;
  }
  return `${written}${String(Math.floor(epochMs) - second * SECOND_MS).padStart(3, '0')}Z`;
}
