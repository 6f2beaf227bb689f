import type { PoolClient } from 'pg';
import { CLOSED_ACCOUNT_NAME } from './account.ts';
import { NO_PASSWORD } from './passwords.ts';

/**
 * Closes an account that somebody else's form made and nobody claimed: it has no password, no session and no key, so nobody can close it. In
 * the caller's transaction.
 * @returns false for one that has an owner
 */
export async function closeUnclaimed(sql: Pick<PoolClient, 'query'>, userId: string, at: Date): Promise<boolean> {
  const { rows } = await sql.query<{ account_id: string }>(
    `update users set closed_at = $2, email = id || '@closed.invalid', name = null
     where id = $1 and closed_at is null and password_hash = $3 and email_verified_at is null returning account_id`,
    [userId, at, NO_PASSWORD],
  );
  const [closed] = rows;
  if (!closed) return false;
  await sql.query('update accounts set name = $2 where id = $1', [closed.account_id, CLOSED_ACCOUNT_NAME]);
  await sql.query('delete from mail_tokens where user_id = $1', [userId]);
  await sql.query('delete from mail_requests where user_id = $1', [userId]);
  return true;
}
