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
