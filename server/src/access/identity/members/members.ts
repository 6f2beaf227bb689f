import type { EntityManager } from '@mikro-orm/postgresql';
import type { AccountRole, UpdateMemberRequest } from '@tallygate/contract';
import { type AuditEntry, actorOf, type Origin, recordAudit, recordAudits } from '../../../audit/index.ts';
import type { Administrator } from '../../../http/index.ts';
import type { Clock } from '../../../kernel/clock.ts';
import { Keyset, mapPage, type Page, type PageQuery } from '../../../kernel/page.ts';
import { Problem } from '../../../kernel/problem.ts';
import { anyOf, inUnit, rowsOf, run } from '../../../kernel/statements.ts';
import { inUnitOfWork } from '../../../kernel/transaction.ts';
import { oneRoleChangeAtATime, requireOtherAdministrator } from '../roles.ts';
import { tables } from '../tables.ts';
import { User } from '../user.ts';
import { lockUser } from '../users.ts';
import { refuseBeyondOwners, requireAuthority, withdrawBeyondRole } from './authority.ts';
import { endMembership, type OnMemberRemoved } from './end-membership.ts';

export interface MembersDeps {
  readonly em: EntityManager;
  readonly clock: Clock;
  readonly onMemberRemoved: OnMemberRemoved;
}

const MEMBERS = new Keyset({ name: 'members', columns: { id: 'uuid' }, direction: 'desc' });

/** The people of one account. */
export class Members {
  readonly #deps: MembersDeps;

  constructor(deps: MembersDeps) {
    this.#deps = deps;
  }

  async list(
    accountId: string,
    { external_id: externalId, ...query }: PageQuery & { readonly external_id?: string | undefined },
  ): Promise<Page<User>> {
    const [before] = MEMBERS.cursorKey(query.cursor) ?? [];
    const ofAccount = {
      account: accountId,
      closedAt: null,
      ...(externalId !== undefined && { externalId }),
      ...(before !== undefined && { id: { $lt: before } }),
    };
    const users = await this.#deps.em.fork().find(User, ofAccount, { orderBy: { id: 'desc' }, limit: query.limit + 1 });
    const keyed = users.map((user) => ({ user, page_key: [user.id] }));
    return mapPage(MEMBERS.page(keyed, query), ({ user }) => user);
  }

