import type { EntityManager } from '@mikro-orm/postgresql';
import type { MfaDisableRequest, MfaStatusResponse, MfaVerifyRequest } from '@tallygate/contract';
import { actorOf, type Origin, recordAudit } from '../../../audit/index.ts';
import type { Principal, SessionPrincipal } from '../../../http/index.ts';
import { type Clock, rfc3339 } from '../../../kernel/clock.ts';
import { Problem } from '../../../kernel/problem.ts';
import { inUnit } from '../../../kernel/statements.ts';
import { inUnitOfWork } from '../../../kernel/transaction.ts';
import { notify } from '../notices.ts';
import type { OwnerProof } from '../owner-proof.ts';
import { endSessions } from '../sessions.ts';
import type { User } from '../user.ts';
import { lockUser } from '../users.ts';
import { resetSecondFactor } from './reset.ts';
import type { SecondFactor, Setup } from './second-factor.ts';
import { dropUnfinishedLogins } from './unfinished-logins.ts';

/** Setting a second factor up, and taking it away. */
export interface Mfa {
  status(principal: Principal): Promise<MfaStatusResponse>;
  /** @throws Problem `conflict` while a second factor is on */
  begin(principal: Principal, origin: Origin): Promise<Setup>;
  /**
   * The status with the recovery codes. Ends every other session: whoever has one would otherwise go on without the factor.
   * @throws Problem `conflict` when nothing was begun or a second factor is on, `confirmation_failed`, `invalid_mfa_code`, `rate_limited`
   */
  confirm(principal: Principal, input: MfaVerifyRequest, origin: Origin): Promise<MfaStatusResponse>;
  /** @throws Problem `conflict` when there is no second factor, `confirmation_failed`, `invalid_mfa_code`, `rate_limited` */
  disable(principal: Principal, input: MfaDisableRequest, origin: Origin): Promise<MfaStatusResponse>;
  /**
   * An administrator takes another user's second factor and passkeys away, the way back in for who has lost app and recovery codes.
   * @throws Problem `not_found`; `forbidden` for one's own, which needs the password and a code
   */
  reset(admin: SessionPrincipal, userId: string, origin: Origin): Promise<void>;
}

/** What goes into the audit log. */
interface AuditAction {
  readonly action: 'mfa.begun' | 'mfa.enabled' | 'mfa.disabled';
  readonly by: Principal;
  readonly origin: Origin;
  readonly changes?: Readonly<Record<string, unknown>>;
}

interface MfaDeps {
  readonly em: EntityManager;
  readonly secondFactor: SecondFactor;
  readonly ownerProof: OwnerProof;
  readonly clock: Clock;
}

export function createMfa({ em, secondFactor, ownerProof, clock }: MfaDeps): Mfa {
  function withUser<Result>({ userId }: Principal, effect: (unit: EntityManager, user: User) => Promise<Result>): Promise<Result> {
    return inUnitOfWork(em, async (unit) => {
      const user = await lockUser(unit, userId);
      // Closed between the check of the credential and here.
      if (!user) throw new Problem('invalid_credentials', 'The user of this credential no longer exists.');
      return effect(unit, user);
    });
  }

  async function statusOf(unit: EntityManager, user: User): Promise<MfaStatusResponse> {
    return {
      enabled: user.hasSecondFactor(),
      enabled_at: user.mfaEnabledAt ? rfc3339(user.mfaEnabledAt) : null,
      pending: Boolean(user.mfaSealedSecret) && !user.hasSecondFactor(),
      recovery_codes_left: await secondFactor.recoveryCodesLeft(unit, user),
    };
  }

  const record = (unit: EntityManager, user: User, { action, by, origin, changes }: AuditAction) =>
    recordAudit(inUnit(unit), {
      accountId: user.account.id,
      actor: actorOf(by),
      action,
      target: { kind: 'user', id: user.id },
      ...(changes && { changes }),
      origin,
    });

  /** A login that is under way was begun under the other rule: it starts again. */
  async function changed(unit: EntityManager, user: User, audited: AuditAction): Promise<void> {
    const template = user.hasSecondFactor() ? 'mfa-enabled' : 'mfa-disabled';
    await dropUnfinishedLogins(unit, user.id);
    await record(unit, user, audited);
    await notify(inUnit(unit), template, { to: user.email, accountId: user.account.id, at: new Date(clock.now()), origin: audited.origin });
  }

  return {
    status: (principal) => withUser(principal, statusOf),

    begin: (principal, origin) =>
      withUser(principal, async (unit, user) => {
        if (user.hasSecondFactor()) throw new Problem('conflict', 'A second factor is on: disable it before another one is set up.');
        await record(unit, user, { action: 'mfa.begun', by: principal, origin });
        return secondFactor.begin(unit, user);
      }),

    confirm: (principal, { code, password }, origin) =>
      ownerProof.withPassword(principal.userId, password, async (unit, user) => {
        if (user.hasSecondFactor()) throw new Problem('conflict', 'A second factor is on already.');
        if (!user.mfaSealedSecret) throw new Problem('conflict', 'There is nothing to confirm: POST /v1/users/mfa/begin first.');
        const codes = await secondFactor.confirm(unit, user, code);
        if (!codes)
          throw new Problem(
            'invalid_mfa_code',
            'The code is not one of the secret that was begun last: scan it, and check the clock of the app.',
          );
        const ended = await endSessions(unit, {
          userId: user.id,
          now: new Date(clock.now()),
          ...(principal.kind === 'session' && { except: principal.sessionId }),
        });
        await changed(unit, user, { action: 'mfa.enabled', by: principal, origin, changes: { sessions_ended: ended } });
        return { ...(await statusOf(unit, user)), recovery_codes: [...codes] };
      }),

    disable: (principal, { password, code }, origin) =>
      ownerProof.withPassword(principal.userId, password, async (unit, user) => {
        if (!user.hasSecondFactor()) throw new Problem('conflict', 'There is no second factor to disable.');
        await ownerProof.requireCode(unit, user, code);
        await secondFactor.disable(unit, user);
        await changed(unit, user, { action: 'mfa.disabled', by: principal, origin });
        return statusOf(unit, user);
      }),

    async reset(admin, userId, origin) {
      // Else a stolen session of an administrator would need nothing more to get rid of the factor.
      if (admin.userId === userId)
        throw new Problem('forbidden', 'Your own second factor goes with your password and a code: POST /v1/users/mfa/disable.');
      await inUnitOfWork(em, async (unit) => {
        const user = await lockUser(unit, userId);
        if (!user) throw new Problem('not_found', 'There is no such user.');
        await resetSecondFactor(unit, user, { actor: actorOf(admin), origin, now: new Date(clock.now()) });
      });
    },
  };
}
