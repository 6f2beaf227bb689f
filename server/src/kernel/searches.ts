import type { Pool } from 'pg';
import { createGate } from './gate.ts';
import { invalidInput } from './invalid-input.ts';
import { Problem } from './problem.ts';
import type { Queryable } from './statements.ts';
import { inSnapshot } from './transaction.ts';

const MOST_OF_ONE = 10;
const OF_ONE_AT_ONCE = 2;
const MOST_MS = 10_000;
/** SQLSTATE query_canceled. */
const CANCELED = '57014';

interface Own {
  readonly inTurn: ReturnType<typeof createGate>;
  asked: number;
}

interface Bounds {
  readonly mostMs?: number;
}

/**
 * Reads that may go through everything of an account to find nothing, and go on when their client has left. Those of one account take two
 * connections, and all together a quarter of the pool: nobody else waits for them.
 */
export class Searches {
  readonly #pool: Pool;
  readonly #inTurn: ReturnType<typeof createGate>;
  readonly #mostMs: number;
  readonly #own = new Map<string, Own>();

  constructor(pool: Pool, { mostMs = MOST_MS }: Bounds = {}) {
    this.#pool = pool;
    this.#inTurn = createGate(Math.max(1, Math.floor(pool.options.max / 4)));
    this.#mostMs = mostMs;
  }

  /**
   * @param whose the account that asks
   * @throws Problem `rate_limited` for one that asks for more before it has its answers, `validation_failed` for what takes longer than ten
   *   seconds: its query takes `from`
   */
  async run<T>(whose: string, read: (db: Queryable) => Promise<T>): Promise<T> {
    const own = this.#own.get(whose) ?? { inTurn: createGate(OF_ONE_AT_ONCE), asked: 0 };
    if (own.asked >= MOST_OF_ONE)
      throw new Problem('rate_limited', 'Too many searches are running: repeat when one of them is answered.', { retryAfterSeconds: 5 });
    own.asked += 1;
    this.#own.set(whose, own);
    try {
      return await own.inTurn(() => this.#inTurn(() => this.#inTime(read)));
    } finally {
      own.asked -= 1;
      if (own.asked === 0) this.#own.delete(whose);
    }
  }

  #inTime<T>(read: (db: Queryable) => Promise<T>): Promise<T> {
    return inSnapshot(this.#pool, async (client) => {
      await client.query(`set local statement_timeout = ${this.#mostMs}`);
      return read(client);
    }).catch((error: unknown) => {
      if (error instanceof Error && 'code' in error && error.code === CANCELED) throw tooMuch();
      throw error;
    });
  }
}

const ofPools = new WeakMap<Pool, Searches>();

/** All lists of a pool share its bounds. */
export function searchesOf(pool: Pool): Searches {
  const searches = ofPools.get(pool) ?? new Searches(pool);
  ofPools.set(pool, searches);
  return searches;
}

const tooMuch = () =>
  invalidInput([
    { loc: ['query', 'from'], msg: 'leaves too much to search: ask for a shorter time, by `from` and `to`', type: 'too_much' },
  ]);
