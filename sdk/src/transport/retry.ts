import { ConnectionError, isRetryableCode, type TallygateError, TimeoutError } from '../errors.ts';

const FIRST_DELAY_MS = 500;
const MAX_DELAY_MS = 8_000;
/** A service that asks for a longer wait than this gets its error thrown: no caller expects a call to sleep for minutes. */
const MAX_REQUESTED_DELAY_MS = 60_000;

/** @throws TypeError for what is no number from 0 on: compared with `NaN`, no number of attempts is ever enough */
export function checkedMaxRetries(maxRetries: number): number {
  if (maxRetries >= 0) return maxRetries;
  throw new TypeError(`maxRetries must be a number from 0 on, not ${maxRetries}.`);
}

/**
 * How long to wait before the same request is sent again, milliseconds; `undefined` when it must not be.
 * The service's `x-should-retry` wins, then what its error code says, then the status.
 */
export function retryDelayMs(error: TallygateError, attempt: number, random: () => number, nowMs: number): number | undefined {
  if (!isRetryable(error)) return undefined;
  const requested = error.headers && requestedDelayMs(error.headers, nowMs);
  if (requested !== undefined) return requested <= MAX_REQUESTED_DELAY_MS ? requested : undefined;
  const delay = Math.min(FIRST_DELAY_MS * 2 ** attempt, MAX_DELAY_MS);
  // Jitter takes up to a quarter off, so that clients that failed together do not return together.
  return delay * (1 - random() * 0.25);
}

function isRetryable(error: TallygateError): boolean {
  if (error instanceof ConnectionError || error instanceof TimeoutError) return true;
  if (error.status === undefined) return false;
  const verdict = error.headers?.get('x-should-retry');
  if (verdict === 'true') return true;
  if (verdict === 'false') return false;
  return isRetryableCode(error.code) ?? (error.status === 408 || error.status === 429 || error.status >= 500);
}

/** `retry-after-ms`, else `retry-after` in seconds or as an HTTP date (RFC 9110, 10.2.3). */
function requestedDelayMs(headers: Headers, nowMs: number): number | undefined {
  const milliseconds = Number(headers.get('retry-after-ms') || Number.NaN);
  if (milliseconds >= 0) return milliseconds;
  const after = headers.get('retry-after');
  if (!after) return undefined;
  const seconds = Number(after);
  if (seconds >= 0) return seconds * 1000;
  const date = Date.parse(after);
  return Number.isNaN(date) ? undefined : Math.max(0, date - nowMs);
}
