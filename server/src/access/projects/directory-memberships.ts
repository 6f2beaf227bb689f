import type { ProjectRole } from '@tallygate/contract';
import { type Actor, type Origin, recordAudits } from '../../audit/index.ts';
import { anyOf, type Queryable, type RowOf, rowsOf, run } from '../../kernel/statements.ts';
import type { ProjectMemberEntity } from './entities.ts';
import type { LeftProject } from './project-members.ts';
import { tables } from './tables.ts';

type MemberRow = RowOf<typeof ProjectMemberEntity>;
/** What a person is in each project, by its id. */
export type RolesInProjects = ReadonlyMap<string, ProjectRole>;

/** What the directory says of some people. */
export interface GivenProjects {
  readonly accountId: string;
  /** Groups that SCIM sends, or those that a sign-in names: each changes what it has given. */
  readonly directory: NonNullable<MemberRow['directory']>;
  /** By the ids of members of the account. */
  readonly wanted: ReadonlyMap<string, RolesInProjects>;
  readonly at: Date;
  readonly actor: Actor;
  readonly origin: Origin;
}

/** Gives and takes memberships, as the groups of these people say now. */
export type GiveProjects = (db: Queryable, given: GivenProjects) => Promise<void>;

interface Change {
  readonly action: 'project.member_added' | 'project.member_changed' | 'project.member_removed';
  readonly row: Pick<MemberRow, 'project_id' | 'user_id' | 'role'>;
}

/**
 * The directory decides about a project that it gives, also about those whom people had added before; of other projects people decide. The members
 * of the account are locked by the caller.
 * @param revokeKeys of those who leave a project, in the same transaction
 */
export const giveProjects =
  (revokeKeys: (db: Queryable, left: LeftProject) => Promise<void>): GiveProjects =>
  async (db, { accountId, directory, wanted, at, actor, origin }) => {
    const there = await membershipsOf(db, [...wanted.keys()]);
    const left = there.filter((row) => row.directory === directory && !wanted.get(row.user_id)?.has(row.project_id));
    for (const { project_id: projectId, user_id: userId } of left) {
      const theirs = tables.deleteFrom('project_members').where('project_id', '=', projectId).where('user_id', '=', userId);
      await run(db, theirs);
      await revokeKeys(db, { accountId, projectId, userId, at, actor, origin });
    }
    const changes = [...left.map((row): Change => ({ action: 'project.member_removed', row })), ...changesOf(there, wanted, directory)];
    const put = changes.filter(({ action }) => action !== 'project.member_removed').map(({ row }) => ({ ...row, added_at: at, directory }));
    for (let first = 0; first < put.length; first += ROWS_AT_ONCE)
      await run(
        db,
        tables
          .insertInto('project_members')
          .values(put.slice(first, first + ROWS_AT_ONCE))
          .onConflict((conflict) =>
            conflict.columns(['project_id', 'user_id']).doUpdateSet(({ ref }) => ({ role: ref('excluded.role'), directory })),
          ),
      );
    await recordAudits(
      db,
      changes.map(({ action, row: { project_id, user_id, role } }) => ({
        ...{ accountId, actor, action, origin, target: { kind: 'project', id: project_id } as const },
        changes: { user_id, role, by: 'directory' },
      })),
    );
  };

const ROWS_AT_ONCE = 1_000;

const membershipsOf = (db: Queryable, userIds: readonly string[]): Promise<MemberRow[]> =>
  rowsOf(
    db,
    tables
      .selectFrom('project_members')
      .selectAll()
      .where('user_id', '=', anyOf([...userIds]))
      .orderBy('project_id')
      .orderBy('user_id')
      .forUpdate(),
  );

/** What one way of the directory has given, the other leaves alone. */
function changesOf(there: readonly MemberRow[], wanted: GivenProjects['wanted'], directory: GivenProjects['directory']): Change[] {
  const known = new Map(there.map((row) => [`${row.project_id} ${row.user_id}`, row]));
  return [...wanted].flatMap(([user_id, projects]) =>
    [...projects].flatMap(([project_id, role]): Change[] => {
      const before = known.get(`${project_id} ${user_id}`);
      const row = { project_id, user_id, role };
      if (!before) return [{ action: 'project.member_added', row }];
      const isOthers = before.directory !== null && before.directory !== directory;
      return isOthers || (before.directory === directory && before.role === role) ? [] : [{ action: 'project.member_changed', row }];
    }),
  );
}

/** The most that several groups give counts. */
export const mostOf = (roles: readonly ProjectRole[]): ProjectRole => (roles.includes('admin') ? 'admin' : 'member');
