import type { LaneStore, RateDraw, RateLane, RateRefused, RateStatus, RateWindow } from '../../adapters/lanes/port.ts';
import { steadyMs } from '../../kernel/clock.ts';
import { Problem } from '../../kernel/problem.ts';
import { limitRates } from '../../money/limits/index.ts';
import type { PlanBook, RateLimits } from '../../money/plans/index.ts';
import { type Call, isLive, limitsOf, reservedFor } from './call.ts';
import type { Caller } from './call-context.ts';
import { namesOf } from './caller-lanes.ts';

/**
 * What the call takes of its rate limits: those of its key, and those of the plan, which all keys of the account share. As OpenAI does it,
 * tokens are the prompt by its length and the bound that the caller sets on the answer; without one the answer counts once it is known. What
 * an estimate misses is put right at the settlement.
 */
interface Limits {
  readonly plans: Pick<PlanBook, 'of'>;
  /** Of all test keys of an account together. */
  readonly testRates: RateLimits;
}

export function rateDraw(call: Call, model: string | undefined, limits: Limits): RateDraw {
  const { estimatedTokens, output } = call.work;
  const { spending } = call.grant;
  const lanes = rateLanesOf(call.grant, limits);
  if (spending) lanes.push(...limitRates(spending, namesOf(call, model)));
  return { lanes, tokens: estimatedTokens + (output ? (output.asked ?? 0) * output.choices : 0) };
}

function rateLanesOf(grant: Caller, { plans, testRates }: Limits): RateLane[] {
  const { principal, plan } = grant;
  const { accountId } = principal;
  const isLiveCall = isLive(principal);
  const reserved = isLiveCall ? reservedFor(grant) : undefined;
  const lanes: RateLane[] = [
    reserved
      ? { id: `rate:${accountId}:dedicated`, owner: 'contract', ...reserved }
      : isLiveCall
        ? { id: `rate:${accountId}:live`, owner: 'plan', ...plans.of(plan).rates }
        : { id: `rate:${accountId}:test`, owner: 'test_keys', ...testRates },
  ];
  const own = limitsOf(grant)?.rates;
  if (own && principal.kind === 'key') lanes.unshift({ id: `rate:${accountId}:key:${principal.keyId}`, owner: 'key', ...own });
  return lanes;
}

/**
 * The headers of a refusal that took nothing of the limits, so that a client that reads them on every answer reads them here too. Without a
 * store to ask there are none: what is wrong with the request is worth more than they are.
 */
export async function presentRateHeaders({ lanes, ...limits }: RateDeps, grant: Caller): Promise<Record<string, string>> {
  try {
    return rateHeaders(await lanes.rates(grant.principal.accountId, rateLanesOf(grant, limits)));
  } catch {
    return {};
  }
}

interface RateDeps extends Limits {
  readonly lanes: Pick<LaneStore, 'rates' | 'countRefused'>;
}

/**
 * Counts requests that are refused before they get as far as a hold among the requests of their caller: nobody may have bodies read and
 * checked faster than answers. What needs no hold because no provider is called is counted here, too. Who has no request left is refused
 * until there is one, before anything of the next body is read; that is remembered in this process, and costs the requests that are served
 * nothing.
 */
export class RefusedRequests {
  readonly #deps: RateDeps;
  readonly #now: () => number;
  /** By caller, when a request fits again. */
  readonly #waiting = new Map<string, RateRefused & { readonly until: number }>();

  /** @param now milliseconds, as `steadyMs` */
  constructor(deps: RateDeps, now: () => number = steadyMs) {
    this.#deps = deps;
    this.#now = now;
  }

