import type { EntityManager } from '@mikro-orm/postgresql';
import type { AccountRole, UpdateDirectoryGroupRequest, DirectoryGroup as WireGroup } from '@tallygate/contract';
import { sql } from 'kysely';
import { actorOf, type Origin, recordAudit } from '../../audit/index.ts';
import type { Administrator } from '../../http/index.ts';
import { type Clock, rfc3339 } from '../../kernel/clock.ts';
import { newId } from '../../kernel/ids.ts';
import { Keyset, mapPage, type Page, type PageQuery } from '../../kernel/page.ts';
import { Problem } from '../../kernel/problem.ts';
import { anyOf, firstOf, ifGiven, inUnit, type Queryable, type RowOf, rowsOf, run } from '../../kernel/statements.ts';
import { inUnitOfWork } from '../../kernel/transaction.ts';
import { type Identity, lockMembers } from '../identity/index.ts';
import type { GiveProjects } from '../projects/index.ts';
import type { DirectoryGroup } from './entities.ts';
import { projectsByGroups, projectsOfGroups, setProjectsOfGroup } from './group-projects.ts';
import { rolesByGroups } from './group-roles.ts';
import { ScimError } from './scim-error.ts';
import { equalsOf } from './scim-filter.ts';
import { type Listed, listed, windowOf } from './scim-list.ts';
import { GROUP_SCHEMA, type ScimGroup, type ScimQuery } from './scim-schemas.ts';
import { tables } from './tables.ts';

type GroupRow = RowOf<typeof DirectoryGroup>;
export type GroupResource = ReturnType<typeof toResource>;

interface DirectoryGroupsDeps {
  readonly em: EntityManager;
  readonly clock: Clock;
  readonly identity: Pick<Identity, 'members'>;
  readonly giveProjects: GiveProjects;
}

const FILTERED = { id: 'id', displayName: 'display_name', externalId: 'external_id' } as const;
const GROUPS = new Keyset({ name: 'directory-groups', columns: { id: 'uuid' }, direction: 'desc' });

/** Groups as the directory of an account has them (RFC 7643, 4.2); the account says which role they give. */
export class DirectoryGroups {
  readonly #deps: DirectoryGroupsDeps;

  constructor(deps: DirectoryGroupsDeps) {
    this.#deps = deps;
  }

