import type { ProjectRole, DirectoryGroup as WireGroup } from '@tallygate/contract';
import { Problem } from '../../kernel/problem.ts';
import { anyOf, type Queryable, rowsOf, run } from '../../kernel/statements.ts';
import { hasProjects, mostOf, type RolesInProjects } from '../projects/index.ts';
import { tables } from './tables.ts';

type ProjectsOfGroup = WireGroup['projects'];

/** What the groups of these entries of the directory give each member, by the ids of users. */
export async function projectsByGroups(db: Queryable, directoryUserIds: readonly string[]): Promise<ReadonlyMap<string, RolesInProjects>> {
  const people = tables.selectFrom('directory_users').select(['id', 'user_id']);
  const known = await rowsOf(db, people.where('id', '=', anyOf([...directoryUserIds])).where('user_id', 'is not', null));
  const given = tables
    .selectFrom('directory_group_members')
    .innerJoin('directory_group_projects', 'directory_group_projects.group_id', 'directory_group_members.group_id')
    .select(['directory_user_id', 'project_id', 'role'])
    .where('directory_user_id', '=', anyOf([...directoryUserIds]));
  const byPerson = Map.groupBy(await rowsOf(db, given), ({ directory_user_id }) => directory_user_id);
  return new Map(known.map(({ id, user_id }) => [String(user_id), rolesIn(byPerson.get(id) ?? [])]));
}

function rolesIn(given: readonly { readonly project_id: string; readonly role: ProjectRole }[]): RolesInProjects {
  const byProject = Map.groupBy(given, ({ project_id }) => project_id);
  return new Map([...byProject].map(([id, ofProject]) => [id, mostOf(ofProject.map(({ role }) => role))]));
}

/** By the ids of groups. */
export async function projectsOfGroups(db: Queryable, groupIds: readonly string[]): Promise<(groupId: string) => ProjectsOfGroup> {
  const given = tables
    .selectFrom('directory_group_projects')
    .selectAll()
    .where('group_id', '=', anyOf([...groupIds]));
  const byGroup = Map.groupBy(await rowsOf(db, given.orderBy('project_id')), ({ group_id }) => group_id);
  return (id) => (byGroup.get(id) ?? []).map(({ project_id, role }) => ({ project_id, project_role: role }));
}

/** @throws Problem `not_found` for a project that the account does not have */
export async function setProjectsOfGroup(
  db: Queryable,
  { accountId, groupId }: { readonly accountId: string; readonly groupId: string },
  projects: ProjectsOfGroup,
): Promise<void> {
  const ids = projects.map(({ project_id }) => project_id);
  if (!(await hasProjects(db, accountId, ids)))
    throw new Problem('not_found', 'There is no such project: GET /v1/projects lists them.', { param: 'projects' });
  await run(db, tables.deleteFrom('directory_group_projects').where('group_id', '=', groupId));
  if (projects.length > 0)
    await run(
      db,
      tables
        .insertInto('directory_group_projects')
        .values(projects.map(({ project_id, project_role }) => ({ group_id: groupId, project_id, role: project_role }))),
    );
}
