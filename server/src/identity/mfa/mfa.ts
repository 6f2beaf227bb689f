import type { EntityManager } from '@mikro-orm/postgresql';
import type { MfaDisableRequest, MfaStatusResponse, MfaVerifyRequest } from '@tallygate/contract';
import { type Clock, rfc3339 } from '../../kernel/clock.ts';
import { Problem } from '../../kernel/problem.ts';
import { actorOf, type Origin, recordAudit } from '../audit/record-audit.ts';
import { inUnit } from '../execute.ts';
import { notify } from '../mails/notices.ts';
import type { OwnerProof } from '../owner-proof.ts';
import type { Principal } from '../principal.ts';
import type { User } from '../user.ts';
import { lockUser } from '../users.ts';
import { dropChallenges } from './login-challenge.ts';
import type { SecondFactor, Setup } from './second-factor.ts';

/** Setting a second factor up, and taking it away. */
export interface Mfa {
  status(principal: Principal): Promise<MfaStatusResponse>;
  /** @throws Problem `conflict` while a second factor is on */
  begin(principal: Principal): Promise<Setup>;
  /**
   * The status with the recovery codes.
   * @throws Problem `conflict` when nothing was begun or a second factor is on, `confirmation_failed`; `session_required` for an
   * API key that does not bring the password
   */
  confirm(principal: Principal, input: MfaVerifyRequest, origin: Origin): Promise<MfaStatusResponse>;
  /** @throws Problem `conflict` when there is no second factor, `confirmation_failed`, `rate_limited` */
  disable(principal: Principal, input: MfaDisableRequest, origin: Origin): Promise<MfaStatusResponse>;
}

interface MfaDeps {
  readonly em: EntityManager;
  readonly secondFactor: SecondFactor;
  readonly ownerProof: OwnerProof;
  readonly clock: Clock;
}

export function createMfa({ em, secondFactor, ownerProof, clock }: MfaDeps): Mfa {
  function withUser<Result>({ userId }: Principal, effect: (unit: EntityManager, user: User) => Promise<Result>): Promise<Result> {
    return em.fork().transactional(async (unit) => {
      const user = await lockUser(unit, userId);
      // Closed between the check of the credential and here.
      if (!user) throw new Problem('invalid_credentials', 'The user of this credential is gone.');
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

  /** A login that is under way was begun under the other rule: it starts again. */
  async function changed(unit: EntityManager, user: User, principal: Principal, origin: Origin): Promise<void> {
    const template = user.hasSecondFactor() ? 'mfa-enabled' : 'mfa-disabled';
    const execute = inUnit(unit);
    await dropChallenges(unit, user.id);
    await recordAudit(execute, {
      accountId: user.account.id,
      actor: actorOf(principal),
      action: user.hasSecondFactor() ? 'mfa.enabled' : 'mfa.disabled',
      target: { kind: 'user', id: user.id },
      origin,
    });
    await notify(execute, template, { to: user.email, accountId: user.account.id, at: new Date(clock.now()), origin });
  }

  return {
    status: (principal) => withUser(principal, statusOf),

    begin: (principal) =>
      withUser(principal, async (unit, user) => {
        if (user.hasSecondFactor()) throw new Problem('conflict', 'A second factor is on: disable it before another one is set up.');
        return secondFactor.begin(unit, user);
      }),

    async confirm(principal, { code, password }, origin) {
      const effect = async (unit: EntityManager, user: User): Promise<MfaStatusResponse> => {
        if (user.hasSecondFactor()) throw new Problem('conflict', 'A second factor is on already.');
        if (!user.mfaSealedSecret) throw new Problem('conflict', 'There is nothing to confirm: POST /v1/users/mfa/begin first.');
        const codes = await secondFactor.confirm(unit, user, code);
        if (!codes) throw new Problem('confirmation_failed', 'The code does not belong to the secret: check the clock of the app.');
        await changed(unit, user, principal, origin);
        return { ...(await statusOf(unit, user)), recovery_codes: [...codes] };
      };
      if (password !== undefined) return ownerProof.withPassword(principal.userId, password, effect);
      if (principal.kind === 'key')
        throw new Problem(
          'session_required',
          'An API key alone cannot change how its owner logs in: use a session, or send the password too.',
        );
      return withUser(principal, effect);
    },

    disable: (principal, { password, code }, origin) =>
      ownerProof.withPassword(principal.userId, password, async (unit, user) => {
        if (!user.hasSecondFactor()) throw new Problem('conflict', 'There is no second factor to disable.');
        await ownerProof.requireCode(unit, user, code);
        await secondFactor.disable(unit, user);
        await changed(unit, user, principal, origin);
        return statusOf(unit, user);
      }),
  };
}
