import type { AccountRole } from '@tallygate/contract';
import type { Principal, SeenBy } from '../../http/index.ts';
import { Problem } from '../../kernel/problem.ts';
import { anyOf, firstOf, type Queryable, type RowOf, rowsOf } from '../../kernel/statements.ts';
import type { ProjectEntity } from './entities.ts';
import { tables } from './tables.ts';

export type ProjectRow = RowOf<typeof ProjectEntity>;

/** Whoever asks: a person, or a key of theirs. */
interface Caller {
  readonly accountId: string;
  readonly userId: string;
  /** Absent: `owner`. */
  readonly accountRole?: AccountRole;
}

/** Developers see the projects that they were added to. All other roles are about the account as a whole. */
const seesAllProjects = ({ accountRole = 'owner' }: Pick<Caller, 'accountRole'>): boolean => accountRole !== 'developer';

/**
 * Who says who is in a project, beside its own admins: owners and admins of the account. Asked where a change commits: somebody else may
 * have taken the caller's role while it waited.
 */
export async function managesAllProjects(db: Queryable, { userId }: Pick<Caller, 'userId'>): Promise<boolean> {
  const caller = tables.selectFrom('users').select('account_role').where('id', '=', userId).where('closed_at', 'is', null).forShare();
  const role = (await firstOf(db, caller))?.account_role;
  return role === 'owner' || role === 'admin';
}

const idsOfProjectsOf = (userId: string) => tables.selectFrom('project_members').select('project_id').where('user_id', '=', userId);

/** The ids of the projects that the caller sees; undefined: all of the account. */
export async function projectsSeenBy(db: Queryable, caller: Principal): Promise<readonly string[] | undefined> {
  if (seesAllProjects(caller)) return undefined;
  return (await rowsOf(db, idsOfProjectsOf(caller.userId))).map(({ project_id }) => project_id);
}

/** What the caller sees of requests, runs, receipts and usage: developers their own and those of their projects; undefined: all of the account. */
export const seenBy =
  (db: Queryable): SeenBy =>
  async (caller) => {
    const projects = await projectsSeenBy(db, caller);
    return projects && { userId: caller.userId, projects };
  };

export const projectsOf = (caller: Caller) => {
  const ours = tables.selectFrom('projects').selectAll().where('account_id', '=', caller.accountId);
  return seesAllProjects(caller) ? ours : ours.where('id', 'in', idsOfProjectsOf(caller.userId));
};

/** @throws Problem `not_found`, also for a project that the caller does not see */
export async function findProject(
  db: Queryable,
  caller: Caller,
  projectId: string,
  lock?: 'for share' | 'for update',
): Promise<ProjectRow> {
  // Another account's project is not even read.
  const ours = projectsOf(caller).where('id', '=', projectId);
  const found = await firstOf(db, lock === undefined ? ours : lock === 'for share' ? ours.forShare() : ours.forUpdate());
  if (!found) throw notFound();
  return found;
}

/**
 * A project in use in which the caller may make API keys, and it stays so until the transaction ends.
 * @throws Problem `not_found`; `conflict` for one that is archived
 */
export async function requireProject(db: Queryable, caller: Caller, projectId: string): Promise<void> {
  const { archived_at } = await findProject(db, caller, projectId, 'for share');
  // Whoever removes them waits, and then ends the key that is made here.
  if (!seesAllProjects(caller)) {
    const own = tables.selectFrom('project_members').select('role').where('project_id', '=', projectId);
    if (!(await firstOf(db, own.where('user_id', '=', caller.userId).forShare()))) throw notFound();
  }
  if (archived_at !== null)
    throw new Problem('conflict', 'The project is archived: take it into use again first.', { param: 'project_id' });
}

/** Whether all of these are projects of the account. */
export async function hasProjects(db: Queryable, accountId: string, ids: readonly string[]): Promise<boolean> {
  if (ids.length === 0) return true;
  const ours = tables.selectFrom('projects').select('id').where('account_id', '=', accountId);
  return (await rowsOf(db, ours.where('id', '=', anyOf([...ids])))).length === ids.length;
}

/** @param names ids or `external_id`s. @returns those that the account has, as they are named here, with their ids */
export async function projectsNamed(db: Queryable, accountId: string, names: readonly string[]): Promise<ReadonlyMap<string, string>> {
  if (names.length === 0) return new Map();
  const ours = await rowsOf(db, tables.selectFrom('projects').select(['id', 'external_id']).where('account_id', '=', accountId));
  const found = names.flatMap((name): [string, string][] => {
    const project = ours.find(({ id, external_id }) => id === name || external_id === name);
    return project ? [[name, project.id]] : [];
  });
  return new Map(found);
}

export const notFound = (): Problem =>
  new Problem('not_found', 'There is no such project, or you are not a member of it: GET /v1/projects lists your projects.');
