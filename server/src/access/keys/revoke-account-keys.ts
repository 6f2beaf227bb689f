import { recordAudit } from '../../audit/index.ts';
import { rowsOf } from '../../kernel/statements.ts';
import type { OnAccountClosed } from '../identity/index.ts';
import { KEYS_CHANNEL } from './keys.ts';
import { tables } from './tables.ts';

/** Ends every key of an account that closes, in the transaction that closes it; all instances are told when it commits. */
export const revokeAccountKeys: OnAccountClosed = async (db, { accountId, at, actor, origin }) => {
  const revoked = tables
    .updateTable('api_keys')
    .set({ revoked_at: at })
    .where('account_id', '=', accountId)
    .where('revoked_at', 'is', null);
  for (const { id } of await rowsOf(db, revoked.returning('id')))
    await recordAudit(db, { accountId, actor, action: 'key.revoked', target: { kind: 'key', id }, origin });
  await db.query('select pg_notify($1, $2)', [KEYS_CHANNEL, `account:${accountId}`]);
};
