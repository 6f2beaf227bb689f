import { sql } from 'kysely';
import { recordAudit } from '../../audit/index.ts';
import { type Queryable, rowsOf } from '../../kernel/statements.ts';
import type { OnAccountClosed, OnMemberRemoved } from '../identity/index.ts';
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

/** The same for the keys of a project that is archived. */
export async function revokeProjectKeys(
  db: Queryable,
  { projectId, at }: { readonly projectId: string; readonly at: Date },
): Promise<void> {
  const revoked = tables
    .updateTable('api_keys')
    .set({ revoked_at: at })
    .where('project_id', '=', projectId)
    .where('revoked_at', 'is', null);
  for (const { id, account_id: accountId } of await rowsOf(db, revoked.returning(['id', 'account_id'])))
    await recordAudit(db, { accountId, actor: { kind: 'system', id: null }, action: 'key.revoked', target: { kind: 'key', id } });
}

/** The same for the keys of a member who is removed, those of projects too, and those that they rotated: the secrets are known to them. */
export const revokeMemberKeys: OnMemberRemoved = async (db, { accountId, userId, at, actor, origin }) => {
  const revoked = tables
    .updateTable('api_keys')
    .set({ revoked_at: at })
    .where('account_id', '=', accountId)
    .where(sql<boolean>`(user_id = ${userId} or ${userId} = any(secret_shown_to))`)
    .where('revoked_at', 'is', null);
  for (const { id } of await rowsOf(db, revoked.returning('id')))
    await recordAudit(db, { accountId, actor, action: 'key.revoked', target: { kind: 'key', id }, origin });
};
