import type { AccountRole } from '@tallygate/contract';
import { anyOf, type Queryable, rowsOf } from '../../kernel/statements.ts';
import { tables } from './tables.ts';

/** The most that the groups of somebody give them counts. */
const RANKS: readonly AccountRole[] = ['admin', 'billing', 'developer', 'viewer'];
/** Of somebody in no group that has a role. */
const DEFAULT_ROLE: AccountRole = 'developer';

export async function rolesByGroups(db: Queryable, directoryUserIds: readonly string[]): Promise<(directoryUserId: string) => AccountRole> {
  const given = tables
    .selectFrom('directory_groups')
    .innerJoin('directory_group_members', 'directory_group_members.group_id', 'directory_groups.id')
    .select(['directory_group_members.directory_user_id', 'directory_groups.account_role'])
    .distinct()
    .where('directory_group_members.directory_user_id', '=', anyOf(directoryUserIds));
  const roles = Map.groupBy(await rowsOf(db, given), ({ directory_user_id }) => directory_user_id);
  return (id) => RANKS.find((role) => roles.get(id)?.some(({ account_role }) => account_role === role)) ?? DEFAULT_ROLE;
}
