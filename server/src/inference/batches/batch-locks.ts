import type { Pool, PoolClient } from 'pg';
import { tryLock, unlock } from '../../kernel/advisory-lock.ts';
import type { Log } from '../../kernel/log.ts';

/**
 * Of all processes one works on a batch at a time. The locks are PostgreSQL's own, all on one connection, which is there while there are
 * any: with the process its connection dies, and with that its locks.
 */
export class BatchLocks {
  readonly #pool: Pool;
  readonly #log: Log;
  readonly #held = new Map<string, AbortController>();
  #session: Promise<PoolClient> | undefined;
  #client: PoolClient | undefined;

  constructor(pool: Pool, log: Log) {
    this.#pool = pool;
    this.#log = log;
  }

  /**
   * Runs `work` under the batch's lock; `busy` where somebody else has it.
   * @param work told by its signal that the lock is lost
   */
  async under<T>(batchId: string, work: (lost: AbortSignal) => Promise<T>): Promise<T | 'busy'> {
    // To one session a lock is given as often as it asks for it.
    if (this.#held.has(batchId)) return 'busy';
    const lost = new AbortController();
    this.#held.set(batchId, lost);
    try {
      const session = await this.#connected();
      if (!(await tryLock(session, batchId))) return 'busy';
      try {
        return await work(lost.signal);
      } finally {
        await unlock(session, batchId).catch(() => this.#drop(session));
      }
    } finally {
      this.#held.delete(batchId);
      if (this.#held.size === 0) this.#disconnect();
    }
  }

  #connected(): Promise<PoolClient> {
    if (!this.#session) {
      const session = this.#pool.connect().then((client) => {
        // Once it is released it is the pool's to hear of.
        client.once('error', (error) => {
          if (this.#client !== client) return;
          this.#log.warn({ err: error }, 'the locks of the batches are lost');
          this.#drop(client);
        });
        this.#client = client;
        return client;
      });
      this.#session = session;
      session.catch(() => {
        if (this.#session === session) this.#session = undefined;
      });
    }
    return this.#session;
  }

  #drop(client: PoolClient): void {
    if (this.#client !== client) return;
    this.#session = undefined;
    this.#client = undefined;
    for (const lost of this.#held.values()) lost.abort();
    client.release(true);
  }

  #disconnect(): void {
    const client = this.#client;
    this.#session = undefined;
    this.#client = undefined;
    client?.release(true);
  }
}
