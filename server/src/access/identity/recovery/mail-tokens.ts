import { hash, randomBytes } from 'node:crypto';
import type { EntityManager } from '@mikro-orm/postgresql';
import { firstOf, inUnit } from '../../../kernel/statements.ts';
import { tables } from '../tables.ts';

export type Purpose = 'verify-email' | 'reset-password';

const HOUR_MS = 3_600_000;
const LIFETIME_MS: Record<Purpose, number> = { 'verify-email': 24 * HOUR_MS, 'reset-password': HOUR_MS };
const PREFIX: Record<Purpose, string> = { 'verify-email': 'tgv_', 'reset-password': 'tgr_' };

/** So that nobody's mailbox can be filled: whoever asks again within a minute has the mail already. */
export const MIN_INTERVAL_MS = 60_000;

const tokenHash = (token: string): Buffer => hash('sha256', token, 'buffer');

export interface MailToken {
  /** `tgv_…` or `tgr_…`: 256 random bits. It is stored as a hash. */
  readonly token: string;
  readonly expiresAt: Date;
}

/** What a spent token proves: that this user reads this address. */
export interface Proof {
  readonly userId: string;
  readonly email: string;
}

/**
 * A new token for a mail to `email`. Those sent before go on working until one is used: else a stranger who asks for mails could
 * keep the owner's links dead.
 */
export async function mintMailToken(
  unit: EntityManager,
  purpose: Purpose,
  proof: Proof,
  now: Date,
  lifetimeMs: number = LIFETIME_MS[purpose],
): Promise<MailToken> {
  const token = `${PREFIX[purpose]}${randomBytes(32).toString('base64url')}`;
  const expiresAt = new Date(now.getTime() + lifetimeMs);
  await inUnit(unit).query(
    'insert into mail_tokens (token_hash, user_id, purpose, email, created_at, expires_at) values ($1, $2, $3, $4, $5, $6)',
    [tokenHash(token), proof.userId, purpose, proof.email, now, expiresAt],
  );
  return { token, expiresAt };
}

/** Whose token it is, without spending it. */
export async function ownerOfMailToken(unit: EntityManager, purpose: Purpose, token: string, now: Date): Promise<string | undefined> {
  const found = tables
    .selectFrom('mail_tokens')
    .select('user_id')
    .where('token_hash', '=', tokenHash(token))
    .where('purpose', '=', purpose);
  return (await firstOf(inUnit(unit), found.where('expires_at', '>', now)))?.user_id;
}

/** Spends a token for its own purpose; undefined when it is unknown, spent, replaced or too old. Of two at once one gets it. */
export async function spendMailToken(unit: EntityManager, purpose: Purpose, token: string, now: Date): Promise<Proof | undefined> {
  const spent = tables.deleteFrom('mail_tokens').where('token_hash', '=', tokenHash(token)).where('purpose', '=', purpose);
  const row = await firstOf(inUnit(unit), spent.where('expires_at', '>', now).returning(['user_id', 'email']));
  return row && { userId: row.user_id, email: row.email };
}

/** Whether a mail of that kind went to the user since `since`. */
export async function wasMintedSince(unit: EntityManager, purpose: Purpose, { userId, email }: Proof, since: Date): Promise<boolean> {
  const minted = tables
    .selectFrom('mail_tokens')
    .select('token_hash')
    .where('user_id', '=', userId)
    .where('purpose', '=', purpose)
    .where('email', '=', email)
    .where('created_at', '>', since);
  return (await firstOf(inUnit(unit), minted)) !== undefined;
}

/** @param purpose undefined: of both */
export const dropMailTokens = (unit: EntityManager, userId: string, purpose?: Purpose): Promise<unknown> =>
  purpose
    ? inUnit(unit).query('delete from mail_tokens where user_id = $1 and purpose = $2', [userId, purpose])
    : inUnit(unit).query('delete from mail_tokens where user_id = $1', [userId]);

/** Drops what would make any other address the user's: they have chosen this one since. */
export const dropMailTokensToOthers = (unit: EntityManager, { userId, email }: Proof): Promise<unknown> =>
  inUnit(unit).query("delete from mail_tokens where user_id = $1 and purpose = 'verify-email' and email <> $2", [userId, email]);

/** Drops the changes of address that the user has asked for and that no mail was sent for yet. */
export const dropMailRequests = (unit: EntityManager, userId: string): Promise<unknown> =>
  inUnit(unit).query('delete from mail_requests where user_id = $1', [userId]);
