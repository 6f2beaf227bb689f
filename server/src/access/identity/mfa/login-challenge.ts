import { hash, randomBytes } from 'node:crypto';
import type { EntityManager } from '@mikro-orm/postgresql';

const LIFETIME_MS = 5 * 60_000;
const MAX_TRIES = 5;
const WELL_FORMED = /^tgc_[A-Za-z0-9_-]{43}$/;

const tokenHash = (token: string): Buffer => hash('sha256', token, 'buffer');

export interface Challenge {
  /** `tgc_` and 256 random bits; it is stored as a hash. */
  readonly token: string;
  readonly expiresAt: Date;
}

/** The password was right: a second factor may now be tried, five times within five minutes. */
export async function openChallenge(unit: EntityManager, userId: string, now: Date): Promise<Challenge> {
  const token = `tgc_${randomBytes(32).toString('base64url')}`;
  const expiresAt = new Date(now.getTime() + LIFETIME_MS);
  await unit.execute('insert into login_challenges (token_hash, user_id, created_at, expires_at) values (?, ?, ?, ?)', [
    tokenHash(token),
    userId,
    now,
    expiresAt,
  ]);
  return { token, expiresAt };
}

/** Whose challenge it is, as long as it lives; it costs no try. */
export async function challengedUser(unit: EntityManager, token: string, now: Date): Promise<string | undefined> {
  if (!WELL_FORMED.test(token)) return undefined;
  const rows = await unit.execute<{ user_id: string }[]>(
    'select user_id from login_challenges where token_hash = ? and expires_at > ? and tries < ?',
    [tokenHash(token), now, MAX_TRIES],
  );
  return rows[0]?.user_id;
}

/**
 * Takes one of its tries before the code is looked at, in a transaction of its own: a wrong code must not give the try back with
 * the rest of its transaction.
 */
export async function takeTry(unit: EntityManager, token: string, now: Date): Promise<boolean> {
  const taken = await unit.execute<object[]>(
    'update login_challenges set tries = tries + 1 where token_hash = ? and expires_at > ? and tries < ? returning user_id',
    [tokenHash(token), now, MAX_TRIES],
  );
  return taken.length > 0;
}

/** Ends it with the login that it was for; false when another request was faster. */
export async function spendChallenge(unit: EntityManager, token: string): Promise<boolean> {
  return (
    (await unit.execute<object[]>('delete from login_challenges where token_hash = ? returning user_id', [tokenHash(token)])).length > 0
  );
}

/** Ends all of a user's: their password has changed since. */
export const dropChallenges = (unit: EntityManager, userId: string): Promise<unknown> =>
  unit.execute('delete from login_challenges where user_id = ?', [userId]);
