import { type Queryable, run } from '../../kernel/statements.ts';
import type { OnAccountClosed, OnMemberRemoved } from '../identity/index.ts';
import { tables } from './tables.ts';

/** A member who leaves is not active any more, whoever removes them. */
export const releaseDirectoryUser: OnMemberRemoved = async (db, { userId }) => {
  await run(db, tables.updateTable('directory_users').set({ user_id: null, active: false }).where('user_id', '=', userId));
};

/** What the directory has said goes with the account. */
export const deleteAccountDirectory: OnAccountClosed = async (db: Queryable, { accountId }) => {
  await run(db, tables.deleteFrom('directory_groups').where('account_id', '=', accountId));
  await run(db, tables.deleteFrom('directory_users').where('account_id', '=', accountId));
};
