import type { RateDraw, RateLane, RateRefused, RateStatus, RateWindow } from './port.ts';

/**
 * A level is what was taken and has not drained yet, in sixty-thousandths of a unit: a limit of n per minute drains exactly n of them a
 * millisecond, so that all arithmetic is on integers, and a limit may be changed while it is in use.
 */
const PARTS = 60_000;
/** Far below 2^53, with room for the largest limit above it. */
const MOST_DRAINED = 2 ** 52;
const RETRY_CONCURRENCY_MS = 1_000;

/** How full a lane is. */
export interface RateLevel {
  requests: number;
  tokens: number;
  running: number;
}

interface Counter extends RateLevel {
  /** Up to when it has drained, epoch milliseconds. */
  at: number;
  /** All tokens that ever drained or were given back, in parts: where in the queue of tokens its head is. */
  drained: number;
}

/** What one hold has of one lane, kept until its settlement. */
interface Mark {
  readonly lane: RateLane;
  /** Where in the lane's queue of tokens those of the hold end. */
  readonly end: number;
}

export interface RateTake {
  readonly tokens: number;
  readonly marks: readonly Mark[];
}

/**
 * Token buckets that drain continuously (the generic cell rate algorithm, counted the other way round): in any span of t minutes at most
 * limit × (1 + t) units pass. Every method works on one moment and has no await in it; a store in another process runs the same steps in
 * one script.
 */
export class RateLanes {
  readonly #counters = new Map<string, Counter>();

