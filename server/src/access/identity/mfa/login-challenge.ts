import { hash, randomBytes } from 'node:crypto';
import type { EntityManager } from '@mikro-orm/postgresql';
import { sql } from 'kysely';
import { Problem } from '../../../kernel/problem.ts';
import { firstOf, inUnit, run } from '../../../kernel/statements.ts';
import { countPasskeys } from '../passkeys/user-passkeys.ts';
import { tables } from '../tables.ts';

const LIFETIME_MS = 5 * 60_000;
const MAX_TRIES = 5;
const WELL_FORMED = /^tgc_[A-Za-z0-9_-]{43}$/;

const tokenHash = (token: string): Buffer => hash('sha256', token, 'buffer');

export interface Challenge {
  /** `tgc_` and 256 random bits; it is stored as a hash. */
  readonly token: string;
  readonly expiresAt: Date;
  /** Whether a passkey of the user may be the second factor. */
  readonly hasPasskey: boolean;
}

/** The password was right: a second factor may now be tried, five times within five minutes. */
export async function openChallenge(unit: EntityManager, userId: string, now: Date): Promise<Challenge> {
  const token = `tgc_${randomBytes(32).toString('base64url')}`;
  const expiresAt = new Date(now.getTime() + LIFETIME_MS);
  await inUnit(unit).query('insert into login_challenges (token_hash, user_id, created_at, expires_at) values ($1, $2, $3, $4)', [
    tokenHash(token),
    userId,
    now,
    expiresAt,
  ]);
  return { token, expiresAt, hasPasskey: (await countPasskeys(inUnit(unit), userId)) > 0 };
}

const openOnes = (token: string, now: Date) =>
  tables
    .selectFrom('login_challenges')
    .where('token_hash', '=', tokenHash(token))
    .where('expires_at', '>', now)
    .where('tries', '<', MAX_TRIES);

/** Whose challenge it is, as long as it lives; it costs no try. */
export async function challengedUser(unit: EntityManager, token: string, now: Date): Promise<string | undefined> {
  if (!WELL_FORMED.test(token)) return undefined;
  const challenge = await firstOf(inUnit(unit), openOnes(token, now).select('user_id'));
  return challenge?.user_id;
}

/**
 * Takes one of its tries before the code is looked at, in a transaction of its own: a wrong code must not give the try back with
 * the rest of its transaction.
 */
export async function takeTry(unit: EntityManager, token: string, now: Date): Promise<boolean> {
  const taken = await run(
    inUnit(unit),
    tables
      .updateTable('login_challenges')
      .set({ tries: sql<number>`tries + 1` })
      .where('token_hash', '=', tokenHash(token))
      .where('expires_at', '>', now)
      .where('tries', '<', MAX_TRIES),
  );
  return taken > 0;
}

/** Ends it with the login that it was for; false when another request was faster. */
export async function spendChallenge(unit: EntityManager, token: string): Promise<boolean> {
  return (await run(inUnit(unit), tables.deleteFrom('login_challenges').where('token_hash', '=', tokenHash(token)))) > 0;
}

export const challengeExpired = (because: string): Problem =>
  new Problem('challenge_expired', 'This login has to start again: send the password first.', { because });

/** Ends all of a user's: their password has changed since. */
export const dropChallenges = (unit: EntityManager, userId: string): Promise<unknown> =>
  inUnit(unit).query('delete from login_challenges where user_id = $1', [userId]);
