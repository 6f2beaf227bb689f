import type { Nonces } from '../../inference/calls/index.ts';
import type { RedisConnection } from './connect.ts';

/** Longer than any signature is accepted: its time may lie five minutes ahead when it first arrives, and five behind when it comes again. */
const REMEMBERED_MS = 11 * 60_000;

/** Nonces that were used at any gateway on the same Redis. One that cannot be looked up rejects: a replay is not let through. */
export class RedisNonces implements Nonces {
  readonly #redis: RedisConnection;
  readonly #prefix: string;

  constructor(redis: RedisConnection, prefix: string) {
    this.#redis = redis;
    this.#prefix = prefix;
  }

  async isFirst(nonce: string): Promise<boolean> {
    return (await this.#redis.set(`${this.#prefix}:nonce:${nonce}`, '1', 'PX', REMEMBERED_MS, 'NX')) === 'OK';
  }
}
