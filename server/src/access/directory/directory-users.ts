import type { EntityManager } from '@mikro-orm/postgresql';
import { sql } from 'kysely';
import { actorOf, type Origin } from '../../audit/index.ts';
import type { Administrator } from '../../http/index.ts';
import { type Clock, rfc3339 } from '../../kernel/clock.ts';
import { newId } from '../../kernel/ids.ts';
import { firstOf, ifGiven, inUnit, type Queryable, type RowOf, rowsOf, run } from '../../kernel/statements.ts';
import { inUnitOfWork } from '../../kernel/transaction.ts';
import { type Identity, lockMembers, provisionMember } from '../identity/index.ts';
import type { GiveProjects } from '../projects/index.ts';
import type { DirectoryUser } from './entities.ts';
import { projectsByGroups } from './group-projects.ts';
import { rolesByGroups } from './group-roles.ts';
import { ScimError } from './scim-error.ts';
import { equalsOf } from './scim-filter.ts';
import { type Listed, listed, windowOf } from './scim-list.ts';
import { type ScimQuery, type ScimUser, USER_SCHEMA } from './scim-schemas.ts';
import { tables } from './tables.ts';

type UserRow = RowOf<typeof DirectoryUser>;
export type UserResource = ReturnType<typeof toResource>;

interface DirectoryUsersDeps {
  readonly em: EntityManager;
  readonly clock: Clock;
  readonly identity: Pick<Identity, 'members' | 'planOf'>;
  readonly giveProjects: GiveProjects;
}

const FILTERED = { id: 'id', userName: 'user_name', externalId: 'external_id', 'emails.value': 'email', emails: 'email' } as const;

/** People as the directory of an account has them (RFC 7643, 4.1): who is active there is a member here. */
export class DirectoryUsers {
  readonly #deps: DirectoryUsersDeps;

  constructor(deps: DirectoryUsersDeps) {
    this.#deps = deps;
  }

