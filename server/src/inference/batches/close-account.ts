import type { OnAccountClosed } from '../../access/identity/index.ts';

/** What an account has said of its batches goes with it, in the same transaction. Their lines go when their worker sees that it is closed. */
export const deleteAccountBatches: OnAccountClosed = async (db, { accountId }) => {
  await db.query('update batches set metadata = null, errors = null where account_id = $1', [accountId]);
};
