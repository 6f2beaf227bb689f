import { type SqlBool, sql } from 'kysely';
import { type Actor, type Origin, recordAudit } from '../../audit/index.ts';
import { type Queryable, rowsOf } from '../../kernel/statements.ts';
import type { OnAccountClosed, OnMemberRemoved } from '../identity/index.ts';
import type { LeftProject } from '../projects/index.ts';
import { recordKeyEvent } from './key-events.ts';
import { KEYS_CHANNEL } from './keys.ts';
import { tables } from './tables.ts';

interface By {
  readonly actor: Actor;
  readonly origin?: Origin;
}

const active = (at: Date) => tables.updateTable('api_keys').set({ revoked_at: at }).where('revoked_at', 'is', null);

async function revoke(db: Queryable, keys: ReturnType<typeof active>, { actor, origin }: By): Promise<void> {
  for (const { id, account_id: accountId, ...key } of await rowsOf(db, keys.returning(['id', 'account_id', 'name', 'livemode']))) {
    await recordAudit(db, { accountId, actor, action: 'key.revoked', target: { kind: 'key', id }, ...(origin && { origin }) });
    await recordKeyEvent(db, 'key.revoked', { id, accountId, ...key });
  }
}

/** Ends every key of an account that closes, in the transaction that closes it; all instances are told when it commits. */
export const revokeAccountKeys: OnAccountClosed = async (db, { accountId, at, ...by }) => {
  await revoke(db, active(at).where('account_id', '=', accountId), by);
  await revokeManagementKeys(db, 'account_id', accountId, { at, ...by });
  await db.query('select pg_notify($1, $2)', [KEYS_CHANNEL, `account:${accountId}`]);
};

/** The same for the keys of a project that is archived. A trigger on `projects` tells the instances (migration 0161). */
export const revokeProjectKeys = (db: Queryable, { projectId, at }: { readonly projectId: string; readonly at: Date }): Promise<void> =>
  revoke(db, active(at).where('project_id', '=', projectId), { actor: { kind: 'system', id: null } });

/** The same for somebody who is removed from a project: of its keys those whose secrets are known to them. */
export async function revokeKeysInProject(db: Queryable, { accountId, projectId, userId, at, ...by }: LeftProject): Promise<void> {
  await revoke(db, active(at).where('project_id', '=', projectId).where(knownTo(userId)), by);
  await db.query('select pg_notify($1, $2)', [KEYS_CHANNEL, `account:${accountId}`]);
}

const knownTo = (userId: string) => sql<SqlBool>`(user_id = ${userId} or ${userId} = any(secret_shown_to))`;

/**
 * The same for the keys of a member who is removed, those of projects too, and those that they rotated: the secrets are known to them. A trigger on `users` tells the
 * instances (migration 0162).
 */
export const revokeMemberKeys: OnMemberRemoved = async (db, { accountId, userId, at, ...by }) => {
  await revoke(db, active(at).where('account_id', '=', accountId).where(knownTo(userId)), by);
  await revokeManagementKeys(db, 'user_id', userId, { at, ...by });
};

type Owner = 'account_id' | 'user_id';

async function revokeManagementKeys(
  db: Queryable,
  owner: Owner,
  id: string,
  { at, actor, origin }: By & { readonly at: Date },
): Promise<void> {
  const ended = tables.updateTable('management_keys').set({ revoked_at: at }).where(owner, '=', id).where('revoked_at', 'is', null);
  for (const row of await rowsOf(db, ended.returning(['id', 'account_id'])))
    await recordAudit(db, {
      ...{ accountId: row.account_id, actor, action: 'management_key.revoked', ...(origin && { origin }) },
      target: { kind: 'management_key', id: row.id },
    });
}