  /** @throws ScimError `invalidFilter` */
  async list(accountId: string, query: ScimQuery): Promise<Listed<UserResource>> {
    const filter = equalsOf(query.filter, FILTERED);
    const wanted = usersOf(accountId).where((eb) =>
      ifGiven(filter, ({ column, value }) => eb(sql`lower(${sql.ref(column)}::text)`, '=', value.toLowerCase())),
    );
    const { offset, limit } = windowOf(query);
    const counted = wanted.clearSelect().select(({ fn }) => fn.countAll<string>().as('total'));
    const { total = '0' } = (await firstOf(this.#db(), counted)) ?? {};
    const rows = await rowsOf(this.#db(), wanted.orderBy('id').limit(limit).offset(offset));
    return listed(rows.map(toResource), Number(total), query);
  }

  /** @throws ScimError 404 */
  async get(accountId: string, id: string): Promise<UserResource> {
    return toResource(await find(this.#db(), accountId, id));
  }

  /** @throws ScimError `uniqueness`; Problem `conflict` for an address of another account */
  create(principal: Administrator, wanted: ScimUser, origin: Origin): Promise<UserResource> {
    const { accountId } = principal;
    return inUnitOfWork(this.#deps.em, async (unit) => {
      await lockMembers(unit, accountId);
      const now = this.#now();
      const db = inUnit(unit);
      await requireFreeName(db, accountId, wanted.userName);
      const id = newId();
      const blank = { id, account_id: accountId, user_id: null, user_name: wanted.userName, email: addressOf(wanted), active: false };
      await run(db, tables.insertInto('directory_users').values({ ...blank, created_at: now, updated_at: now }));
      return this.#save(unit, principal, await find(db, accountId, id), wanted, origin);
    });
  }

  /**
   * @param wantedOf of the user as nobody else changes it meanwhile
   * @throws ScimError 404, `uniqueness`; Problem `forbidden` for an owner who would be removed
   */
  change(principal: Administrator, id: string, wantedOf: (before: UserResource) => ScimUser, origin: Origin): Promise<UserResource> {
    const { accountId } = principal;
    return inUnitOfWork(this.#deps.em, async (unit) => {
      await lockMembers(unit, accountId);
      const db = inUnit(unit);
      const before = await find(db, accountId, id);
      const wanted = wantedOf(toResource(before));
      if (before.user_name.toLowerCase() !== wanted.userName.toLowerCase()) await requireFreeName(db, accountId, wanted.userName);
      return this.#save(unit, principal, before, wanted, origin);
    });
  }

  /** @throws ScimError 404; Problem as {@link change} */
  delete(principal: Administrator, id: string, origin: Origin): Promise<void> {
    return inUnitOfWork(this.#deps.em, async (unit) => {
      await lockMembers(unit, principal.accountId);
      const before = await find(inUnit(unit), principal.accountId, id);
      if (before.user_id !== null) await this.#deps.identity.members.removeIn(unit, principal, before.user_id, origin);
      await run(inUnit(unit), tables.deleteFrom('directory_users').where('id', '=', id));
    });
  }

  async #save(unit: EntityManager, principal: Administrator, before: UserRow, wanted: ScimUser, origin: Origin): Promise<UserResource> {
    const { accountId } = principal;
    const { members, planOf } = this.#deps.identity;
    const db = inUnit(unit);
    const at = this.#now();
    const name = nameOf(wanted);
    let userId = before.user_id;
    if (!wanted.active && userId !== null) {
      await members.removeIn(unit, principal, userId, origin);
      userId = null;
    }
    const email = addressOf(wanted);
    if (wanted.active && userId === null) {
      if (email === null) throw new ScimError(400, 'The user needs an e-mail address.', 'invalidValue');
      const accountRole = (await rolesByGroups(db, [before.id]))(before.id);
      const who = { accountId, email, name, accountRole, planOf, actor: actorOf(principal), origin, at };
      userId = (await provisionMember(unit, who)).id;
    }
    const saved = {
      ...{ user_id: userId, external_id: wanted.externalId ?? null, user_name: wanted.userName, email, display_name: name },
      ...{
        given_name: wanted.name?.givenName ?? null,
        family_name: wanted.name?.familyName ?? null,
        active: wanted.active,
        updated_at: at,
      },
    };
    await run(db, tables.updateTable('directory_users').set(saved).where('id', '=', before.id));
    if (userId !== before.user_id && userId !== null) {
      const wanted = await projectsByGroups(db, [before.id]);
      await this.#deps.giveProjects(db, { accountId, directory: 'groups', wanted, at, actor: actorOf(principal), origin });
    }
    return toResource(await find(db, accountId, before.id));
  }

  #db(): Queryable {
    return inUnit(this.#deps.em.fork());
  }

  #now(): Date {
    return new Date(this.#deps.clock.now());
  }
}

const usersOf = (accountId: string) => tables.selectFrom('directory_users').selectAll().where('account_id', '=', accountId);

async function find(db: Queryable, accountId: string, id: string): Promise<UserRow> {
  const found = await firstOf(db, usersOf(accountId).where('id', '=', id));
  if (!found) throw new ScimError(404, 'There is no such user.');
  return found;
}

async function requireFreeName(db: Queryable, accountId: string, userName: string): Promise<void> {
  const other = await firstOf(db, usersOf(accountId).where(sql`lower(user_name)`, '=', sql`lower(${userName})`));
  if (other) throw new ScimError(409, 'Another user has this userName.', 'uniqueness');
}

/** By which they sign in. Many directories have the address as the name of the user. */
function addressOf({ emails, userName }: ScimUser): string | null {
  const address = (emails?.find(({ primary }) => primary) ?? emails?.[0])?.value ?? userName;
  return /^[^\s@]+@[^\s@]+$/.test(address) ? address : null;
}

function nameOf({ displayName, name }: ScimUser): string | null {
  const parts = [name?.givenName, name?.familyName].filter(Boolean).join(' ');
  return displayName || name?.formatted || parts || null;
}

const toResource = (row: UserRow) => ({
  schemas: [USER_SCHEMA],
  id: row.id,
  ...(row.external_id !== null && { externalId: row.external_id }),
  userName: row.user_name,
  ...(row.display_name !== null && { displayName: row.display_name }),
  name: { formatted: row.display_name, givenName: row.given_name, familyName: row.family_name },
  emails: row.email === null ? [] : [{ value: row.email, type: 'work', primary: true }],
  active: row.active,
  meta: { resourceType: 'User', created: rfc3339(row.created_at), lastModified: rfc3339(row.updated_at) },
});
