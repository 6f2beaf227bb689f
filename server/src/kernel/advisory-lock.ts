import type { Pool } from 'pg';
import * as z from 'zod';
import { checkedRow, type Queryable } from './statements.ts';

const Taken = z.object({ taken: z.boolean() });

/** Takes PostgreSQL's lock of that name for a session, unless another one has it. @param session a separate connection: its end frees the lock */
export async function tryLock(session: Queryable, name: string): Promise<boolean> {
  const answer = await checkedRow(session, Taken, 'select pg_try_advisory_lock(hashtextextended($1, 0)) as taken', [name]);
  return answer?.taken ?? false;
}

/** The same for a transaction, whose end frees it. */
export async function tryLockUntilEnd(client: Queryable, name: string): Promise<boolean> {
  const answer = await checkedRow(client, Taken, 'select pg_try_advisory_xact_lock(hashtextextended($1, 0)) as taken', [name]);
  return answer?.taken ?? false;
}

export async function unlock(session: Queryable, name: string): Promise<void> {
  await session.query('select pg_advisory_unlock(hashtextextended($1, 0))', [name]);
}

/**
 * Runs `work` under PostgreSQL's lock of that name, which ends with the process; `busy` where another one has it.
 * @param work told by its signal that the lock is lost, with the connection
 */
export async function underLock<T>(pool: Pool, name: string, work: (lost: AbortSignal) => Promise<T>): Promise<T | 'busy'> {
  const session = await pool.connect();
  const lost = new AbortController();
  const onLost = (error: Error) => lost.abort(error);
  session.on('error', onLost);
  try {
    return (await tryLock(session, name)) ? await work(lost.signal) : 'busy';
  } finally {
    session.off('error', onLost);
    session.release(true);
  }
}
