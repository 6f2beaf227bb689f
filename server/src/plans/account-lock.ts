import type { Pool, PoolClient } from 'pg';
import { createGate } from '../kernel/gate.ts';
import { inTransaction } from '../kernel/transaction.ts';

/** One transaction's connection. */
export type Unit = Pick<PoolClient, 'query'>;

/** Connections that billing may hold at once: while it asks the payment provider, it keeps one. */
const MOST_AT_ONCE = 2;

/**
 * Runs work on an account's billing in one transaction that nobody else, in any process, can run at the same time for that account. So
 * what it reads at the payment provider is still the newest when it is written down.
 */
export function createAccountLock(pool: Pool) {
  const inTurn = createGate(MOST_AT_ONCE);

  return <T>(accountId: string, work: (unit: Unit) => Promise<T>): Promise<T> =>
    inTurn(() =>
      inTransaction(pool, async (client) => {
        await client.query("select pg_advisory_xact_lock(hashtextextended('billing:' || $1, 0))", [accountId]);
        return work(client);
      }),
    );
}

export type Exclusively = ReturnType<typeof createAccountLock>;
