import { UniqueConstraintViolationException } from '@mikro-orm/core';
import type { EntityManager } from '@mikro-orm/postgresql';
import type { Pool } from 'pg';
import { type Origin, recordAudit } from '../../../audit/index.ts';
import { upsertContact } from '../../../community/people/index.ts';
import type { Clock } from '../../../kernel/clock.ts';
import { newId } from '../../../kernel/ids.ts';
import { Problem } from '../../../kernel/problem.ts';
import { inUnit } from '../../../kernel/statements.ts';
import { inUnitOfWork } from '../../../kernel/transaction.ts';
import { endOtherMemberships, type OnMemberRemoved } from '../members/end-membership.ts';
import { dropSecondFactor } from '../mfa/second-factor.ts';
import { dropUnfinishedLogins } from '../mfa/unfinished-logins.ts';
import { notify } from '../notices.ts';
import type { OnAccountClosed } from '../on-account-closed.ts';
import { dropPasskeys } from '../passkeys/user-passkeys.ts';
import type { PasswordStrength } from '../password-strength.ts';
import type { Passwords } from '../passwords.ts';
import { endSessions } from '../sessions.ts';
import { rememberAddress } from '../throttle/known-addresses.ts';
import { askingLimits, tokenLimits } from '../throttle/limits.ts';
import type { Throttle } from '../throttle/throttle.ts';
import { User } from '../user.ts';
import { addressTaken, lockUser } from '../users.ts';
import {
  dropMailRequests,
  dropMailTokens,
  dropMailTokensToOthers,
  ownerOfMailToken,
  type Proof,
  type Purpose,
  spendMailToken,
} from './mail-tokens.ts';

/** What is done by whoever reads the mail of a user. */
export interface Recovery {
  /**
   * Notes that somebody wants a mail. What is looked up is looked up later, by a job: whoever asks meets the same work and the same
   * answer whatever the address is. @throws Problem `rate_limited`
   */
  ask(purpose: Purpose, email: string, origin: Origin): Promise<void>;
  /** Proves the address, or completes the change to it. @throws Problem `invalid_token`, `conflict` when it was taken meanwhile */
  verifyEmail(token: string, origin: Origin): Promise<void>;
  /**
   * Ends every session; a second factor and passkeys stay. The first proof of an address ends them too, API keys and other members: whoever made the account may never
   * have read the address. The token stays good while the password is refused. @throws Problem `invalid_token`, `validation_failed`
   */
  resetPassword(token: string, newPassword: string, origin: Origin): Promise<void>;
}

interface RecoveryDeps {
  readonly em: EntityManager;
  readonly pool: Pool;
  readonly passwords: Passwords;
  readonly strength: PasswordStrength;
  readonly throttle: Throttle;
  readonly onTakenOver: OnAccountClosed;
  readonly onMemberRemoved: OnMemberRemoved;
  readonly clock: Clock;
}

