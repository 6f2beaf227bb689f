import type { ProjectMember, ProjectRole } from '@tallygate/contract';
import type { Pool } from 'pg';
import { type Actor, actorOf, type Origin, recordAudit } from '../../audit/index.ts';
import type { Administrator } from '../../http/index.ts';
import { type Clock, rfc3339 } from '../../kernel/clock.ts';
import { Keyset, mapPage, type Page, type PageQuery } from '../../kernel/page.ts';
import { Problem } from '../../kernel/problem.ts';
import { firstOf, type Queryable, rowsOf, run } from '../../kernel/statements.ts';
import { inTransaction } from '../../kernel/transaction.ts';
import { findProject, managesAllProjects } from './project-rights.ts';
import { tables } from './tables.ts';

/** Somebody who leaves a project. */
export interface LeftProject {
  readonly accountId: string;
  readonly projectId: string;
  readonly userId: string;
  readonly at: Date;
  readonly actor: Actor;
  readonly origin: Origin;
}

interface ProjectMembersDeps {
  readonly pool: Pool;
  readonly clock: Clock;
  /** Ends the API keys of the project that they know the secrets of, in the transaction that removes them. */
  readonly revokeKeys: (db: Queryable, left: LeftProject) => Promise<void>;
}

const MEMBERS = new Keyset({ name: 'project-members', columns: { user_id: 'uuid' }, direction: 'asc' });

/** Who is in a project. Owners and admins of the account are in all of them, and are not listed for it. */
export class ProjectMembers {
  readonly #deps: ProjectMembersDeps;

  constructor(deps: ProjectMembersDeps) {
    this.#deps = deps;
  }

  /** @throws Problem `not_found` */
  async list(principal: Administrator, projectId: string, query: PageQuery): Promise<Page<ProjectMember>> {
    await findProject(this.#deps.pool, principal, projectId);
    const members = membersOf(projectId);
    return mapPage(MEMBERS.page(await rowsOf(this.#deps.pool, MEMBERS.pageIn(members, query)), query), toWire);
  }

  /** @throws Problem `not_found` for a project that the caller does not see, and for somebody who is not in the account; `forbidden` */
  put(principal: Administrator, projectId: string, userId: string, role: ProjectRole, origin: Origin): Promise<ProjectMember> {
    const { accountId } = principal;
    return inTransaction(this.#deps.pool, async (db) => {
      await this.#requireAuthority(db, principal, projectId);
      const person = tables.selectFrom('users').select('id').where('id', '=', userId).where('account_id', '=', accountId);
      // Whoever removes them from the account waits, and then takes them out of the project.
      if (!(await firstOf(db, person.where('closed_at', 'is', null).forShare()))) throw nobody();
      const { role: before, directory } = (await membershipIn(db, projectId, userId)) ?? {};
      if (before !== role && directory) throw byDirectory();
      if (before !== role) {
        const row = { project_id: projectId, user_id: userId, role, added_at: new Date(this.#deps.clock.now()), directory: null };
        const put = tables.insertInto('project_members').values(row);
        await run(
          db,
          put.onConflict((conflict) => conflict.columns(['project_id', 'user_id']).doUpdateSet({ role })),
        );
        const action = before === undefined ? 'project.member_added' : 'project.member_changed';
        await recordAudit(db, {
          ...{ accountId, actor: actorOf(principal), action, target: { kind: 'project', id: projectId }, origin },
          changes: { user_id: userId, role: before === undefined ? role : { from: before, to: role } },
        });
      }
      const member = await firstOf(db, membersOf(projectId).where('user_id', '=', userId));
      if (!member) throw nobody();
      return toWire(member);
    });
  }

  /** @throws Problem `not_found`, `forbidden` */
  remove(principal: Administrator, projectId: string, userId: string, origin: Origin): Promise<void> {
    const { accountId } = principal;
    return inTransaction(this.#deps.pool, async (db) => {
      if (userId === principal.userId) await findProject(db, principal, projectId, 'for share');
      else await this.#requireAuthority(db, principal, projectId);
      if ((await membershipIn(db, projectId, userId))?.directory) throw byDirectory();
      const theirs = tables.deleteFrom('project_members').where('project_id', '=', projectId).where('user_id', '=', userId);
      if ((await run(db, theirs)) === 0) throw nobody();
      const actor = actorOf(principal);
      await recordAudit(db, {
        ...{ accountId, actor, action: 'project.member_removed', target: { kind: 'project', id: projectId }, origin },
        changes: { user_id: userId },
      });
      await this.#deps.revokeKeys(db, { accountId, projectId, userId, at: new Date(this.#deps.clock.now()), actor, origin });
    });
  }

  /** Judged where the change commits: another admin may have taken the role meanwhile. @throws Problem `not_found`, `forbidden` */
  async #requireAuthority(db: Queryable, principal: Administrator, projectId: string): Promise<void> {
    await findProject(db, principal, projectId, 'for share');
    if ((await managesAllProjects(db, principal)) || (await membershipIn(db, projectId, principal.userId))?.role === 'admin') return;
    throw new Problem('forbidden', 'This is for owners and admins of the account, and for admins of the project: ask one of them.');
  }
}

/** Takes somebody who leaves the account out of its projects; their keys end with them. */
export const leaveProjects = async (db: Queryable, { userId }: { readonly userId: string }): Promise<void> => {
  await run(db, tables.deleteFrom('project_members').where('user_id', '=', userId));
};

/** The same for everybody in an account that closes. */
export const deleteProjectMembers = async (db: Queryable, { accountId }: { readonly accountId: string }): Promise<void> => {
  const ours = tables.selectFrom('projects').select('id').where('account_id', '=', accountId);
  await run(db, tables.deleteFrom('project_members').where('project_id', 'in', ours));
};

async function membershipIn(db: Queryable, projectId: string, userId: string) {
  const own = tables.selectFrom('project_members').select(['role', 'directory']).where('project_id', '=', projectId);
  return firstOf(db, own.where('user_id', '=', userId).forShare());
}

const membersOf = (projectId: string) =>
  tables
    .selectFrom('project_members')
    .innerJoin('users', 'users.id', 'project_members.user_id')
    .select(['user_id', 'email', 'name', 'project_members.role', 'added_at', 'directory'])
    .where('project_id', '=', projectId);

const byDirectory = (): Problem =>
  new Problem('conflict', 'A group of the directory made them a member of the project: change the group, or the projects that it gives.');

const nobody = (): Problem => new Problem('not_found', 'There is no such member: GET /v1/members lists the people of the account.');

interface Shown {
  readonly user_id: string;
  readonly email: string;
  readonly name: string | null;
  readonly role: ProjectRole;
  readonly added_at: Date;
  readonly directory: string | null;
}

const toWire = ({ user_id, email, name, role, added_at, directory }: Shown): ProjectMember => ({
  ...{ user_id, email, name, project_role: role, by_directory: directory !== null, added_at: rfc3339(added_at) },
});
