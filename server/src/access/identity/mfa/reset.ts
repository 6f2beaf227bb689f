import type { EntityManager } from '@mikro-orm/postgresql';
import { type Actor, type Origin, recordAudit } from '../../../audit/index.ts';
import type { Clock } from '../../../kernel/clock.ts';
import { inUnit } from '../../../kernel/statements.ts';
import { inUnitOfWork } from '../../../kernel/transaction.ts';
import { notify } from '../notices.ts';
import { dropPasskeys } from '../passkeys/user-passkeys.ts';
import { endSessions } from '../sessions.ts';
import type { User } from '../user.ts';
import { findByEmail, lockUser } from '../users.ts';
import { dropSecondFactor } from './second-factor.ts';
import { dropUnfinishedLogins } from './unfinished-logins.ts';

interface Reset {
  readonly actor: Actor;
  /** Left out where it is done on the server itself. */
  readonly origin?: Origin;
  readonly now: Date;
}

/**
 * Takes the second factor and the passkeys from a user whose row the caller has locked, ends their sessions, since whoever locked the owner out may still
 * be signed in, and tells them by mail. Logins that are under way start again. Without either nothing happens.
 * @returns how many sessions ended; undefined when nothing happened
 */
export async function resetSecondFactor(unit: EntityManager, user: User, { actor, origin, now }: Reset): Promise<number | undefined> {
  const hadCodes = Boolean(user.mfaSealedSecret);
  const passkeysRemoved = await dropPasskeys(unit, user.id);
  if (!hadCodes && passkeysRemoved === 0) return undefined;
  const accountId = user.account.id;
  await dropSecondFactor(unit, user);
  const ended = await endSessions(unit, { userId: user.id, now });
  await dropUnfinishedLogins(unit, user.id);
  await recordAudit(inUnit(unit), {
    accountId,
    actor,
    action: 'mfa.reset',
    target: { kind: 'user', id: user.id },
    changes: { sessions_ended: ended, passkeys_removed: passkeysRemoved },
    ...(origin && { origin }),
  });
  // Where an administrator sits is no business of the user.
  const nowhere = { ip: null, userAgent: null, requestId: origin?.requestId ?? '' };
  const told = { to: user.email, accountId, at: now, origin: nowhere };
  if (hadCodes) await notify(inUnit(unit), 'mfa-disabled', told);
  if (passkeysRemoved > 0) await notify(inUnit(unit), 'passkey-removed', told);
  return ended;
}

/**
 * The way back in for an administrator who has lost app and recovery codes, and has nobody above them: whoever can read the database's
 * address may do this on the server itself. It needs no master key, since nothing has to be opened.
 * @returns undefined when nobody has this address
 */
export const resetByOperator = (
  { em, clock }: { em: EntityManager; clock: Clock },
  email: string,
): Promise<{ readonly wasOn: boolean; readonly sessionsEnded: number } | undefined> =>
  inUnitOfWork(em, async (unit) => {
    const found = await findByEmail(unit, email);
    const user = found && (await lockUser(unit, found.id));
    if (!user) return undefined;
    const ended = await resetSecondFactor(unit, user, { actor: { kind: 'system', id: null }, now: new Date(clock.now()) });
    return { wasOn: ended !== undefined, sessionsEnded: ended ?? 0 };
  });
