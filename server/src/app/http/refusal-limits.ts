import type { IncomingMessage } from 'node:http';
import { networkOf } from '../../access/identity/index.ts';
import { Problem } from '../../kernel/problem.ts';
import type { Exchange } from './exchange.ts';
import type { PeerAddress } from './peer-address.ts';
import type { ServedRoute } from './router.ts';

interface RefusalLimitsDeps {
  /** How many refusals a minute get a reason, per caller, or per network without a credential. */
  readonly perMinute: number;
  readonly peerAddress: PeerAddress;
}

/** What is left of a limit, and of when that is. */
interface Bucket {
  left: number;
  at: number;
}

const MINUTE_MS = 60_000;
/** From then on buckets that are full again are looked for. */
const MOST_BUCKETS = 10_000;

/**
 * Refused requests outside of inference, which counts its own among the requests of its callers. Counted by who is calling: the person or the
 * key where a credential was proven, the network where none was, so that a flood of one leaves everybody else alone, behind the same address
 * too: a proven credential is never refused for what its network did. In the memory of this process, as a brake and not as a quota.
 */
export class RefusalLimits {
  readonly #deps: RefusalLimitsDeps;
  readonly #buckets = new Map<string, Bucket>();

  constructor(deps: RefusalLimitsDeps) {
    this.#deps = deps;
  }

  /**
   * Before the body is read. What is public and takes no body is never refused here: it costs no more than the refusal.
   * @throws Problem `rate_limited` for a caller who has been refused too often
   */
  requireRoom(exchange: Exchange, route: ServedRoute): void {
    if (this.#buckets.size === 0 || route.countsRefusals || (!exchange.grant && takesNoBody(exchange.req))) return;
    const name = this.#nameOf(exchange);
    const bucket = this.#buckets.get(name);
    if (!bucket) return;
    this.#refill(bucket, exchange.startedAt);
    if (bucket.left < 1) throw this.#tooMany(bucket);
  }

  /** Counts a refusal. @returns what is answered: the refusal itself, or that there were too many of them */
  count(problem: Problem, exchange: Exchange, route: ServedRoute): Problem {
    const isFaultOfCaller = problem.status < 500 && problem.status !== 429;
    const isPublicRead = !exchange.grant && problem.status !== 401 && takesNoBody(exchange.req);
    if (!isFaultOfCaller || isPublicRead || (route.countsRefusals && exchange.grant)) return problem;
    const name = this.#nameOf(exchange);
    const bucket = this.#buckets.get(name) ?? this.#newBucket(name, exchange.startedAt);
    this.#refill(bucket, exchange.startedAt);
    if (bucket.left < 1) return this.#tooMany(bucket, problem);
    bucket.left -= 1;
    return problem;
  }

  #nameOf({ grant, req }: Exchange): string {
    if (!grant) return `network ${networkOf(this.#deps.peerAddress(req))}`;
    const { principal } = grant;
    if (principal.kind === 'management') return `management key ${principal.managementKeyId}`;
    return principal.kind === 'key' ? `key ${principal.keyId}` : `user ${principal.userId}`;
  }

  #newBucket(name: string, at: number): Bucket {
    if (this.#buckets.size >= MOST_BUCKETS) this.#forgetFull(at);
    const bucket = { left: this.#deps.perMinute, at };
    this.#buckets.set(name, bucket);
    return bucket;
  }

  #forgetFull(now: number): void {
    for (const [name, bucket] of this.#buckets) {
      this.#refill(bucket, now);
      if (bucket.left >= this.#deps.perMinute) this.#buckets.delete(name);
    }
    // An attacker with so many networks is not stopped by counting them: the oldest go, and the memory stays bounded.
    for (const name of this.#buckets.keys()) {
      if (this.#buckets.size < MOST_BUCKETS) break;
      this.#buckets.delete(name);
    }
  }

  #refill(bucket: Bucket, now: number): void {
    const { perMinute } = this.#deps;
    bucket.left = Math.min(perMinute, bucket.left + (Math.max(0, now - bucket.at) * perMinute) / MINUTE_MS);
    // If the clock was set back, nobody waits until it has caught up.
    bucket.at = now;
  }

  #tooMany({ left }: Bucket, refused?: Problem): Problem {
    const { perMinute } = this.#deps;
    const seconds = Math.max(1, Math.ceil(((1 - left) * MINUTE_MS) / perMinute / 1000));
    const detail = `More than ${perMinute} requests per minute were refused: mend them, and repeat in ${seconds} ${seconds === 1 ? 'second' : 'seconds'}.`;
    return new Problem('rate_limited', detail, { retryAfterSeconds: seconds, ...(refused && { because: `refused: ${refused.code}` }) });
  }
}

const takesNoBody = ({ method }: IncomingMessage): boolean => method === 'GET' || method === 'HEAD';
