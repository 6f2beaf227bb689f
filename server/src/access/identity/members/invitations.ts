import { hash, randomBytes } from 'node:crypto';
import { UniqueConstraintViolationException } from '@mikro-orm/core';
import type { EntityManager } from '@mikro-orm/postgresql';
import type { AcceptInvitationRequest, InviteMemberRequest, MemberInvitation } from '@tallygate/contract';
import { actorOf, type Origin, recordAudit } from '../../../audit/index.ts';
import { upsertContact } from '../../../community/people/index.ts';
import type { Administrator } from '../../../http/index.ts';
import { type Clock, rfc3339 } from '../../../kernel/clock.ts';
import { newId } from '../../../kernel/ids.ts';
import { Keyset, mapPage, type Page, type PageQuery } from '../../../kernel/page.ts';
import { Problem } from '../../../kernel/problem.ts';
import type { SecretBox } from '../../../kernel/secret-box.ts';
import { firstOf, inUnit, type Queryable, type RowOf, rowsOf, run } from '../../../kernel/statements.ts';
import { inUnitOfWork } from '../../../kernel/transaction.ts';
import { queueMail, sealForMail } from '../../../mail/index.ts';
import { Account, type PlanOfAccount, planIdOf } from '../account.ts';
import type { MemberInvitationEntity } from '../entities.ts';
import type { PasswordStrength } from '../password-strength.ts';
import type { Passwords } from '../passwords.ts';
import { tables } from '../tables.ts';
import { invitingLimits, tokenLimits } from '../throttle/limits.ts';
import type { Throttle } from '../throttle/throttle.ts';
import { User } from '../user.ts';
import { addressTaken } from '../users.ts';
import { lockMembers, refuseBeyondOwners, requireAuthority } from './authority.ts';
import { requireFreeExternalId } from './members.ts';

export interface InvitationsDeps {
  readonly em: EntityManager;
  readonly passwords: Passwords;
  readonly strength: PasswordStrength;
  readonly throttle: Throttle;
  readonly box: SecretBox;
  readonly clock: Clock;
  readonly planOf: PlanOfAccount;
}

type InvitationRow = RowOf<typeof MemberInvitationEntity>;

const LIFETIME_MS = 7 * 86_400_000;
const INVITATIONS = new Keyset({ name: 'member-invitations', columns: { id: 'uuid' }, direction: 'desc' });

/** Invitations into an account, by mail: whoever opens the link reads mail at the address. */
export class Invitations {
  readonly #deps: InvitationsDeps;

  constructor(deps: InvitationsDeps) {
    this.#deps = deps;
  }

