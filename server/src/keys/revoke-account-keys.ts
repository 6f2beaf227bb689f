import type { OnAccountClosed } from '../identity/index.ts';
import { KEYS_CHANNEL } from './keys.ts';

/** Ends every key of an account that closes, in the transaction that closes it; all instances are told when it commits. */
export const revokeAccountKeys: OnAccountClosed = async (execute, { accountId, at }) => {
  await execute('update api_keys set revoked_at = $1 where account_id = $2 and revoked_at is null', [at, accountId]);
  await execute('select pg_notify($1, $2)', [KEYS_CHANNEL, `account:${accountId}`]);
};
