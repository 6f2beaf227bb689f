import { type Month, monthEnd, monthOf, monthStart, rfc3339 } from '../../kernel/clock.ts';

/** A UTC calendar month, in which a budget is counted. It follows from the clock: nothing is ever reset. */
export interface Period {
  readonly month: Month;
  readonly startsAt: string;
  /** First instant of the next one. */
  readonly resetsAt: string;
}

export const periodOf = (month: Month): Period => ({
  month,
  startsAt: rfc3339(monthStart(month)),
  resetsAt: rfc3339(monthEnd(month)),
});

export const periodAt = (epochMs: number): Period => periodOf(monthOf(epochMs));
