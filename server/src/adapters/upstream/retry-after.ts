type Headers = Readonly<Record<string, string | string[] | undefined>>;

const PLAIN_NUMBER = /^\d{1,12}(\.\d{1,12})?$/;

/**
 * When the provider wants to be asked again, milliseconds from `nowMs`: `retry-after-ms` (which OpenAI and Azure send),
 * else `Retry-After` in seconds or as an HTTP date (RFC 9110, 10.2.3). Null where there is neither, or nonsense.
 * Not bounded: the caller decides how long it waits.
 */
export function retryAfterMs(headers: Headers, nowMs: number): number | null {
  const exact = first(headers['retry-after-ms']);
  if (exact !== undefined && PLAIN_NUMBER.test(exact)) return Math.ceil(Number(exact));
  const after = first(headers['retry-after']);
  if (after === undefined) return null;
  if (PLAIN_NUMBER.test(after)) return Math.ceil(Number(after) * 1000);
  // Date.parse takes a lot for a date, `-5` for one; an HTTP date begins with the day's name.
  const date = /^[A-Za-z]{3}/.test(after) ? Date.parse(after) : Number.NaN;
  return Number.isNaN(date) ? null : Math.max(0, date - nowMs);
}

const first = (value: string | string[] | undefined): string | undefined => (Array.isArray(value) ? value[0] : value)?.trim();