  /** The refusal with the longest wait; undefined when every lane has room. */
  refusal(draw: RateDraw, at: number): RateRefused | undefined {
    return refusalAt(
      draw,
      draw.lanes.map((lane) => this.#drain(lane, at)),
    );
  }

  /** To be called in the same step as `refusal`, once everything else agrees too. */
  take({ lanes, tokens }: RateDraw): RateTake {
    const marks = lanes.map((lane) => {
      const counter = this.#counter(lane.id);
      counter.requests += PARTS;
      counter.tokens += tokens * PARTS;
      counter.running += 1;
      return { lane, end: counter.drained + counter.tokens };
    });
    return { tokens, marks };
  }

  /** The hold runs no longer. */
  release({ marks }: RateTake): void {
    for (const { lane } of marks) this.#counter(lane.id).running -= 1;
  }

  /**
   * Puts the tokens right. Of those not used, only what is still in the queue is given back: what has drained meanwhile has let others
   * pass already. So the level is never below that of the tokens really used, and never negative.
   */
  correct({ marks, tokens }: RateTake, used: number, at: number): void {
    for (const { lane, end } of marks) {
      const counter = this.#drain(lane, at);
      if (used >= tokens) {
        counter.tokens += (used - tokens) * PARTS;
        continue;
      }
      const left = end - counter.drained;
      // Beyond the tail of the queue lies only what a restart of the count has orphaned.
      const given = left > counter.tokens ? 0 : Math.max(0, Math.min(left, (tokens - used) * PARTS));
      counter.tokens -= given;
      counter.drained += given;
    }
  }

  /** Of a request that came to no hold. A lane that is full stays as full as it is. */
  takeRefused(lanes: readonly RateLane[], at: number): RateStatus {
    for (const lane of lanes) {
      const counter = this.#drain(lane, at);
      if (waitFor(counter, 'requests', lane.requestsPerMinute ?? 0, 0) === 0) counter.requests += PARTS;
    }
    return this.status(lanes);
  }

  status(lanes: readonly RateLane[]): RateStatus {
    return statusAt(
      lanes,
      lanes.map((lane) => this.#counter(lane.id)),
    );
  }

  /** As they stand at that moment. Nothing is taken or drained, and what is not known stays unknown. */
  glance(lanes: readonly RateLane[], at: number): RateStatus {
    return statusAt(
      lanes,
      lanes.map((lane) => levelAt(lane, this.#counters.get(lane.id), at)),
    );
  }

  /** A lane at rest is the same as one that is not known. */
  forgetIdle(beforeMs: number): void {
    for (const [id, { running, at }] of this.#counters) if (running === 0 && at < beforeMs) this.#counters.delete(id);
  }

  #counter(id: string): Counter {
    const known = this.#counters.get(id);
    if (known) return known;
    const counter = { at: 0, requests: 0, tokens: 0, drained: 0, running: 0 };
    this.#counters.set(id, counter);
    return counter;
  }

  #drain(lane: RateLane, at: number): Counter {
    const counter = this.#counter(lane.id);
    // A clock that is set back drains nothing backwards.
    if (at <= counter.at) return counter;
    const { requests, tokens } = levelAt(lane, counter, at);
    counter.at = at;
    counter.drained = counter.drained > MOST_DRAINED ? 0 : counter.drained + counter.tokens - tokens;
    counter.requests = requests;
    counter.tokens = tokens;
    return counter;
  }
}

/** What a level that was counted at an earlier time has drained to. One that is not known is empty. */
function levelAt(lane: RateLane, counted: (RateLevel & { readonly at: number }) | undefined, at: number): RateLevel {
  if (!counted) return { requests: 0, tokens: 0, running: 0 };
  const elapsedMs = Math.max(0, at - counted.at);
  // Without a limit nothing is asked of the level, and it must not stand in the way of a limit that is set later.
  const left = (level: number, limit: number | null) => (limit === null ? 0 : Math.max(0, level - elapsedMs * limit));
  return {
    requests: left(counted.requests, lane.requestsPerMinute),
    tokens: left(counted.tokens, lane.tokensPerMinute),
    running: counted.running,
  };
}

/** Which lane refuses at these levels, with the longest wait; undefined when every lane has room. */
export function refusalAt({ lanes, tokens }: RateDraw, levels: readonly RateLevel[]): RateRefused | undefined {
  let worst: Omit<RateRefused, 'rates'> | undefined;
  for (const [index, lane] of lanes.entries()) {
    const level = levels[index];
    if (!level) continue;
    for (const kind of KINDS) {
      const limit = limitOf(lane, kind);
      const waitMs = limit === null ? 0 : waitFor(level, kind, limit, tokens);
      if (limit === null || waitMs === 0 || (worst && !isLonger(waitMs, worst.retryAfterMs))) continue;
      worst = { held: false, refusedBy: lane, kind, limit, retryAfterMs: waitMs };
    }
  }
  return worst && { ...worst, rates: statusAt(lanes, levels) };
}

/** Of each kind the limit that leaves least at these levels. */
export function statusAt(lanes: readonly RateLane[], levels: readonly RateLevel[]): RateStatus {
  let requests: RateWindow | null = null;
  let tokens: RateWindow | null = null;
  for (const [index, lane] of lanes.entries()) {
    const level = levels[index];
    if (!level) continue;
    requests = tighter(requests, level.requests, lane.requestsPerMinute);
    tokens = tighter(tokens, level.tokens, lane.tokensPerMinute);
  }
  return { requests, tokens };
}

const KINDS = ['requests', 'tokens', 'concurrency'] as const;

function limitOf(lane: RateLane, kind: (typeof KINDS)[number]): number | null {
  switch (kind) {
    case 'requests':
      return lane.requestsPerMinute;
    case 'tokens':
      return lane.tokensPerMinute;
    case 'concurrency':
      return lane.concurrency;
    default:
      return kind satisfies never;
  }
}

/** Milliseconds until it fits, rounded up; 0 when it fits now, null when it never will. */
function waitFor(level: RateLevel, kind: (typeof KINDS)[number], limit: number, tokens: number): number | null {
  if (kind === 'concurrency') return level.running < limit ? 0 : RETRY_CONCURRENCY_MS;
  const wanted = kind === 'requests' ? 1 : tokens;
  if (wanted > limit) return null;
  const excess = level[kind] + (wanted - limit) * PARTS;
  return excess <= 0 ? 0 : Math.ceil(excess / limit);
}

const isLonger = (a: number | null, b: number | null): boolean => b !== null && (a === null || a > b);

function tighter(sofar: RateWindow | null, level: number, limit: number | null): RateWindow | null {
  if (limit === null) return sofar;
  const remaining = Math.max(0, Math.floor((limit * PARTS - level) / PARTS));
  if (sofar && (sofar.remaining < remaining || (sofar.remaining === remaining && sofar.limit <= limit))) return sofar;
  return { limit, remaining, resetMs: Math.ceil(level / limit) };
}
