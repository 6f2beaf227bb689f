import type { OnAccountClosed } from '../../access/identity/index.ts';

/** The files of an account that closes are gone with it, in the same transaction; their blobs are orphans from then on, and swept. */
export const deleteAccountFiles: OnAccountClosed = async (db, { accountId }) => {
  await db.query('delete from file_blobs where account_id = $1', [accountId]);
  await db.query('delete from uploads where account_id = $1', [accountId]);
  await db.query('delete from files where account_id = $1', [accountId]);
  await db.query('delete from file_storage where account_id = $1', [accountId]);
};