  async list(accountId: string, query: PageQuery): Promise<Page<MemberInvitation>> {
    const db = inUnit(this.#deps.em.fork());
    const open = invitationsOf(accountId).where('expires_at', '>', this.#now());
    return mapPage(INVITATIONS.page(await rowsOf(db, INVITATIONS.pageIn(open, query)), query), toWire);
  }

  /**
   * Takes the place of an earlier invitation of the address; with an id of the caller's own, the same invitation is the answer again.
   * @throws Problem `forbidden` where an admin invites an owner, or the inviter’s address is not confirmed; `conflict` for an id of another invitation or of a member, `rate_limited`
   */
  async invite(
    principal: Administrator,
    { email, account_role, external_id: externalId }: InviteMemberRequest,
    origin: Origin,
  ): Promise<MemberInvitation> {
    const { em, box, throttle } = this.#deps;
    const { accountId, userId } = principal;
    const known = externalId === undefined ? undefined : await this.#invitedBefore(accountId, externalId);
    if (known?.email === email && known.account_role === account_role) return toWire(known);
    if (known) throw new Problem('conflict', 'Another invitation has this external_id: withdraw it first.', { param: 'external_id' });
    // Each one is a mail to somebody who may never have heard of the service.
    await throttle.admit(invitingLimits({ accountId, subject: email.toLowerCase(), address: origin.ip }));
    const token = `tgm_${randomBytes(32).toString('base64url')}`;
    const now = this.#now();
    const expiresAt = new Date(now.getTime() + LIFETIME_MS);
    return inUnitOfWork(em, async (unit) => {
      refuseBeyondOwners(await requireAuthority(unit, principal, now), account_role);
      const db = inUnit(unit);
      const inviter = await unit.findOneOrFail(User, { id: userId });
      // Else anybody could have mails of their wording sent to strangers, in the name of an address that is not theirs.
      if (!inviter.emailVerifiedAt)
        throw new Problem('forbidden', 'Confirm your e-mail address first: invitations name it as their sender.');
      const account = await unit.findOneOrFail(Account, { id: accountId });
      if (externalId !== undefined) await requireFreeExternalId(unit, accountId, externalId);
      await db.query(
        'delete from member_invitations where account_id = $1 and (lower(email) = lower($2) or (external_id = $3 and expires_at <= $4))',
        [...[accountId, email, externalId ?? null, now]],
      );
      const id = newId();
      const made = {
        id,
        account_id: accountId,
        email,
        account_role,
        external_id: externalId ?? null,
        token_hash: tokenHash(token),
        invited_by: userId,
      };
      await run(db, tables.insertInto('member_invitations').values({ ...made, created_at: now, expires_at: expiresAt }));
      await queueMail(db, {
        to: email,
        template: 'member-invited',
        accountId,
        data: {
          ...{ sealed_token: sealForMail(box, token), expires_at: expiresAt.toISOString() },
          ...{ account: account.name, inviter: inviter.email, role: account_role },
        },
      });
      await audit(db, principal, { action: 'member.invited', id, changes: { email, account_role, external_id: externalId } }, origin);
      return toWire({ ...made, created_at: now, expires_at: expiresAt });
    });
  }

  /** @throws Problem `not_found` */
  withdraw(principal: Administrator, invitationId: string, origin: Origin): Promise<void> {
    return inUnitOfWork(this.#deps.em, async (unit) => {
      await requireAuthority(unit, principal, this.#now());
      const db = inUnit(unit);
      const gone = tables.deleteFrom('member_invitations').where('id', '=', invitationId).where('account_id', '=', principal.accountId);
      if ((await run(db, gone)) === 0)
        throw new Problem('not_found', 'There is no such invitation: GET /v1/members/invitations lists them.');
      await audit(db, principal, { action: 'member.invitation_withdrawn', id: invitationId, changes: {} }, origin);
    });
  }

  /** @throws Problem `invalid_token`, `validation_failed` for a password that is easy to guess, `conflict` for an address that has an account */
  async accept({ token, new_password, name }: AcceptInvitationRequest, origin: Origin): Promise<User> {
    const { em, passwords, strength, throttle } = this.#deps;
    const admitted = await throttle.admit(tokenLimits('accept-invitation', origin.ip));
    const invited = await this.#find(inUnit(em.fork()), token);
    await strength.require(new_password, [invited.email, name], 'new_password');
    const passwordHash = await passwords.hash(new_password);
    try {
      const user = await inUnitOfWork(em, (unit) => this.#join(unit, token, { passwordHash, name: name ?? null, origin }));
      await admitted.succeeded();
      return user;
    } catch (error) {
      if (error instanceof UniqueConstraintViolationException) throw addressTaken();
      throw error;
    }
  }

  async #join(unit: EntityManager, token: string, { passwordHash, name, origin }: Joining): Promise<User> {
    const db = inUnit(unit);
    // What ends invitations holds the lock of the account: looked at once more behind it.
    await lockMembers(unit, (await this.#find(db, token)).account_id);
    const { id: invitationId, account_id, email, account_role, external_id } = await this.#find(db, token);
    // Of two at once one gets it.
    if ((await run(db, tables.deleteFrom('member_invitations').where('id', '=', invitationId))) === 0) throw invalidToken();
    const account = await unit.findOneOrFail(Account, { id: account_id });
    const now = this.#now();
    const made = unit.create(User, {
      ...{ id: newId(), account, email, name, role: 'member', accountRole: account_role, passwordHash, createdAt: now },
      ...{ emailVerifiedAt: now, externalId: external_id },
    });
    await unit.flush();
    await upsertContact(db, { email, name, source: 'user', userId: made.id, planTier: planIdOf(this.#deps.planOf, account), at: now });
    await recordAudit(db, {
      ...{ accountId: account_id, actor: { kind: 'user', id: made.id }, action: 'member.joined', origin },
      target: { kind: 'user', id: made.id },
      changes: { email, account_role },
    });
    return made;
  }

  async #invitedBefore(accountId: string, externalId: string): Promise<InvitationRow | undefined> {
    const open = invitationsOf(accountId).where('external_id', '=', externalId).where('expires_at', '>', this.#now());
    return firstOf(inUnit(this.#deps.em.fork()), open);
  }

  async #find(db: Queryable, token: string): Promise<InvitationRow> {
    const wanted = tables.selectFrom('member_invitations').selectAll().where('token_hash', '=', tokenHash(token));
    const found = await firstOf(db, wanted.where('expires_at', '>', this.#now()));
    if (!found) throw invalidToken();
    return found;
  }

  #now(): Date {
    return new Date(this.#deps.clock.now());
  }
}

interface Joining {
  readonly passwordHash: string;
  readonly name: string | null;
  readonly origin: Origin;
}

const invitationsOf = (accountId: string) => tables.selectFrom('member_invitations').selectAll().where('account_id', '=', accountId);
const tokenHash = (token: string): Buffer => hash('sha256', token, 'buffer');
const invalidToken = (): Problem =>
  new Problem('invalid_token', 'The invitation was used or withdrawn, or has expired: ask for another one.');

interface Told {
  readonly action: `member.${string}`;
  readonly id: string;
  readonly changes: Readonly<Record<string, unknown>>;
}

const audit = (db: Queryable, principal: Administrator, { action, id, changes }: Told, origin: Origin): Promise<void> =>
  recordAudit(db, {
    accountId: principal.accountId,
    actor: actorOf(principal),
    action,
    target: { kind: 'invitation', id },
    changes,
    origin,
  });

const toWire = ({ id, email, account_role, external_id, created_at, expires_at }: Omit<InvitationRow, 'token_hash'>): MemberInvitation => ({
  invitation_id: id,
  email,
  account_role,
  external_id,
  created_at: rfc3339(created_at),
  expires_at: rfc3339(expires_at),
});
