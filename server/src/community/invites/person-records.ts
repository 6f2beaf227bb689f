import { sql } from 'kysely';
import { formatUsd } from '../../kernel/money.ts';
import { anyOf, rowsOf } from '../../kernel/statements.ts';
import { ERASED_DOMAIN, type PersonRecords } from '../people/index.ts';
import { tables } from './tables.ts';

/** Invitations to people, and what they activated. Uses stay counted, and what an account was given stays given. */
export const inviteRecords: PersonRecords = {
  kind: 'invites',
  read: async (sql, { emails }) =>
    (
      await sql.query(
        `select b.name as batch, i.email, i.name, i.status, i.sent_at, i.failure, i.revoked_at, b.expires_at, b.created_at
         from invites i join invite_batches b using (batch_id) where lower(i.email) = any($1::text[]) order by b.created_at`,
        [emails],
      )
    ).rows,
  // One that was not mailed yet is not mailed any more, and its code is invalid.
  erase: (sql, { emails, at }) =>
    sql.query(
      `update invites i set email = invite_id || '${ERASED_DOMAIN}', name = null, failure = null, erased_at = $2,
         status = case when status in ('pending', 'queued') then 'suppressed' else status end, revoked_at = coalesce(revoked_at, $2)
       where lower(email) = any($1::text[]) and (select created_at from invite_batches b where b.batch_id = i.batch_id) <= $2`,
      [emails, at],
    ),
};

export const activationRecords: PersonRecords = {
  kind: 'invite_activations',
  read: async (db, { emails }) =>
    (
      await rowsOf(
        db,
        tables
          .selectFrom('invite_activations as a')
          .innerJoin('invites as i', 'i.invite_id', 'a.invite_id')
          .innerJoin('invite_batches as b', 'b.batch_id', 'i.batch_id')
          .select(['b.name as batch', 'a.email', 'a.name', 'a.activated_at', 'a.granted_at', 'a.account_id', 'b.plan_id'])
          .select(['b.trial_days', 'b.credit_nano'])
          .where(sql`lower(a.email)`, '=', anyOf(emails))
          .orderBy('a.activated_at'),
      )
    ).map(({ credit_nano, ...row }) => ({ ...row, credit_usd: formatUsd(credit_nano) })),
  erase: (sql, { emails, at }) =>
    sql.query(
      `update invite_activations set email = activation_id || '${ERASED_DOMAIN}', name = null, erased_at = $2
       where lower(email) = any($1::text[]) and activated_at <= $2`,
      [emails, at],
    ),
};
