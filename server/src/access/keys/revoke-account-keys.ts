import * as z from 'zod';
import { recordAudit } from '../../audit/index.ts';
import type { OnAccountClosed } from '../identity/index.ts';
import { KEYS_CHANNEL } from './keys.ts';

const Revoked = z.array(z.object({ id: z.string() }));

/** Ends every key of an account that closes, in the transaction that closes it; all instances are told when it commits. */
export const revokeAccountKeys: OnAccountClosed = async (execute, { accountId, at, actor, origin }) => {
  const rows = await execute('update api_keys set revoked_at = $1 where account_id = $2 and revoked_at is null returning id', [
    at,
    accountId,
  ]);
  for (const { id } of Revoked.parse(rows))
    await recordAudit(execute, { accountId, actor, action: 'key.revoked', target: { kind: 'key', id }, origin });
  await execute('select pg_notify($1, $2)', [KEYS_CHANNEL, `account:${accountId}`]);
};
