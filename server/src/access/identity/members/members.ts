import type { EntityManager } from '@mikro-orm/postgresql';
import type { AccountRole } from '@tallygate/contract';
import { actorOf, type Origin, recordAudit } from '../../../audit/index.ts';
import type { Administrator } from '../../../http/index.ts';
import type { Clock } from '../../../kernel/clock.ts';
import { Keyset, mapPage, type Page, type PageQuery } from '../../../kernel/page.ts';
import { Problem } from '../../../kernel/problem.ts';
import { inUnit } from '../../../kernel/statements.ts';
import { inUnitOfWork } from '../../../kernel/transaction.ts';
import { oneRoleChangeAtATime, requireOtherAdministrator } from '../roles.ts';
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

  async list(accountId: string, query: PageQuery): Promise<Page<User>> {
    const [before] = MEMBERS.cursorKey(query.cursor) ?? [];
    const ofAccount = { account: accountId, closedAt: null, ...(before !== undefined && { id: { $lt: before } }) };
    const users = await this.#deps.em.fork().find(User, ofAccount, { orderBy: { id: 'desc' }, limit: query.limit + 1 });
    const keyed = users.map((user) => ({ user, page_key: [user.id] }));
    return mapPage(MEMBERS.page(keyed, query), ({ user }) => user);
  }

  /** @throws Problem `not_found`; `forbidden` where an admin changes owners; `conflict` for the last owner */
  setRole(principal: Administrator, userId: string, role: AccountRole, origin: Origin): Promise<User> {
    return inUnitOfWork(this.#deps.em, async (unit) => {
      const caller = await requireAuthority(unit, principal, new Date(this.#deps.clock.now()));
      const user = await lockMember(unit, principal, userId);
      const before = user.accountRole;
      refuseBeyondOwners(caller, before, role);
      if (before === role) return user;
      if (before === 'owner') await requireOtherOwner(unit, user);
      user.accountRole = role;
      await unit.flush();
      await withdrawBeyondRole(unit, userId, role);
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
    return inUnitOfWork(this.#deps.em, async (unit) => {
      await oneRoleChangeAtATime(unit);
      const at = new Date(this.#deps.clock.now());
      const caller = await requireAuthority(unit, principal, at);
      const user = await lockMember(unit, principal, userId);
      refuseBeyondOwners(caller, user.accountRole);
      if (user.accountRole === 'owner') await requireOtherOwner(unit, user);
      await requireOtherAdministrator(unit, user, 'remove this member');
      await endMembership(unit, this.#deps.onMemberRemoved, { user, at, actor: actorOf(principal), origin });
    });
  }
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

const record = (unit: EntityManager, principal: Administrator, { action, userId, changes }: Told, origin: Origin): Promise<void> =>
  recordAudit(inUnit(unit), {
    ...{ accountId: principal.accountId, actor: actorOf(principal), action, changes, origin },
    target: { kind: 'user', id: userId },
  });
