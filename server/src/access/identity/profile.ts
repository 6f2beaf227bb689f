import type { EntityManager } from '@mikro-orm/postgresql';
import type { AccountCloseRequest, PasswordChangeRequest, UserUpdateRequest } from '@tallygate/contract';
import { actorOf, type Origin, recordAudit } from '../../audit/index.ts';
import { forgetUser } from '../../community/people/index.ts';
import type { SessionPrincipal } from '../../http/index.ts';
import type { Clock } from '../../kernel/clock.ts';
import { newId } from '../../kernel/ids.ts';
import { invalidInput } from '../../kernel/invalid-input.ts';
import { Problem } from '../../kernel/problem.ts';
import { inUnit } from '../../kernel/statements.ts';
import { inUnitOfWork } from '../../kernel/transaction.ts';
import { forgetLogins } from './forget-logins.ts';
import { lockMembers } from './members/authority.ts';
import type { SecondFactor } from './mfa/second-factor.ts';
import { notify } from './notices.ts';
import type { OnAccountClosed, OnStoringOff } from './on-account-closed.ts';
import type { OwnerProof } from './owner-proof.ts';
import type { PasswordStrength } from './password-strength.ts';
import type { Passwords } from './passwords.ts';
import { afterNewPassword } from './recovery/recovery.ts';
import { oneRoleChangeAtATime, requireOtherAdministrator } from './roles.ts';
import { askingLimits } from './throttle/limits.ts';
import type { Throttle } from './throttle/throttle.ts';
import { User } from './user.ts';
import { lockUser, type Users } from './users.ts';

/** What signed-in users do to their own account. */
export interface Profile {
  /**
   * A new address counts once its reader says so; the one before is told at once.
   * @throws Problem `validation_failed` when a new address comes without the password, `confirmation_failed`, `rate_limited`
   */
  update(principal: SessionPrincipal, changes: UserUpdateRequest, origin: Origin): Promise<User>;
  /** Ends every other session. @throws Problem `validation_failed` for a password that is easy to guess, `confirmation_failed`, `rate_limited` */
  changePassword(principal: SessionPrincipal, input: PasswordChangeRequest, origin: Origin): Promise<void>;
  /** @throws Problem `conflict` for the last administrator, `confirmation_failed`, `invalid_mfa_code`, `rate_limited` */
  close(principal: SessionPrincipal, input: AccountCloseRequest, origin: Origin): Promise<void>;
}

interface ProfileDeps {
  readonly em: EntityManager;
  readonly passwords: Passwords;
  readonly strength: PasswordStrength;
  readonly secondFactor: SecondFactor;
  readonly ownerProof: OwnerProof;
  readonly users: Pick<Users, 'find'>;
  readonly onAccountClosed: OnAccountClosed;
  readonly onStoringOff: OnStoringOff;
  readonly throttle: Throttle;
  readonly clock: Clock;
}

