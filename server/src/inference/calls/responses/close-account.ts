import type { OnAccountClosed, OnStoringOff } from '../../../access/identity/index.ts';

/** What an account that closes has kept of its dialogues is gone with it, in the same transaction. What still runs is stopped. */
export const deleteAccountDialogues: OnAccountClosed = async (db, { accountId }) => {
  await db.query('delete from stored_responses where account_id = $1', [accountId]);
  await db.query('delete from conversations where account_id = $1', [accountId]);
  await deleteCachedAnswers(db, accountId);
  await db.query('delete from stored_chat_completions where account_id = $1', [accountId]);
};

/** Nobody can list or delete them one by one, so they go when their account switches storing off. */
export const deleteCachedAnswers: OnStoringOff = async (db, accountId) => {
  await db.query('delete from cached_answers where account_id = $1', [accountId]);
};
