import { rfc3339 } from '../../../kernel/clock.ts';
import { QUARTER_MS } from './segment.ts';

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
  readonly #known = new Map<string, number>();
  readonly #quarters = new Map<number, number>();
  readonly #clockOf: (epochMs: number) => { day: string; minutes: number };

  constructor(question: CalendarQuestion) {
    this.#question = question;
    this.#clockOf = clockOf(question.timeZone);
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
    const period = this.#periodAt(quarter * QUARTER_MS);
    this.#quarters.set(quarter, period);
    return period;
  }

  #periodAt(epochMs: number): number {
    const { from, to, per } = this.#question;
    const { day, minutes } = this.#clockOf(epochMs);
    if (day < from || day > to) return OUTSIDE;
    if (per === undefined) return 0;
    const name = per === 'day' ? day : rfc3339(epochMs - minutes * 60_000);
    const known = this.#known.get(name) ?? this.periods.push(name) - 1;
    this.#known.set(name, known);
    return known;
  }
}

const STYLE = { hourCycle: 'h23', year: 'numeric', month: '2-digit', day: '2-digit', minute: '2-digit', era: 'short' } as const;

function clockOf(timeZone: string): (epochMs: number) => { day: string; minutes: number } {
  if (timeZone === 'UTC') return (epochMs) => ({ day: rfc3339(epochMs).slice(0, 10), minutes: (epochMs / 60_000) % 60 });
  const format = new Intl.DateTimeFormat('en', { ...STYLE, timeZone });
  return (epochMs) => {
    const parts = Object.fromEntries(format.formatToParts(epochMs).map(({ type, value }) => [type, value]));
    return { day: `${parts['year']?.padStart(4, '0')}-${parts['month']}-${parts['day']}`, minutes: Number(parts['minute']) };
  };
}
