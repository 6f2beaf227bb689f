/** One of the limits that a request counted for. */
export interface RateLimit {
  /** Per minute, of the key or the plan, whichever leaves less. */
  readonly limit: number;
  readonly remaining: number;
  /** Until all of it is there again, milliseconds. */
  readonly resetMs: number;
}

/** What is left of the rate limits after an answer; a kind is `undefined` where nothing limits it. */
export interface RateLimits {
  readonly requests: RateLimit | undefined;
  readonly tokens: RateLimit | undefined;
}

/** Reads OpenAI's `x-ratelimit-*` headers; `undefined` where there are none. */
export function rateLimitsOf(headers: Headers): RateLimits | undefined {
  const requests = rateLimit(headers, 'requests');
  const tokens = rateLimit(headers, 'tokens');
  return requests || tokens ? { requests, tokens } : undefined;
}

function rateLimit(headers: Headers, kind: 'requests' | 'tokens'): RateLimit | undefined {
  const text = (name: string) => headers.get(`x-ratelimit-${name}-${kind}`);
  const [limit, remaining, reset] = [text('limit'), text('remaining'), text('reset')];
  if (limit === null || remaining === null) return undefined;
  return { limit: Number(limit), remaining: Number(remaining), resetMs: durationMs(reset ?? '') };
}

const MS_OF_UNIT: Readonly<Record<string, number>> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000 };

/** OpenAI's notation of times to wait: `120ms`, `1.5s`, `6m0s`, `1h2m3s`. */
function durationMs(text: string): number {
  const parts = [...text.matchAll(/(\d+(?:\.\d+)?)(ms|s|m|h)/g)];
  return Math.round(parts.reduce((sum, [, amount, unit = '']) => sum + Number(amount) * (MS_OF_UNIT[unit] ?? 0), 0));
}