  /** @throws Problem `rate_limited` for a caller whose refused requests have used up what there was */
  requireRoom(grant: Caller): void {
    if (this.#waiting.size === 0) return;
    const name = nameOf(grant);
    const waiting = this.#waiting.get(name);
    if (!waiting) return;
    const isInForce = rateLanesOf(grant, this.#deps).some(
      ({ id, requestsPerMinute }) => id === waiting.refusedBy.id && requestsPerMinute === waiting.limit,
    );
    const retryAfterMs = waiting.until - this.#now();
    if (isInForce && retryAfterMs > 0) throw rateLimited({ ...waiting, retryAfterMs }, NOT_OF_TOKENS);
    this.#waiting.delete(name);
  }

  /** Counts one. @returns the headers of its refusal; none without a store to ask: what is wrong with the request is worth more than they are */
  async count(grant: Caller): Promise<Record<string, string>> {
    const lanes = rateLanesOf(grant, this.#deps);
    try {
      const rates = await this.#deps.lanes.countRefused(grant.principal.accountId, lanes);
      const { requests } = rates;
      const lane = lanes.find(({ requestsPerMinute }) => requestsPerMinute === requests?.limit);
      if (requests && lane && requests.remaining === 0) this.#remember(nameOf(grant), { lane, requests, rates });
      return rateHeaders(rates);
    } catch {
      return {};
    }
  }

  #remember(name: string, { lane, requests, rates }: { lane: RateLane; requests: RateWindow; rates: RateStatus }): void {
    const now = this.#now();
    if (this.#waiting.size >= MOST_WAITING) for (const [one, { until }] of this.#waiting) if (until <= now) this.#waiting.delete(one);
    const { limit, resetMs } = requests;
    // All of it is there after `resetMs`, and the last of it but one this much earlier.
    const retryAfterMs = Math.max(1, Math.ceil(resetMs - ((limit - 1) * MINUTE_MS) / limit));
    this.#waiting.set(name, { held: false, refusedBy: lane, kind: 'requests', limit, retryAfterMs, rates, until: now + retryAfterMs });
  }
}

/** Waiting cures every limit on requests. */
const NOT_OF_TOKENS = '';
const MINUTE_MS = 60_000;
/** From then on those that wait no longer are looked for. */
const MOST_WAITING = 10_000;

const nameOf = ({ principal }: Caller): string => (principal.kind === 'key' ? principal.keyId : principal.accountId);

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

const OWNERS: Readonly<Record<RateLane['owner'], string>> = {
  ...{
    key: 'this API key',
    plan: 'your plan',
    test_keys: 'the test keys of your account',
    contract: 'your contract',
    account: 'your account',
    project: 'the project',
  },
  ...{ member: 'the owner of this API key or session', run: 'the agent run', end_user: 'the end user', tag: 'the tag', model: 'the model' },
};

/** Names the subject of a limit of the account; the account and the caller themselves need no name. */
function ownerOf({ owner, id }: RateRefused['refusedBy']): string {
  const [, subject = ''] = owner === 'member' ? [] : (OF_LIMIT.exec(id) ?? []);
  return subject === '' ? OWNERS[owner] : `${OWNERS[owner]} ${subject}`;
}
const OF_LIMIT = /^rate:[^:]+:limit:[^:]+:[^:]+:[^:]+:(.*)$/s;

/** @param cheaper what makes the request count for less, as an advice */
export function rateLimited({ refusedBy, kind, limit, retryAfterMs, rates }: RateRefused, cheaper: string): Problem {
  const owner = ownerOf(refusedBy);
  const headers = rateHeaders(rates);
  if (retryAfterMs === null) {
    const detail = `The request counts for more than the ${limit} tokens per minute of ${owner}: ${cheaper}.`;
    // It never fits, so a client that repeats it by itself would do so in vain.
    return new Problem('rate_limited', detail, { headers: { ...headers, 'x-should-retry': 'false' } });
  }
  const retryAfterSeconds = Math.max(1, Math.ceil(retryAfterMs / 1000));
  const what = kind === 'concurrency' ? `${limit} requests at the same time` : `${limit} ${kind} per minute`;
  const unit = retryAfterSeconds === 1 ? 'second' : 'seconds';
  const detail = `The limit of ${what} of ${owner} is reached: repeat the request in ${retryAfterSeconds} ${unit}.`;
  return new Problem('rate_limited', detail, { retryAfterSeconds, headers });
}
