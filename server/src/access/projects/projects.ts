import type { CreateProjectRequest, Project, UpdateProjectRequest } from '@tallygate/contract';
import type { Pool } from 'pg';
import { actorOf, type Origin, recordAudit } from '../../audit/index.ts';
import type { Principal } from '../../http/index.ts';
import { type Clock, rfc3339 } from '../../kernel/clock.ts';
import { newId } from '../../kernel/ids.ts';
import { Keyset, mapPage, type Page, type PageQuery } from '../../kernel/page.ts';
import { Problem } from '../../kernel/problem.ts';
import { firstOf, ifGiven, type Queryable, type RowOf, rowsOf, run } from '../../kernel/statements.ts';
import { inTransaction } from '../../kernel/transaction.ts';
import type { ProjectEntity } from './entities.ts';
import { tables } from './tables.ts';

interface ProjectsDeps {
  readonly pool: Pool;
  readonly clock: Clock;
  /** Ends the API keys of a project, in the transaction that archives it. */
  readonly revokeKeys: (db: Queryable, project: { readonly projectId: string; readonly at: Date }) => Promise<void>;
}

type ProjectRow = RowOf<typeof ProjectEntity>;

const PROJECTS = new Keyset({ name: 'projects', columns: { id: 'uuid' }, direction: 'desc' });

/** Whoever asks sees the projects of their own account and no others. */
export class Projects {
  readonly #deps: ProjectsDeps;

  constructor(deps: ProjectsDeps) {
    this.#deps = deps;
  }

  async list(
    accountId: string,
    { external_id, ...query }: PageQuery & { readonly external_id?: string | undefined },
  ): Promise<Page<Project>> {
    const ours = tables
      .selectFrom('projects')
      .selectAll()
      .where('account_id', '=', accountId)
      .where((eb) => ifGiven(external_id, (id) => eb('external_id', '=', id)));
    return mapPage(PROJECTS.page(await rowsOf(this.#deps.pool, PROJECTS.pageIn(ours, query)), query), toWire);
  }

  /** @throws Problem `not_found` */
  async get(accountId: string, projectId: string): Promise<Project> {
    return toWire(await find(this.#deps.pool, accountId, projectId));
  }

  /** With an `external_id` that is there already, the project that has it. @throws Problem `conflict` where that one is another */
  create(principal: Principal, { name, external_id: externalId }: CreateProjectRequest, origin: Origin): Promise<Project> {
    const { pool, clock } = this.#deps;
    const { accountId } = principal;
    const external_id = externalId ?? null;
    return inTransaction(pool, async (db) => {
      const id = newId();
      const made = tables
        .insertInto('projects')
        .values({ id, account_id: accountId, name, external_id, created_at: new Date(clock.now()) })
        .onConflict((conflict) => conflict.columns(['account_id', 'external_id']).doNothing());
      if ((await run(db, made)) > 0) {
        await audit(db, principal, { id, action: 'project.created', changes: { name, external_id }, origin });
        return toWire(await find(db, accountId, id));
      }
      const there = tables.selectFrom('projects').selectAll().where('account_id', '=', accountId).where('external_id', '=', external_id);
      const known = await firstOf(db, there);
      if (!known) throw notFound();
      if (known.name !== name || known.archived_at !== null) throw otherProject();
      return toWire(known);
    });
  }

  /** @throws Problem `not_found` */
  update(principal: Principal, projectId: string, { name, archived }: UpdateProjectRequest, origin: Origin): Promise<Project> {
    const { pool, clock, revokeKeys } = this.#deps;
    return inTransaction(pool, async (db) => {
      const before = await find(db, principal.accountId, projectId, 'for update');
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
      return toWire(await find(db, principal.accountId, projectId));
    });
  }
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

/**
 * A project of the account that is in use, and stays so until the transaction ends.
 * @throws Problem `not_found`; `conflict` for one that is archived
 */
export async function requireProject(db: Queryable, accountId: string, projectId: string): Promise<void> {
  const { archived_at } = await find(db, accountId, projectId, 'for share');
  if (archived_at !== null)
    throw new Problem('conflict', 'The project is archived: take it into use again first.', { param: 'project_id' });
}

async function find(db: Queryable, accountId: string, projectId: string, lock?: 'for share' | 'for update'): Promise<ProjectRow> {
  // Another account's project is not even read.
  const ours = tables.selectFrom('projects').selectAll().where('id', '=', projectId).where('account_id', '=', accountId);
  const found = await firstOf(db, lock === undefined ? ours : lock === 'for share' ? ours.forShare() : ours.forUpdate());
  if (!found) throw notFound();
  return found;
}

const notFound = (): Problem => new Problem('not_found', 'There is no such project in this account: GET /v1/projects lists its projects.');

const otherProject = (): Problem =>
  new Problem('conflict', 'Another project has this external_id: change that one, or take another id.', { param: 'external_id' });

const toWire = ({ id, name, external_id, created_at, archived_at }: ProjectRow): Project => ({
  project_id: id,
  name,
  external_id,
  created_at: rfc3339(created_at),
  archived_at: archived_at && rfc3339(archived_at),
});