  /** @throws ScimError `invalidFilter` */
  async list(accountId: string, query: ScimQuery): Promise<Listed<GroupResource>> {
    const filter = equalsOf(query.filter, FILTERED);
    const wanted = groupsOf(accountId).where((eb) =>
      ifGiven(filter, ({ column, value }) => eb(sql`lower(${sql.ref(column)}::text)`, '=', value.toLowerCase())),
    );
    const { offset, limit } = windowOf(query);
    const counted = wanted.clearSelect().select(({ fn }) => fn.countAll<string>().as('total'));
    const { total = '0' } = (await firstOf(this.#db(), counted)) ?? {};
    const rows = await rowsOf(this.#db(), wanted.orderBy('id').limit(limit).offset(offset));
    return listed(await Promise.all(rows.map((row) => this.#resource(this.#db(), row))), Number(total), query);
  }

  /** @throws ScimError 404 */
  async get(accountId: string, id: string): Promise<GroupResource> {
    return this.#resource(this.#db(), await find(this.#db(), accountId, id));
  }

  /** @throws ScimError `uniqueness`, `invalidValue` for members that are not there */
  create(principal: Administrator, wanted: ScimGroup, origin: Origin): Promise<GroupResource> {
    const { accountId } = principal;
    return this.#locked(accountId, async (unit) => {
      const db = inUnit(unit);
      const now = this.#now();
      await requireFreeName(db, accountId, wanted.displayName);
      const id = newId();
      const blank = { id, account_id: accountId, display_name: wanted.displayName, account_role: null };
      await run(db, tables.insertInto('directory_groups').values({ ...blank, created_at: now, updated_at: now }));
      return this.#save(unit, principal, await find(db, accountId, id), wanted, origin);
    });
  }

  /**
   * @param wantedOf of the group as nobody else changes it meanwhile
   * @throws ScimError 404, `uniqueness`, `invalidValue`
   */
  change(principal: Administrator, id: string, wantedOf: (before: GroupResource) => ScimGroup, origin: Origin): Promise<GroupResource> {
    const { accountId } = principal;
    return this.#locked(accountId, async (unit) => {
      const before = await find(inUnit(unit), accountId, id);
      const wanted = wantedOf(await this.#resource(inUnit(unit), before));
      if (before.display_name !== wanted.displayName) await requireFreeName(inUnit(unit), accountId, wanted.displayName);
      return this.#save(unit, principal, before, wanted, origin);
    });
  }

  /** @throws ScimError 404 */
  delete(principal: Administrator, id: string, origin: Origin): Promise<void> {
    return this.#locked(principal.accountId, async (unit) => {
      const db = inUnit(unit);
      const group = await find(db, principal.accountId, id);
      const members = await memberIdsOf(db, group.id);
      await run(db, tables.deleteFrom('directory_groups').where('id', '=', group.id));
      if (group.account_role !== null) await this.#giveRoles(unit, principal, members, origin);
      await this.#giveProjects(unit, principal, members, origin);
    });
  }

  /** With what each gives, for the people who administer the account. */
  async given(accountId: string, query: PageQuery): Promise<Page<WireGroup>> {
    const rows = await rowsOf(this.#db(), GROUPS.pageIn(groupsOf(accountId), query));
    const ids = rows.map(({ id }) => id);
    const projectsOf = await projectsOfGroups(this.#db(), ids);
    return mapPage(GROUPS.page(rows, query), (row) => toWire(row, projectsOf(row.id)));
  }

  /** What the group makes of its members, from now on. @throws Problem `not_found`, also for a project that the account does not have */
  give(principal: Administrator, id: string, given: UpdateDirectoryGroupRequest, origin: Origin): Promise<WireGroup> {
    const { accountId } = principal;
    return this.#locked(accountId, async (unit) => {
      const db = inUnit(unit);
      const row = await firstOf(db, groupsOf(accountId).where('id', '=', id));
      if (!row) throw new Problem('not_found', 'There is no such group: GET /v1/directory/groups lists them.');
      const members = await memberIdsOf(db, id);
      const before = toWire(row, (await projectsOfGroups(db, [id]))(id));
      const { account_role = before.account_role, projects } = given;
      if (account_role !== before.account_role) {
        await run(db, tables.updateTable('directory_groups').set({ account_role }).where('id', '=', id));
        await this.#record(db, principal, id, { account_role: { from: before.account_role, to: account_role } }, origin);
        await this.#giveRoles(unit, principal, members, origin);
      }
      if (projects) {
        await setProjectsOfGroup(db, { accountId, groupId: id }, projects);
        await this.#record(db, principal, id, { projects: { from: before.projects, to: projects } }, origin);
        await this.#giveProjects(unit, principal, members, origin);
      }
      return { ...before, account_role, projects: projects ?? before.projects };
    });
  }

  #record(db: Queryable, principal: Administrator, id: string, changes: Readonly<Record<string, unknown>>, origin: Origin): Promise<void> {
    const action = 'projects' in changes ? 'directory_group.projects_changed' : 'directory_group.role_changed';
    return recordAudit(db, {
      ...{ accountId: principal.accountId, actor: actorOf(principal), action, changes, origin },
      target: { kind: 'directory_group', id },
    });
  }

  async #save(unit: EntityManager, principal: Administrator, before: GroupRow, wanted: ScimGroup, origin: Origin): Promise<GroupResource> {
    const db = inUnit(unit);
    const { id } = before;
    const saved = { display_name: wanted.displayName, external_id: wanted.externalId ?? null, updated_at: this.#now() };
    await run(db, tables.updateTable('directory_groups').set(saved).where('id', '=', id));
    const members = new Set(wanted.members.map(({ value }) => value));
    await requireUsers(db, principal.accountId, [...members]);
    const earlier = new Set(await memberIdsOf(db, id));
    const gone = [...earlier].filter((one) => !members.has(one));
    const come = [...members].filter((one) => !earlier.has(one));
    const theirs = tables.deleteFrom('directory_group_members').where('group_id', '=', id);
    if (gone.length > 0) await run(db, theirs.where('directory_user_id', '=', anyOf(gone)));
    if (come.length > 0) await addMembers(db, id, come);
    // A group without a role says nothing of its members': people have given them.
    if (before.account_role !== null) await this.#giveRoles(unit, principal, [...come, ...gone], origin);
    await this.#giveProjects(unit, principal, [...come, ...gone], origin);
    return this.#resource(db, await find(db, principal.accountId, id));
  }

