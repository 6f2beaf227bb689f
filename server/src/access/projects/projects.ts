import type { CreateProjectRequest, Project, UpdateProjectRequest } from '@tallygate/contract';
import type { Pool } from 'pg';
import { actorOf, type Origin, recordAudit } from '../../audit/index.ts';
import type { Principal } from '../../http/index.ts';
import { type Clock, rfc3339 } from '../../kernel/clock.ts';
import { newId } from '../../kernel/ids.ts';
import { Keyset, mapPage, type Page, type PageQuery } from '../../kernel/page.ts';
import { Problem } from '../../kernel/problem.ts';
import { firstOf, ifGiven, type Queryable, rowsOf, run } from '../../kernel/statements.ts';
import { inTransaction } from '../../kernel/transaction.ts';
import { findProject, managesAllProjects, notFound, type ProjectRow, projectsOf } from './project-rights.ts';
import { tables } from './tables.ts';

interface ProjectsDeps {
  readonly pool: Pool;
  readonly clock: Clock;
  /** Ends the API keys of a project, in the transaction that archives it. */
  readonly revokeKeys: (db: Queryable, project: { readonly projectId: string; readonly at: Date }) => Promise<void>;
}

const PROJECTS = new Keyset({ name: 'projects', columns: { id: 'uuid' }, direction: 'desc' });

/** Whoever asks sees the projects of their own account and no others, and developers those that they are members of. */
export class Projects {
  readonly #deps: ProjectsDeps;

  constructor(deps: ProjectsDeps) {
    this.#deps = deps;
  }

  async list(
    principal: Principal,
    { external_id, ...query }: PageQuery & { readonly external_id?: string | undefined },
  ): Promise<Page<Project>> {
    const ours = projectsOf(principal).where((eb) => ifGiven(external_id, (id) => eb('external_id', '=', id)));
    return mapPage(PROJECTS.page(await rowsOf(this.#deps.pool, PROJECTS.pageIn(ours, query)), query), toWire);
  }

  /** @throws Problem `not_found` */
  async get(principal: Principal, projectId: string): Promise<Project> {
    return toWire(await findProject(this.#deps.pool, principal, projectId));
  }

  /** With an `external_id` that is there already, the project that has it. @throws Problem `conflict` where that one is another; `forbidden` */
  create(principal: Principal, { name, external_id: externalId }: CreateProjectRequest, origin: Origin): Promise<Project> {
    const { pool, clock } = this.#deps;
    const { accountId } = principal;
    const external_id = externalId ?? null;
    return inTransaction(pool, async (db) => {
      await requireManager(db, principal);
      const id = newId();
      const made = tables
        .insertInto('projects')
        .values({ id, account_id: accountId, name, external_id, created_at: new Date(clock.now()) })
        .onConflict((conflict) => conflict.columns(['account_id', 'external_id']).doNothing());
      if ((await run(db, made)) > 0) {
        await audit(db, principal, { id, action: 'project.created', changes: { name, external_id }, origin });
        return toWire(await findProject(db, principal, id));
      }
      const there = tables.selectFrom('projects').selectAll().where('account_id', '=', accountId).where('external_id', '=', external_id);
      const known = await firstOf(db, there);
      if (!known) throw notFound();
      if (known.name !== name || known.archived_at !== null) throw otherProject();
      return toWire(known);
    });
  }

  /** @throws Problem `not_found`, `forbidden` */
  update(principal: Principal, projectId: string, { name, archived }: UpdateProjectRequest, origin: Origin): Promise<Project> {
    const { pool, clock, revokeKeys } = this.#deps;
    return inTransaction(pool, async (db) => {
      const before = await findProject(db, principal, projectId, 'for update');
      await requireManager(db, principal);
      const now = new Date(clock.now());
      const archived_at = archived === undefined ? before.archived_at : archived ? (before.archived_at ?? now) : null;
      await run(
        db,
        tables
          .updateTable('projects')
          .set({ name: name ?? before.name, archived_at })
          .where('id', '=', projectId),
      );
      if (archived_at !== null && before.archived_at === null) await revokeKeys(db, { projectId, at: now });
      await audit(db, principal, { id: projectId, action: 'project.updated', changes: { name, archived }, origin });
      return toWire(await findProject(db, principal, projectId));
    });
  }
}

/** Judged where the change commits, as that of members is: somebody else may have taken the caller's role meanwhile. @throws Problem `forbidden` */
async function requireManager(db: Queryable, principal: Principal): Promise<void> {
  if (!(await managesAllProjects(db, principal)))
    throw new Problem('forbidden', 'This is for owners and admins of the account: ask one of them.');
}

const audit = (db: Queryable, principal: Principal, { id, action, changes, origin }: Told): Promise<void> =>
  recordAudit(db, {
    ...{ accountId: principal.accountId, actor: actorOf(principal), action, changes, origin },
    target: { kind: 'project', id },
  });

interface Told {
  readonly id: string;
  readonly action: 'project.created' | 'project.updated';
  readonly changes: Record<string, unknown>;
  readonly origin: Origin;
}

const otherProject = (): Problem =>
  new Problem('conflict', 'Another project has this external_id: change that one, or take another id.', { param: 'external_id' });

const toWire = ({ id, name, external_id, created_at, archived_at }: ProjectRow): Project => ({
  project_id: id,
  name,
  external_id,
  created_at: rfc3339(created_at),
  archived_at: archived_at && rfc3339(archived_at),
});
