/** Where the present comes from; tests hand in their own. */
export interface Clock {
  /** Milliseconds since the Unix epoch. */
  now(): number;
}

export const systemClock: Clock = { now: () => Date.now() };

/** A UTC calendar month, `YYYY-MM`. */
export type Month = string;

export const monthOf = (epochMs: number): Month => new Date(epochMs).toISOString().slice(0, 7);

/** A UTC calendar day, `YYYY-MM-DD`. */
export const dayOf = (epochMs: number): string => new Date(epochMs).toISOString().slice(0, 10);

export const monthStart = (month: Month): Date => new Date(`${month}-01T00:00:00.000Z`);

/** The first instant of the month after. */
export function monthEnd(month: Month): Date {
  const start = monthStart(month);
  return new Date(Date.UTC(start.getUTCFullYear(), start.getUTCMonth() + 1, 1));
}

/** RFC 3339 in UTC, milliseconds included: the only form in which times leave the service. */
export const rfc3339 = (at: Date | number): string => new Date(at).toISOString();