export function createProfile(deps: ProfileDeps): Profile {
  const { em, passwords, strength, secondFactor, ownerProof, users, onAccountClosed, onStoringOff, throttle, clock } = deps;
  const present = () => new Date(clock.now());

  function rename(user: User, name: string | null, record: Record<string, unknown>): void {
    if (name === (user.name ?? null)) return;
    record['name'] = { from: user.name ?? null, to: name };
    user.name = name;
  }

  /** The address changes when its reader says so; who else has it is found out by the job, so that the answer cannot tell. */
  const askForAddress = (unit: EntityManager, user: User, email: string) =>
    inUnit(unit).query("insert into mail_requests (id, purpose, email, user_id, requested_at) values ($1, 'verify-email', $2, $3, $4)", [
      ...[newId(), email, user.id, present()],
    ]);

  const recordOf = (
    unit: EntityManager,
    principal: SessionPrincipal,
    action: `${string}.${string}`,
    changes: Record<string, unknown>,
    origin: Origin,
  ) =>
    recordAudit(inUnit(unit), {
      accountId: principal.accountId,
      actor: actorOf(principal),
      action,
      target: { kind: 'user', id: principal.userId },
      changes,
      origin,
    });

  return {
    async update(principal, { name, email, password, stores_content: stores }, origin) {
      const effect = async (unit: EntityManager, user: User): Promise<User> => {
        const record: Record<string, unknown> = {};
        if (name !== undefined) rename(user, name, record);
        if (stores !== undefined) requireAdmin(user);
        if (stores !== undefined && stores !== user.account.storesContent) {
          record['stores_content'] = { from: user.account.storesContent, to: stores };
          user.account.storesContent = stores;
          if (!stores) await onStoringOff(inUnit(unit), principal.accountId);
        }
        if (email !== undefined && email !== user.email) {
          record['requested_email'] = email;
          await askForAddress(unit, user, email);
          await notify(inUnit(unit), 'email-change-requested', { to: user.email, accountId: principal.accountId, at: present(), origin });
        }
        if (Object.keys(record).length > 0) await recordOf(unit, principal, 'user.updated', record, origin);
        return user;
      };
      if (email !== undefined) {
        const proof = password ?? missingPassword();
        // Each one is a mail to somebody who may never have heard of the service.
        await throttle.admit(askingLimits({ kind: 'change-email', subject: principal.userId, address: origin.ip }));
        return ownerProof.withPassword(principal.userId, proof, effect);
      }
      return inUnitOfWork(em, async (unit) => {
        const user = await lockUser(unit, principal.userId);
        if (!user) throw new Problem('invalid_credentials', 'The user of this credential no longer exists.');
        return effect(unit, user);
      });
    },

    async changePassword(principal, { current_password, new_password }, origin) {
      const owner = await users.find(principal.userId);
      await strength.require(new_password, [owner?.email, owner?.name], 'new_password');
      await ownerProof.withPassword(principal.userId, current_password, async (unit, user) => {
        const now = present();
        user.passwordHash = await passwords.hash(new_password);
        const sessionsEnded = await afterNewPassword(unit, user, now, principal.sessionId);
        await recordOf(unit, principal, 'user.password_changed', { sessions_ended: sessionsEnded }, origin);
        await notify(inUnit(unit), 'password-changed', { to: user.email, accountId: principal.accountId, at: now, origin });
      });
    },

    async close(principal, { password, code }, origin) {
      const closing = async (unit: EntityManager, user: User): Promise<void> => {
        await ownerProof.requireCode(unit, user, code);
        await requireOtherAdministrator(unit, user, 'close your account');
        await requireNobodyElse(unit, user);
        const db = inUnit(unit);
        const at = present();
        await recordOf(unit, principal, 'account.closed', {}, origin);
        await notify(db, 'account-closed', { to: user.email, accountId: principal.accountId, at, origin });
        await secondFactor.disable(unit, user);
        await forgetLogins(unit, user, at);
        user.close(at);
        await forgetUser(db, user.id, at);
        await onAccountClosed(db, { accountId: principal.accountId, at, actor: actorOf(principal), origin });
      };
      await ownerProof.withPassword(principal.userId, password, closing, { before: oneRoleChangeAtATime });
    },
  };
}

function missingPassword(): never {
  throw invalidInput([{ loc: ['body', 'password'], msg: 'is required with a new e-mail address', type: 'invalid_type' }]);
}

/** An account is closed by the last one in it. @throws Problem `conflict` */
async function requireNobodyElse(unit: EntityManager, user: User): Promise<void> {
  // An invitation that is being accepted is awaited.
  await lockMembers(unit, user.account.id);
  const other = await unit.findOne(User, { account: user.account, closedAt: null, id: { $ne: user.id } });
  if (other) throw new Problem('conflict', 'The account has other members: remove them first.');
  await inUnit(unit).query('delete from member_invitations where account_id = $1', [user.account.id]);
}

/** @throws Problem `forbidden` */
function requireAdmin({ accountRole }: User): void {
  if (accountRole !== 'owner' && accountRole !== 'admin')
    throw new Problem('forbidden', 'What the account keeps is decided by its owners and admins.');
}