  /** @throws Problem `not_found`; `forbidden` where an admin changes owners; `conflict` for the last owner, and for an id that another member has */
  update(principal: Administrator, userId: string, { account_role, external_id }: UpdateMemberRequest, origin: Origin): Promise<User> {
    return inUnitOfWork(this.#deps.em, async (unit) => {
      const caller = await requireAuthority(unit, principal, new Date(this.#deps.clock.now()));
      const user = await lockMember(unit, principal, userId);
      const before = user.accountRole;
      const role = account_role ?? before;
      if (account_role !== undefined) refuseBeyondOwners(caller, before, role);
      if (external_id !== undefined) await giveExternalId(unit, principal, user, external_id, origin);
      if (before === role) return user;
      if (before === 'owner') await requireOtherOwner(unit, user);
      user.accountRole = role;
      await unit.flush();
      await withdrawBeyondRole(unit, [userId], role);
      await record(
        unit,
        principal,
        { action: 'member.role_changed', userId, changes: { account_role: { from: before, to: role } } },
        origin,
      );
      return user;
    });
  }

  /** Ends sessions and API keys with it. @throws Problem as {@link setRole}, and `conflict` for the last administrator of the gateway */
  remove(principal: Administrator, userId: string, origin: Origin): Promise<void> {
    return inUnitOfWork(this.#deps.em, (unit) => this.removeIn(unit, principal, userId, origin));
  }

  /** The same in a transaction of the caller. */
  async removeIn(unit: EntityManager, principal: Administrator, userId: string, origin: Origin): Promise<void> {
    await oneRoleChangeAtATime(unit);
    const at = new Date(this.#deps.clock.now());
    const caller = await requireAuthority(unit, principal, at);
    const user = await lockMember(unit, principal, userId);
    refuseBeyondOwners(caller, user.accountRole);
    if (user.accountRole === 'owner') await requireOtherOwner(unit, user);
    await requireOtherAdministrator(unit, user, 'remove this member');
    await endMembership(unit, this.#deps.onMemberRemoved, { user, at, actor: actorOf(principal), origin });
  }

  /**
   * As their groups say, of which there may be ten thousand members; owners are made and changed by people.
   *
   * @param roles by the ids of users
   */
  async giveRoles(unit: EntityManager, principal: Administrator, roles: ReadonlyMap<string, AccountRole>, origin: Origin): Promise<void> {
    const db = inUnit(unit);
    const members = tables.selectFrom('users').where('account_id', '=', principal.accountId).where('closed_at', 'is', null);
    const locked = members.where('id', '=', anyOf([...roles.keys()])).select(['id', 'account_role']);
    const changed = (await rowsOf(db, locked.orderBy('id').forUpdate())).flatMap(({ id, account_role: from }) => {
      const to = roles.get(id);
      return from === 'owner' || to === undefined || to === from ? [] : [{ id, from, to }];
    });
    for (const [role, theirs] of Map.groupBy(changed, ({ to }) => to)) {
      const ids = theirs.map(({ id }) => id);
      await run(db, tables.updateTable('users').set({ account_role: role }).where('id', '=', anyOf(ids)));
      await withdrawBeyondRole(unit, ids, role);
    }
    const told = changed.map(({ id: userId, from, to }) =>
      entryOf(principal, { action: 'member.role_changed', userId, changes: { account_role: { from, to }, by: 'directory' } }, origin),
    );
    await recordAudits(db, told);
  }
}

/** @throws Problem `conflict` for an id that another member has */
async function giveExternalId(
  unit: EntityManager,
  principal: Administrator,
  user: User,
  externalId: string | null,
  origin: Origin,
): Promise<void> {
  const from = user.externalId ?? null;
  if (from === externalId) return;
  if (externalId !== null) await requireFreeExternalId(unit, principal.accountId, externalId);
  user.externalId = externalId;
  await unit.flush();
  const changes = { external_id: { from, to: externalId } };
  await record(unit, principal, { action: 'member.external_id_changed', userId: user.id, changes }, origin);
}

/** @throws Problem `conflict` */
export async function requireFreeExternalId(unit: EntityManager, accountId: string, externalId: string): Promise<void> {
  const other = await unit.findOne(User, { account: accountId, externalId, closedAt: null });
  if (other) throw new Problem('conflict', `The member ${other.id} has this external_id.`, { param: 'external_id' });
}

async function lockMember(unit: EntityManager, { accountId }: Administrator, userId: string): Promise<User> {
  const user = await lockUser(unit, userId);
  // Another account's member is answered as one that there is not.
  if (user?.account.id !== accountId) throw new Problem('not_found', 'There is no such member: GET /v1/members lists them.');
  return user;
}

async function requireOtherOwner(unit: EntityManager, user: User): Promise<void> {
  const other = await unit.findOne(User, { account: user.account, accountRole: 'owner', closedAt: null, id: { $ne: user.id } });
  if (!other) throw new Problem('conflict', 'The account has no other owner: make somebody else an owner first.');
}

interface Told {
  readonly action: `member.${string}`;
  readonly userId: string;
  readonly changes: Readonly<Record<string, unknown>>;
}

const record = (unit: EntityManager, principal: Administrator, told: Told, origin: Origin): Promise<void> =>
  recordAudit(inUnit(unit), entryOf(principal, told, origin));

const entryOf = (principal: Administrator, { action, userId, changes }: Told, origin: Origin): AuditEntry => ({
  ...{ accountId: principal.accountId, actor: actorOf(principal), action, changes, origin },
  target: { kind: 'user', id: userId },
});
