import type { PostgresPool, PostgresPoolClient } from 'kysely';
import type pg from 'pg';
import { requireCommitted } from '../../kernel/transaction.ts';

/** What `pg` says of a pool whose connections are all in use. */
const BUSY = 'timeout exceeded when trying to connect';

/**
 * A part of a pool's connections, for one kind of work: a rush of it must not keep all other work waiting. It ends with the pool.
 *
 * @param most connections at once
 * @param timeoutMs how long anybody waits while all of the part are in use
 */
export function partOf(pool: pg.Pool, most: number, timeoutMs: number): PostgresPool {
  let lent = 0;
  const waiting = new Set<() => void>();

  const take = async (): Promise<void> => {
    if (lent < most) lent += 1;
    else
      await new Promise<void>((resolve, reject) => {
        const timer = setTimeout(() => {
          waiting.delete(mine);
          reject(new Error(BUSY));
        }, timeoutMs);
        const mine = () => {
          clearTimeout(timer);
          resolve();
        };
        waiting.add(mine);
      });
  };
  /** The one who waits longest is next. */
  const giveBack = (): void => {
    const [next] = waiting;
    if (!next) lent -= 1;
    else {
      waiting.delete(next);
      next();
    }
  };

  return {
    options: {},
    async connect() {
      await take();
      try {
        const client = await pool.connect();
        const query = client.query.bind(client) as PostgresPoolClient['query'];
        return {
          query: (async (sql: string, parameters: unknown[]) => {
            const answer = await query(sql, parameters);
            if (sql === 'commit') requireCommitted(answer);
            return answer;
          }) as PostgresPoolClient['query'],
          release: () => {
            client.release();
            giveBack();
          },
        };
      } catch (failure) {
        giveBack();
        throw failure;
      }
    },
    async end() {},
  };
}
