import { hash } from 'node:crypto';
import type { Pool } from 'pg';
import type { Queryable } from '../../../kernel/statements.ts';
import { networkOf } from './limits.ts';

const REMEMBERED_DAYS = 90;

/** Bound to the user: the table tells nobody which users share an address. */
const addressHash = (userId: string, address: string | null): Buffer =>
  hash('sha256', JSON.stringify([userId, networkOf(address)]), 'buffer');

/** The address proved itself as this user's, by a login or by a link from their mailbox. */
export async function rememberAddress(db: Queryable, userId: string, address: string | null, now: Date): Promise<void> {
  await db.query(
    `insert into known_addresses (user_id, address_hash, seen_at) values ($1, $2, $3)
     on conflict (user_id, address_hash) do update set seen_at = excluded.seen_at`,
    [userId, addressHash(userId, address), now],
  );
}

/** Whether the user was seen there in the last 90 days. Asks for an unknown user too, so that both take the same work. */
export async function isKnownAddress(pool: Pool, userId: string | undefined, address: string | null, now: Date): Promise<boolean> {
  const user = userId ?? '00000000-0000-0000-0000-000000000000';
  const { rowCount } = await pool.query(
    `select 1 from known_addresses where user_id = $1 and address_hash = $2 and seen_at > $3::timestamptz - $4 * interval '1 day'`,
    [user, addressHash(user, address), now, REMEMBERED_DAYS],
  );
  return rowCount === 1;
}
