import { sql } from 'kysely';
import { firstOf, type Queryable } from '../../kernel/statements.ts';
import { CLOSED_ACCOUNT_NAME } from './account.ts';
import { NO_PASSWORD } from './passwords.ts';
import { tables } from './tables.ts';

/**
 * Closes an account that somebody else's form made and nobody claimed: it has no password, no session and no key, so nobody can close it. In
 * the caller's transaction.
 * @returns false for one that has an owner
 */
export async function closeUnclaimed(db: Queryable, userId: string, at: Date): Promise<boolean> {
  const closed = await firstOf(
    db,
    tables
      .updateTable('users')
      .set({ closed_at: at, email: sql<string>`id || '@closed.invalid'`, name: null })
      .where('id', '=', userId)
      .where('closed_at', 'is', null)
      .where('password_hash', '=', NO_PASSWORD)
      .where('email_verified_at', 'is', null)
      .returning('account_id'),
  );
  if (!closed) return false;
  await db.query('update accounts set name = $2 where id = $1', [closed.account_id, CLOSED_ACCOUNT_NAME]);
  await db.query('delete from mail_tokens where user_id = $1', [userId]);
  await db.query('delete from mail_requests where user_id = $1', [userId]);
  return true;
}
