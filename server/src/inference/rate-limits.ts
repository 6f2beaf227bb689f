import type { LaneStore, RateDraw, RateLane, RateRefused, RateStatus } from '../adapters/lanes/port.ts';
import { Problem } from '../kernel/problem.ts';
import { planOf, TEST_RATES } from '../plans/index.ts';
import { type Call, type Caller, isLive, limitsOf } from './call.ts';

/**
 * What the call takes of its rate limits: those of its key, and those of the plan, which all keys of the account share. As OpenAI does it,
 * tokens are the prompt by its length and the bound that the caller sets on the answer; without one the answer counts once it is known. What
 * an estimate misses is put right at the settlement.
 */
export function rateDraw(call: Call): RateDraw {
  const { estimatedTokens, output } = call.work;
  return { lanes: rateLanesOf(call.grant), tokens: estimatedTokens + (output ? (output.asked ?? 0) * output.choices : 0) };
}

function rateLanesOf(grant: Caller): RateLane[] {
  const { principal, plan } = grant;
  const { accountId } = principal;
  const isLiveCall = isLive(principal);
  const lanes: RateLane[] = [
    { id: `rate:${accountId}:${isLiveCall ? 'live' : 'test'}`, owner: 'plan', ...(isLiveCall ? planOf(plan).rates : TEST_RATES) },
  ];
  const own = limitsOf(grant)?.rates;
  if (own && principal.kind === 'key') lanes.unshift({ id: `rate:${accountId}:key:${principal.keyId}`, owner: 'key', ...own });
  return lanes;
}

/**
 * The headers of a refusal that took nothing of the limits, so that a client that reads them on every answer reads them here too. Without a
 * store to ask there are none: what is wrong with the request is worth more than they are.
 */
export async function presentRateHeaders(lanes: Pick<LaneStore, 'rates'>, grant: Caller, at: number): Promise<Record<string, string>> {
  try {
    return rateHeaders(await lanes.rates(grant.principal.accountId, rateLanesOf(grant), at));
  } catch {
    return {};
  }
}

/** OpenAI's headers, on every answer to a caller who is known. */
export function rateHeaders(status: RateStatus | undefined): Record<string, string> {
  const { requests, tokens } = status ?? {};
  return {
    ...(requests && {
      'x-ratelimit-limit-requests': String(requests.limit),
      'x-ratelimit-remaining-requests': String(requests.remaining),
      'x-ratelimit-reset-requests': openAiDuration(requests.resetMs),
    }),
    ...(tokens && {
      'x-ratelimit-limit-tokens': String(tokens.limit),
      'x-ratelimit-remaining-tokens': String(tokens.remaining),
      'x-ratelimit-reset-tokens': openAiDuration(tokens.resetMs),
    }),
  };
}

/** `0s`, `120ms`, `1.5s`, `6m0s`: the form in which OpenAI writes times to wait. */
function openAiDuration(milliseconds: number): string {
  if (milliseconds > 0 && milliseconds < 1000) return `${milliseconds}ms`;
  const minutes = Math.floor(milliseconds / 60_000);
  const seconds = (milliseconds % 60_000) / 1000;
  return minutes > 0 ? `${minutes}m${seconds}s` : `${seconds}s`;
}

const OWNERS = { key: 'this API key', plan: 'your plan' };

export function rateLimited({ refusedBy, kind, limit, retryAfterMs, rates }: RateRefused): Problem {
  const owner = OWNERS[refusedBy.owner];
  const headers = rateHeaders(rates);
  if (retryAfterMs === null) {
    const detail = `The request counts for more than the ${limit} tokens per minute of ${owner}: lower max_tokens, or shorten the prompt.`;
    // It never fits, so a client that repeats it by itself would do so in vain.
    return new Problem('rate_limited', detail, { headers: { ...headers, 'x-should-retry': 'false' } });
  }
  const retryAfterSeconds = Math.max(1, Math.ceil(retryAfterMs / 1000));
  const what = kind === 'concurrency' ? `${limit} requests at the same time` : `${limit} ${kind} per minute`;
  const unit = retryAfterSeconds === 1 ? 'second' : 'seconds';
  const detail = `The limit of ${what} of ${owner} is reached: repeat the request in ${retryAfterSeconds} ${unit}.`;
  return new Problem('rate_limited', detail, { retryAfterSeconds, headers });
}
