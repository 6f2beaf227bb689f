import type { RateLane } from '../adapters/lanes/port.ts';
import { RateLanes, type RateTake } from '../adapters/lanes/rate-lanes.ts';
import type { UpstreamAllowance, UpstreamAnswer, UpstreamFault, UpstreamProvider } from '../adapters/upstream/port.ts';
import { steadyMs } from '../kernel/clock.ts';
import type { EventSocket } from '../kernel/web-socket/event-socket.ts';

/** What this gateway may ask of a provider with one of its keys; null where nothing is set. */
export type ProviderLimits = Pick<RateLane, 'requestsPerMinute' | 'tokensPerMinute' | 'concurrency'>;

/**
 * What is left of a provider's limits. Its tokens are known when an answer has ended: a call is sent as long as those of the last minute are
 * below the limit.
 */
export class ProviderAllowance implements UpstreamAllowance {
  readonly limits: ProviderLimits;
  readonly #rates = new RateLanes();
  readonly #lane: RateLane;
  readonly #now: () => number;

  /** @param now milliseconds, as `steadyMs` */
  constructor(limits: ProviderLimits, now: () => number = steadyMs) {
    this.limits = limits;
    this.#lane = { id: '', owner: 'contract', ...limits };
    this.#now = now;
  }

  freeInMs(): number {
    const refused = this.#rates.refusal(this.#drawing(), this.#now());
    return refused ? Math.max(1, refused.retryAfterMs ?? 1) : 0;
  }

  /** To be called when `freeInMs` is 0. @returns to be called once the call has ended */
  take(): () => void {
    const taken = this.#rates.take(this.#drawing());
    let hasEnded = false;
    return () => {
      if (!hasEnded) this.#rates.release(taken);
      hasEnded = true;
    };
  }

  used(tokens: number): void {
    const nothing: RateTake = { tokens: 0, marks: [{ lane: this.#lane, end: 0 }] };
    this.#rates.correct(nothing, tokens, this.#now());
  }

  #drawing = () => ({ lanes: [this.#lane], tokens: 0 });
}

/** The provider, asked within its limits alone: what is beyond them is a fault, and not sent. */
export function withinLimits(upstream: UpstreamProvider, allowance: ProviderAllowance): UpstreamProvider {
  const { read, connect } = upstream;
  return {
    serves: (endpoint, model) => upstream.serves(endpoint, model),
    ...(upstream.readsGoogleFields && { readsGoogleFields: (model) => upstream.readsGoogleFields?.(model) ?? false }),
    ...(upstream.takesServiceTiers && { takesServiceTiers: true }),
    async call(call) {
      const waitMs = allowance.freeInMs();
      if (waitMs > 0) return beyondLimits(waitMs);
      const end = allowance.take();
      const answer = await upstream.call(call);
      if (answer.ok) return untilItsEnd(answer, end);
      end();
      return answer;
    },
    ...(read && { read: (what) => read.call(upstream, what) }),
    ...(connect && {
      async connect(opening) {
        const waitMs = allowance.freeInMs();
        if (waitMs > 0) return beyondLimits(waitMs);
        const end = allowance.take();
        const connection = await connect.call(upstream, opening);
        if (connection.ok) return { ok: true, socket: openUntilItsEnd(connection.socket, end) };
        end();
        return connection;
      },
    }),
    close: () => upstream.close(),
  };
}

const untilItsEnd = (answer: UpstreamAnswer, end: () => void): UpstreamAnswer => ({
  ok: true,
  status: answer.status,
  contentType: answer.contentType,
  header: (name) => answer.header?.(name) ?? null,
  collect: (maxBytes, onTooLarge) => answer.collect(maxBytes, onTooLarge).finally(end),
  pump: (onChunk, onTooLarge) => answer.pump(onChunk, onTooLarge).finally(end),
  abort() {
    answer.abort();
    end();
  },
  usageSoFar: () => answer.usageSoFar?.(),
  get hasUsageDecreased() {
    return answer.hasUsageDecreased ?? false;
  },
});

const openUntilItsEnd = (socket: EventSocket, end: () => void): EventSocket => ({
  pump: (take) => socket.pump(take).finally(end),
  send: (frame) => socket.send(frame),
  close(code, reason) {
    socket.close(code, reason);
    end();
  },
});

const beyondLimits = (retryAfterMs: number): UpstreamFault => ({
  ok: false,
  kind: 'rate_limited',
  retryable: true,
  status: null,
  retryAfterMs,
  message: 'The limits that are set for this provider are used up.',
  param: null,
  code: null,
  isOwnLimit: true,
});
