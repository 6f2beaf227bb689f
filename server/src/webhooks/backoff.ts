const [SECOND, MINUTE, HOUR] = [1_000, 60_000, 3_600_000];

/** After each failed attempt; together three days. */
const DELAYS_MS = [
  ...[5 * SECOND, 30 * SECOND, 5 * MINUTE, 30 * MINUTE],
  ...[2 * HOUR, 5 * HOUR, 10 * HOUR, 14 * HOUR, 16 * HOUR, 24 * HOUR],
];
/** Deliveries that failed together are not repeated together. */
const SPREAD = 0.1;

/** An endpoint that has answered nothing with 2xx for as long has failed every attempt of a delivery. */
export const THREE_DAYS_MS = DELAYS_MS.reduce((sum, delay) => sum + delay, 0) * (1 - SPREAD);

/** How long to wait after so many failures; undefined: it is not tried again. @param random in [0, 1) */
export function delayAfter(failures: number, random: number = Math.random()): number | undefined {
  const delay = DELAYS_MS[failures - 1];
  return delay === undefined ? undefined : Math.round(delay * (1 - SPREAD + 2 * SPREAD * random));
}
