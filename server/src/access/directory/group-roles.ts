import type { AccountRole } from '@tallygate/contract';
import { type Queryable, rowsOf } from '../../kernel/statements.ts';
import { tables } from './tables.ts';

/** The most that the groups of somebody give them counts. */
const RANKS: readonly AccountRole[] = ['admin', 'billing', 'developer', 'viewer'];
/** Of somebody in no group that has a role. */
const DEFAULT_ROLE: AccountRole = 'developer';

export async function roleByGroups(db: Queryable, directoryUserId: string): Promise<AccountRole> {
  const given = tables
    .selectFrom('directory_groups')
    .innerJoin('directory_group_members', 'directory_group_members.group_id', 'directory_groups.id')
    .select('directory_groups.account_role')
    .where('directory_group_members.directory_user_id', '=', directoryUserId);
  const roles = (await rowsOf(db, given)).map(({ account_role }) => account_role);
  return RANKS.find((role) => roles.some((one) => one === role)) ?? DEFAULT_ROLE;
}