export function createRecovery({ em, pool, passwords, strength, throttle, onTakenOver, onMemberRemoved, clock }: RecoveryDeps): Recovery {
  const present = () => new Date(clock.now());

  /** What somebody else may have left in the account to come back by: sessions end with the password. */
  async function takeOver(unit: EntityManager, user: User, { at, origin }: { at: Date; origin: Origin }): Promise<void> {
    const db = inUnit(unit);
    await dropSecondFactor(unit, user);
    await dropPasskeys(unit, user.id);
    await endOtherMemberships(unit, onMemberRemoved, { user, at, origin });
    await inUnit(unit).query('delete from known_addresses where user_id = $1', [user.id]);
    await onTakenOver(db, { accountId: user.account.id, at, actor: { kind: 'user', id: user.id }, origin });
  }

  /** Users before tokens, in the order in which everybody else locks them. */
  function withProof(
    purpose: Purpose,
    token: string,
    effect: (unit: EntityManager, user: User, proof: Proof) => Promise<void>,
  ): Promise<void> {
    return inUnitOfWork(em, async (unit) => {
      const userId = await ownerOfMailToken(unit, purpose, token, present());
      const user = userId === undefined ? undefined : await lockUser(unit, userId);
      const proof = await spendMailToken(unit, purpose, token, present());
      if (!user || !proof) throw invalidToken();
      await effect(unit, user, proof);
    });
  }

  return {
    async ask(purpose, email, { ip }) {
      await throttle.admit(askingLimits({ kind: purpose, subject: email.toLowerCase(), address: ip }));
      await pool.query('insert into mail_requests (id, purpose, email, requested_at) values ($1, $2, $3, $4)', [
        ...[newId(), purpose, email, present()],
      ]);
    },

    async verifyEmail(token, origin) {
      const admitted = await throttle.admit(tokenLimits('verify-email', origin.ip));
      await withProof('verify-email', token, async (unit, user, { email }) => {
        if (user.isToBeClaimed(email)) throw invalidToken();
        const before = user.email;
        user.proveEmail(email, present());
        await flushUnlessTaken(unit);
        await dropMailTokens(unit, user.id, 'verify-email');
        const isChange = before !== email;
        // Links that were sent to the address before prove nothing of this one.
        if (isChange) await dropMailTokens(unit, user.id, 'reset-password');
        await recordOf(
          unit,
          user,
          isChange ? 'user.email_changed' : 'user.email_verified',
          { email: isChange ? { from: before, to: email } : email },
          origin,
        );
        if (isChange) await upsertContact(inUnit(unit), { email, source: 'user', userId: user.id, at: present() });
        if (isChange) await notify(inUnit(unit), 'email-changed', { to: before, accountId: user.account.id, at: present(), origin });
      });
      await admitted.succeeded();
    },

    async resetPassword(token, newPassword, origin) {
      const admitted = await throttle.admit(tokenLimits('reset-password', origin.ip));
      // Looked at before the costly hash, and again under the lock.
      const ownerId = await ownerOfMailToken(em.fork(), 'reset-password', token, present());
      const owner = ownerId === undefined ? undefined : await em.fork().findOne(User, { id: ownerId });
      if (!owner) throw invalidToken();
      await strength.require(newPassword, [owner.email, owner.name], 'new_password');
      const passwordHash = await passwords.hash(newPassword);
      await withProof('reset-password', token, async (unit, user, { email }) => {
        if (user.email !== email) throw invalidToken();
        const now = present();
        // Whom a directory has made did not make the account: what is in it is the company's.
        const isFirstProof = !user.emailVerifiedAt && !user.isOfDirectory();
        user.passwordHash = passwordHash;
        user.proveEmail(email, now);
        if (isFirstProof) await takeOver(unit, user, { at: now, origin });
        const sessionsEnded = await afterNewPassword(unit, user, now);
        // So that whoever is guessing from elsewhere cannot keep the owner waiting at the login that follows.
        await rememberAddress(inUnit(unit), user.id, origin.ip, now);
        await recordOf(unit, user, 'user.password_reset', { sessions_ended: sessionsEnded, first_proof: isFirstProof }, origin);
        await notify(inUnit(unit), 'password-changed', { to: user.email, accountId: user.account.id, at: now, origin });
      });
      await admitted.succeeded();
    },
  };
}

/** What an older password had opened is closed, a change of address that it had asked for included. @param except the session that goes on; resolves to how many were ended */
export async function afterNewPassword(unit: EntityManager, user: User, now: Date, except?: string): Promise<number> {
  await dropUnfinishedLogins(unit, user.id);
  await dropMailTokens(unit, user.id, 'reset-password');
  await dropMailTokensToOthers(unit, { userId: user.id, email: user.email });
  await dropMailRequests(unit, user.id);
  return endSessions(unit, { userId: user.id, now, ...(except !== undefined && { except }) });
}

const recordOf = (
  unit: EntityManager,
  user: User,
  action: `user.${string}`,
  changes: Record<string, unknown>,
  origin: Origin,
): Promise<void> =>
  recordAudit(inUnit(unit), {
    accountId: user.account.id,
    actor: { kind: 'user', id: user.id },
    action,
    target: { kind: 'user', id: user.id },
    changes,
    origin,
  });

async function flushUnlessTaken(unit: EntityManager): Promise<void> {
  try {
    await unit.flush();
  } catch (error) {
    if (error instanceof UniqueConstraintViolationException) throw addressTaken();
    throw error;
  }
}

const invalidToken = (): Problem => new Problem('invalid_token', 'The link was used, has expired or was replaced: ask for another mail.');
