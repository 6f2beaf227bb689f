import type { EntityManager } from '@mikro-orm/postgresql';
import type { PasskeyRequestOptions } from '@tallygate/contract';
import { sql } from 'kysely';
import { firstOf, inUnit, type Queryable, type RowOf, rowsOf, run } from '../../../kernel/statements.ts';
import type { PasskeyEntity } from '../entities.ts';
import { tables } from '../tables.ts';
import type { Use } from './webauthn.ts';

export type PasskeyRow = RowOf<typeof PasskeyEntity>;

/** What the passkey has as its user: it tells nothing of them. */
export const userHandleOf = (userId: string): string => Buffer.from(userId.replaceAll('-', ''), 'hex').toString('base64url');

export const passkeysOf = (userId: string) => tables.selectFrom('passkeys').selectAll().where('user_id', '=', userId);

export async function countPasskeys(db: Queryable, userId: string): Promise<number> {
  const ofUser = tables.selectFrom('passkeys').where('user_id', '=', userId);
  return (await firstOf(db, ofUser.select(sql<number>`count(*)::int`.as('count'))))?.count ?? 0;
}

export const passkeyWithCredential = (db: Queryable, credentialId: string): Promise<PasskeyRow | undefined> =>
  firstOf(db, tables.selectFrom('passkeys').selectAll().where('credential_id', '=', Buffer.from(credentialId, 'base64url')));

/** As browsers are told of those that a user has. */
export async function referencesTo(db: Queryable, userId: string): Promise<PasskeyRequestOptions['allowCredentials']> {
  const known = await rowsOf(db, passkeysOf(userId));
  return known.map(({ credential_id: id, transports }) => ({ type: 'public-key', id: id.toString('base64url'), transports }));
}

/**
 * Notes a use, for a user whose row the caller has locked. An authenticator that counts, counts upwards: one that does not is a copy, or its
 * copy was used before it.
 */
export async function noteUse(
  unit: EntityManager,
  passkeyId: string,
  { signCount, isBackedUp }: Use,
  now: Date,
): Promise<'noted' | 'removed' | 'copied'> {
  const db = inUnit(unit);
  const known = await firstOf(db, tables.selectFrom('passkeys').select('sign_count').where('id', '=', passkeyId).forUpdate());
  if (!known) return 'removed';
  const count = BigInt(signCount);
  const isCounting = count > 0n || BigInt(known.sign_count) > 0n;
  if (isCounting && count <= BigInt(known.sign_count)) return 'copied';
  const used = { sign_count: count, is_backed_up: isBackedUp, last_used_at: now };
  await run(db, tables.updateTable('passkeys').set(used).where('id', '=', passkeyId));
  return 'noted';
}

/** Deletes all that a user has, and what waits for one. Resolves to how many there were. */
export async function dropPasskeys(unit: EntityManager, userId: string): Promise<number> {
  const db = inUnit(unit);
  await run(db, tables.deleteFrom('passkey_challenges').where('user_id', '=', userId));
  return run(db, tables.deleteFrom('passkeys').where('user_id', '=', userId));
}
