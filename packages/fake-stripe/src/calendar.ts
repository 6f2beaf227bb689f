import type { FakePrice } from './records.ts';

const DAY_SECONDS = 86_400;

/**
 * The end of the period that begins at `start`, both epoch seconds. A month ends on the anchor's day of the month, or on its last day where
 * it is shorter: 31 January, 28 February, 31 March.
 */
export function periodEnd(start: number, anchor: number, { recurring }: Pick<FakePrice, 'recurring'>): number {
  const count = recurring?.interval_count ?? 1;
  if (recurring?.interval === 'day') return start + count * DAY_SECONDS;
  if (recurring?.interval === 'week') return start + count * 7 * DAY_SECONDS;
  return addMonths(start, count * (recurring?.interval === 'year' ? 12 : 1), anchor);
}

export function addMonths(start: number, months: number, anchor: number): number {
  const at = new Date(start * 1000);
  const wanted = new Date(anchor * 1000).getUTCDate();
  const lastDay = new Date(Date.UTC(at.getUTCFullYear(), at.getUTCMonth() + months + 1, 0)).getUTCDate();
  const sinceMidnight = start % DAY_SECONDS;
  const midnight = Date.UTC(at.getUTCFullYear(), at.getUTCMonth() + months, Math.min(wanted, lastDay)) / 1000;
  return midnight + sinceMidnight;
}
