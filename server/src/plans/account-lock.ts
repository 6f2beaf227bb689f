import type { Pool, PoolClient } from 'pg';

/** One transaction's connection. */
export type Unit = Pick<PoolClient, 'query'>;

/** Connections that billing may hold at once: while it asks the payment provider, it keeps one. */
const MOST_AT_ONCE = 2;

/**
 * Runs work on an account's billing in one transaction that nobody else, in any process, can run at the same time for that account. So
 * what it reads at the payment provider is still the newest when it is written down.
 */
export function createAccountLock(pool: Pool) {
  let running = 0;
  const waiting: (() => void)[] = [];
  const enter = async () => {
    if (running >= MOST_AT_ONCE) await new Promise<void>((resolve) => waiting.push(resolve));
    else running += 1;
  };
  const leave = () => {
    const next = waiting.shift();
    if (next) next();
    else running -= 1;
  };

  return async function exclusively<T>(accountId: string, work: (unit: Unit) => Promise<T>): Promise<T> {
    await enter();
    try {
      const client = await pool.connect();
      let isBroken = false;
      try {
        await client.query('begin');
        await client.query("select pg_advisory_xact_lock(hashtextextended('billing:' || $1, 0))", [accountId]);
        const result = await work(client);
        await client.query('commit');
        return result;
      } catch (error) {
        await client.query('rollback').catch(() => {
          isBroken = true;
        });
        throw error;
      } finally {
        client.release(isBroken);
      }
    } finally {
      leave();
    }
  };
}

export type Exclusively = ReturnType<typeof createAccountLock>;
