import { type Actor, type Origin, recordAudit } from '../../audit/index.ts';
import { anyOf, firstOf, type Queryable, rowsOf, run } from '../../kernel/statements.ts';
import { notFound } from './project-rights.ts';
import { tables } from './tables.ts';

interface Joining {
  readonly accountId: string;
  readonly projectId: string;
  readonly userIds: readonly string[];
  readonly at: Date;
  readonly actor: Actor;
  /** Absent where the service itself makes the key. */
  readonly origin: Origin | undefined;
}

/**
 * Makes members of those who know the secret of an API key that comes into a project, whatever they are in the account: removing them from
 * the project ends the key, also once an admin of the account has become a developer.
 * @throws Problem `not_found` where one of them is removed meanwhile
 */
export async function joinProject(db: Queryable, { accountId, projectId, userIds, at, actor, origin }: Joining): Promise<void> {
  const people = tables.selectFrom('users').select('id').where('account_id', '=', accountId).where('closed_at', 'is', null);
  for (const { id: user_id } of await rowsOf(
    db,
    people
      .where('id', '=', anyOf([...userIds]))
      .orderBy('id')
      .forShare(),
  )) {
    const row = { project_id: projectId, user_id, role: 'member' as const, added_at: at, directory: null };
    const joined = tables
      .insertInto('project_members')
      .values(row)
      .onConflict((conflict) => conflict.doNothing());
    if ((await run(db, joined)) === 0) await requireToStay(db, row);
    else
      await recordAudit(db, {
        ...{ accountId, actor, action: 'project.member_added', target: { kind: 'project', id: projectId }, ...(origin && { origin }) },
        changes: { user_id, role: 'member' },
      });
  }
}

/** Whoever removes them waits, and then ends the key. */
async function requireToStay(db: Queryable, { project_id, user_id }: { project_id: string; user_id: string }): Promise<void> {
  const own = tables.selectFrom('project_members').select('role').where('project_id', '=', project_id).where('user_id', '=', user_id);
  if (!(await firstOf(db, own.forShare()))) throw notFound();
}
