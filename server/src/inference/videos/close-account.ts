import type { OnAccountClosed } from '../../access/identity/index.ts';

/** The videos and characters of an account that closes are deleted with it, in the same transaction: running jobs are called off, bytes go. */
export const deleteAccountVideos: OnAccountClosed = async (db, { accountId }) => {
  await db.query('update videos set deleted_at = now(), next_step_at = now() where account_id = $1 and deleted_at is null', [accountId]);
  await db.query('delete from video_characters where account_id = $1', [accountId]);
};
