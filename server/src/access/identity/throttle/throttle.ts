import type { Pool, PoolClient } from 'pg';
import type { Clock } from '../../../kernel/clock.ts';
import { Problem } from '../../../kernel/problem.ts';
import { firstOf } from '../../../kernel/statements.ts';
import { inTransaction } from '../../../kernel/transaction.ts';
import { tables } from '../tables.ts';
import type { Limit } from './limits.ts';

const FORGET_SECONDS = 3_600;

/** An attempt that was let through. */
export interface Admitted {
  /** It was right: gives back what it had cost. An attempt without this counts as a failure. */
  succeeded(): Promise<void>;
  /** It could not be looked at: takes back that it was counted, and nothing else. */
  withdrawn(): Promise<void>;
}

/** Slows down guessing, over one table for any number of instances. */
export interface Throttle {
  /**
   * Counts an attempt before it is looked at, so that a hundred at once are a hundred.
   * @throws Problem `rate_limited` with the seconds to wait, when one of the limits pauses; then none of them counts it
   */
  admit(limits: readonly Limit[]): Promise<Admitted>;
  /** Deletes what is forgotten. */
  sweep(): Promise<void>;
}

export function createThrottle({ pool, clock }: { pool: Pool; clock: Clock }): Throttle {
  async function admit(limits: readonly Limit[]): Promise<Admitted> {
    // In one order for everybody, so that no two attempts wait for each other.
    const sorted = limits.toSorted((a, b) => a.key.compare(b.key));
    await inTransaction(pool, async (client) => {
      for (const limit of sorted) {
        if (await count(client, limit, new Date(clock.now()))) continue;
        const waitMs = await remainingMs(client, limit);
        throw tooMany(Math.max(1, Math.ceil(waitMs / 1000)));
      }
    });
    return {
      succeeded: () => giveBack(sorted),
      withdrawn: () => giveBack(sorted.map((limit) => ({ ...limit, onSuccess: 'refund' }))),
    };
  }

  /**
   * One statement: counts the attempt and says when the next may come, unless the limit pauses. Without a pause that is `epoch`
   * and not the present: clocks of two instances, and of two requests, differ by a little.
   */
  async function count(client: PoolClient, { key, free, longestPauseSeconds }: Limit, now: Date): Promise<boolean> {
    const { rowCount } = await client.query(
      `insert into throttles as t (key, attempts, blocked_until, attempted_at) values ($1, 1, 'epoch', $2)
       on conflict (key) do update set
         attempts = case when t.attempted_at < $2 - $3 * interval '1 second' then 1 else t.attempts + 1 end,
         blocked_until = case when t.attempted_at < $2 - $3 * interval '1 second' or t.attempts + 1 < $4 then 'epoch'
           else $2 + least($5, power(2, least(t.attempts + 1 - $4, 20))) * interval '1 second' end,
         attempted_at = $2
       where t.blocked_until <= $2`,
      [key, now, FORGET_SECONDS, free, longestPauseSeconds],
    );
    return rowCount === 1;
  }

  async function remainingMs(client: PoolClient, { key }: Limit): Promise<number> {
    const known = await firstOf(client, tables.selectFrom('throttles').select('blocked_until').where('key', '=', key));
    return (known?.blocked_until.getTime() ?? 0) - clock.now();
  }

  async function giveBack(limits: readonly Limit[]): Promise<void> {
    for (const { key, onSuccess } of limits) {
      if (onSuccess === 'forget') await pool.query('delete from throttles where key = $1', [key]);
      // A pause that is under way stays: else one's own right password would end the pause that guessing at others' had earned.
      else await pool.query('update throttles set attempts = greatest(attempts - 1, 0) where key = $1', [key]);
    }
  }

  return {
    admit,
    async sweep() {
      await pool.query(`delete from throttles where attempted_at < $1::timestamptz - $2 * interval '1 second'`, [
        new Date(clock.now()),
        FORGET_SECONDS,
      ]);
    },
  };
}

const tooMany = (seconds: number): Problem =>
  new Problem('rate_limited', `Too many attempts: repeat in ${seconds} ${seconds === 1 ? 'second' : 'seconds'}.`, {
    retryAfterSeconds: seconds,
  });
