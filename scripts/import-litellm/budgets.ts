const SECONDS: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3_600, d: 86_400, w: 604_800, mo: 31 * 86_400 };
/** The windows of limits here, with the longest time that each may be. */
const WINDOWS = [
  ['hour', 3_600],
  ['day', 86_400],
  ['week', 604_800],
  ['month', 31 * 86_400],
] as const;
const LEAST_DAYS_OF_A_MONTH = 28;

export interface Budget {
  readonly usd: string;
  readonly period: 'hour' | 'day' | 'week' | 'month' | 'lifetime';
  /** What differs from what LiteLLM held, in words. */
  readonly stricter?: string;
}

/**
 * A budget in the shortest window here that is not shorter than its own, so that never more is let through. Without a duration LiteLLM never
 * resets it.
 */
export function budgetOf(usd: string, duration: string): Budget {
  if (duration === '') return { usd, period: 'lifetime' };
  const [, count = '', unit = ''] = /^(\d+)([a-z]+)$/.exec(duration) ?? [];
  const seconds = Number(count) * (SECONDS[unit] ?? Number.POSITIVE_INFINITY);
  const [period, longest] = WINDOWS.find(([, most]) => seconds <= most) ?? ['lifetime', 0];
  const isSame = seconds === longest || (period === 'month' && seconds >= LEAST_DAYS_OF_A_MONTH * 86_400);
  return {
    usd,
    period,
    ...(!isSame && { stricter: `a budget of ${usd} per ${duration} is a cap for the ${period} here, which is stricter` }),
  };
}
