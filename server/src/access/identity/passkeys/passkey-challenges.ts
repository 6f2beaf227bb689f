import { hash, randomBytes } from 'node:crypto';
import { Problem } from '../../../kernel/problem.ts';
import { firstOf, type Queryable, run } from '../../../kernel/statements.ts';
import { tables } from '../tables.ts';

export const LIFETIME_MS = 5 * 60_000;

/** What a passkey is asked for; an answer to one is none to another. */
interface Asked {
  readonly purpose: 'registration' | 'login' | 'second-factor';
  /** Undefined where the passkey says who it is. */
  readonly userId?: string;
}

const hashOf = (challenge: string): Buffer => hash('sha256', challenge, 'buffer');

/** 256 random bits, stored as a hash. */
export async function openPasskeyChallenge(db: Queryable, { purpose, userId }: Asked, now: Date): Promise<string> {
  const challenge = randomBytes(32).toString('base64url');
  const row = { challenge_hash: hashOf(challenge), purpose, user_id: userId ?? null, expires_at: new Date(now.getTime() + LIFETIME_MS) };
  await run(db, tables.insertInto('passkey_challenges').values(row));
  return challenge;
}

/**
 * The challenge that was answered. It is spent by every answer, right or wrong: run in a transaction that commits whatever comes of the answer.
 * @throws Problem `challenge_expired` for one that is unknown, used or too old, or was asked for something else or of somebody else
 */
export async function takePasskeyChallenge(db: Queryable, clientDataJSON: string, { purpose, userId }: Asked, now: Date): Promise<string> {
  const challenge = challengeIn(clientDataJSON);
  if (challenge === undefined) throw expired('no challenge in the client data');
  const spent = tables.deleteFrom('passkey_challenges').where('challenge_hash', '=', hashOf(challenge));
  const row = await firstOf(db, spent.returning(['purpose', 'user_id', 'expires_at']));
  if (!row || row.expires_at <= now) throw expired('unknown, used or too old');
  if (row.purpose !== purpose || row.user_id !== (userId ?? null)) throw expired('asked for something else, or of somebody else');
  return challenge;
}

function challengeIn(clientDataJSON: string): string | undefined {
  try {
    const { challenge }: { challenge?: unknown } = JSON.parse(Buffer.from(clientDataJSON, 'base64url').toString()) ?? {};
    return typeof challenge === 'string' ? challenge : undefined;
  } catch {
    return undefined;
  }
}

const expired = (because: string): Problem =>
  new Problem('challenge_expired', 'The passkey was asked too long ago, or its answer was used before: begin again.', { because });