  /** Owners are made and changed by people: no group takes the role from one. */
  async #giveRoles(unit: EntityManager, principal: Administrator, directoryUserIds: readonly string[], origin: Origin): Promise<void> {
    if (directoryUserIds.length === 0) return;
    const db = inUnit(unit);
    const known = tables
      .selectFrom('directory_users')
      .select(['id', 'user_id'])
      .where('id', '=', anyOf([...directoryUserIds]));
    const roleOf = await rolesByGroups(db, directoryUserIds);
    const active = (await rowsOf(db, known)).flatMap(({ id, user_id }): [string, AccountRole][] =>
      user_id === null ? [] : [[user_id, roleOf(id)]],
    );
    await this.#deps.identity.members.giveRoles(unit, principal, new Map(active), origin);
  }

  async #giveProjects(unit: EntityManager, principal: Administrator, directoryUserIds: readonly string[], origin: Origin): Promise<void> {
    if (directoryUserIds.length === 0) return;
    const { accountId } = principal;
    const wanted = await projectsByGroups(inUnit(unit), directoryUserIds);
    const by = { at: this.#now(), actor: actorOf(principal), origin };
    await this.#deps.giveProjects(inUnit(unit), { accountId, directory: 'groups', wanted, ...by });
  }

  async #resource(db: Queryable, row: GroupRow): Promise<GroupResource> {
    return toResource(row, await memberIdsOf(db, row.id));
  }

  #locked<Result>(accountId: string, work: (unit: EntityManager) => Promise<Result>): Promise<Result> {
    return inUnitOfWork(this.#deps.em, async (unit) => {
      await lockMembers(unit, accountId);
      return work(unit);
    });
  }

  #db(): Queryable {
    return inUnit(this.#deps.em.fork());
  }

  #now(): Date {
    return new Date(this.#deps.clock.now());
  }
}

const groupsOf = (accountId: string) => tables.selectFrom('directory_groups').selectAll().where('account_id', '=', accountId);

async function find(db: Queryable, accountId: string, id: string): Promise<GroupRow> {
  const found = await firstOf(db, groupsOf(accountId).where('id', '=', id));
  if (!found) throw new ScimError(404, 'There is no such group.');
  return found;
}

async function memberIdsOf(db: Queryable, groupId: string): Promise<string[]> {
  const members = tables.selectFrom('directory_group_members').select('directory_user_id').where('group_id', '=', groupId);
  return (await rowsOf(db, members.orderBy('directory_user_id'))).map(({ directory_user_id }) => directory_user_id);
}

const addMembers = (db: Queryable, groupId: string, ids: readonly string[]): Promise<number> =>
  run(
    db,
    tables
      .insertInto('directory_group_members')
      .columns(['group_id', 'directory_user_id'])
      .expression((eb) =>
        eb
          .selectFrom('directory_users')
          .select([sql<string>`${groupId}::uuid`.as('group_id'), 'id'])
          .where('id', '=', anyOf(ids)),
      ),
  );

async function requireFreeName(db: Queryable, accountId: string, name: string): Promise<void> {
  if (await firstOf(db, groupsOf(accountId).where('display_name', '=', name)))
    throw new ScimError(409, 'Another group has this displayName.', 'uniqueness');
}

async function requireUsers(db: Queryable, accountId: string, ids: readonly string[]): Promise<void> {
  if (ids.length === 0) return;
  const known = tables
    .selectFrom('directory_users')
    .select('id')
    .where('account_id', '=', accountId)
    .where('id', '=', anyOf([...ids]));
  if ((await rowsOf(db, known)).length !== ids.length) throw new ScimError(400, 'A member of the group is no user here.', 'invalidValue');
}

const toResource = (row: GroupRow, members: readonly string[]) => ({
  schemas: [GROUP_SCHEMA],
  id: row.id,
  ...(row.external_id !== null && { externalId: row.external_id }),
  displayName: row.display_name,
  members: members.map((value) => ({ value })),
  meta: { resourceType: 'Group', created: rfc3339(row.created_at), lastModified: rfc3339(row.updated_at) },
});

const toWire = ({ id, display_name, external_id, account_role }: GroupRow, projects: WireGroup['projects']): WireGroup => ({
  group_id: id,
  ...{ display_name, external_id, account_role, projects },
});
