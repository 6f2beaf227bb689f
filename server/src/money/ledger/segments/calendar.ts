import { dayOf, rfc3339 } from '../../../kernel/clock.ts';
import { QUARTER_MS } from './segment.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

interface CalendarQuestion {
  readonly from: string;
  readonly to: string;
  readonly timeZone: string;
  readonly per: 'hour' | 'day' | undefined;
}

/** Of none of the days asked for. */
export const OUTSIDE = -1;

/** In which of the hours or days asked for a quarter of an hour is. Every offset from UTC is a multiple of it. */
export class Calendar {
  /** Names of the periods, as they were found. */
  readonly periods: string[] = [];
  readonly #question: CalendarQuestion;
  readonly #known = new Map<number, number>();
  readonly #days = new Map<number, string>();
  readonly #quarters = new Map<number, number>();
  readonly #offsetAt: (quarter: number) => number;

  constructor(question: CalendarQuestion) {
    this.#question = question;
    this.#offsetAt = question.timeZone === 'UTC' ? () => 0 : offsetsOf(question.timeZone);
  }

  /** Of each quarter of an hour from one on and to another its period, or {@link OUTSIDE}. */
  between(first: number, last: number): Int32Array {
    const periods = new Int32Array(last - first + 1);
    for (let quarter = first; quarter <= last; quarter += 1) periods[quarter - first] = this.#periodOf(quarter);
    return periods;
  }

  #periodOf(quarter: number): number {
    const known = this.#quarters.get(quarter);
    if (known !== undefined) return known;
    const period = this.#periodAt(quarter * QUARTER_MS, this.#offsetAt(quarter));
    this.#quarters.set(quarter, period);
    return period;
  }

  #periodAt(epochMs: number, offsetMs: number): number {
    const { from, to, per } = this.#question;
    const localMs = epochMs + offsetMs;
    const day = this.#dayOf(Math.floor(localMs / DAY_MS));
    if (day < from || day > to) return OUTSIDE;
    if (per === undefined) return 0;
    const lengthMs = per === 'day' ? DAY_MS : HOUR_MS;
    const localStartMs = Math.floor(localMs / lengthMs) * lengthMs;
    // An hour of the clock may come twice in a day, a day does not.
    const startMs = per === 'day' ? localStartMs : localStartMs - offsetMs;
    const known = this.#known.get(startMs) ?? this.periods.push(per === 'day' ? day : rfc3339(startMs)) - 1;
    this.#known.set(startMs, known);
    return known;
  }

  #dayOf(number: number): string {
    const day = this.#days.get(number) ?? dayOf(number * DAY_MS);
    this.#days.set(number, day);
    return day;
  }
}

const STYLE = { hourCycle: 'h23', year: 'numeric', month: 'numeric', day: 'numeric', hour: 'numeric', minute: 'numeric' } as const;

/** So many quarters of an hour have one offset where both ends have it: no clock is moved twice within them. To ask for each takes 10 ms a month. */
const STRETCH = 24;

/** Of a time zone, by how much its clock is ahead of UTC at the beginning of a quarter of an hour. */
function offsetsOf(timeZone: string): (quarter: number) => number {
  const format = new Intl.DateTimeFormat('en', { ...STYLE, timeZone });
  const known = new Map<number, number>();
  const at = (quarter: number): number => {
    const epochMs = quarter * QUARTER_MS;
    const parts = Object.fromEntries(format.formatToParts(epochMs).map(({ type, value }) => [type, Number(value)]));
    const { year = 0, month = 0, day = 0, hour = 0, minute = 0 } = parts;
    return Date.UTC(year, month - 1, day, hour, minute) - epochMs;
  };
  const offsetAt = (quarter: number): number => {
    const offset = known.get(quarter) ?? at(quarter);
    known.set(quarter, offset);
    return offset;
  };
  return (quarter) => {
    const first = Math.floor(quarter / STRETCH) * STRETCH;
    const offset = offsetAt(first);
    return offset === offsetAt(first + STRETCH) ? offset : offsetAt(quarter);
  };
}
