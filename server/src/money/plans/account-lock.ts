import type { Pool, PoolClient } from 'pg';
import { createGate } from '../../kernel/gate.ts';
import { inTransaction } from '../../kernel/transaction.ts';

/** One transaction's connection. */
export interface Unit extends Pick<PoolClient, 'query'> {
  /** False: of the payment sandbox, whose billing is in tables of its own. */
  readonly livemode: boolean;
}

/** Connections that billing may hold at once: while it asks the payment provider, it keeps one. */
const MOST_AT_ONCE = 2;

/**
 * Runs work on an account's billing in one transaction that nobody else, in any process, can run at the same time for that account. So
 * what it reads at the payment provider is still the newest when it is written down. Run again after a deadlock, it gives the provider the same
 * commands under the same idempotency keys, which has no further effect.
 */
export function createAccountLock(pool: Pool, livemode: boolean) {
  const inTurn = createGate(MOST_AT_ONCE);

  return <T>(accountId: string, work: (unit: Unit) => Promise<T>): Promise<T> =>
    inTurn(() =>
      inTransaction(pool, async (client) => {
        await client.query("select pg_advisory_xact_lock(hashtextextended('billing:' || $1, 0))", [accountId]);
        return work({ query: client.query.bind(client), livemode });
      }),
    );
}

export type Exclusively = ReturnType<typeof createAccountLock>;
