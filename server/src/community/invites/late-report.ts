import { sql } from 'kysely';
import { firstOf, type Queryable } from '../../kernel/statements.ts';
import { tables } from './tables.ts';

/** An invitation that a mail server has taken. */
export interface MailedInvitation {
  readonly invite_id: string;
  /** In lower case. */
  readonly address: string;
  readonly status: 'queued' | 'sent' | 'unconfirmed' | 'failed';
  readonly failure: string | null;
}

/** The invitation that a mail server reports of later, locked until the transaction ends; undefined for one that was never mailed. */
export async function mailedInvitation(db: Queryable, inviteId: string): Promise<MailedInvitation | undefined> {
  const mailed = ['queued', 'sent', 'unconfirmed', 'failed'] as const;
  return firstOf(
    db,
    tables
      .selectFrom('invites')
      .select(['invite_id', 'failure', sql<string>`lower(email)`.as('address'), sql<(typeof mailed)[number]>`status`.as('status')])
      .where('invite_id', '=', inviteId)
      .where('email', 'is not', null)
      .where('erased_at', 'is', null)
      .where('status', 'in', mailed)
      .forUpdate(),
  );
}

/** The mail bounced late. Its code still works: a person to whom it was forwarded may have read it. */
export async function failInvitation(db: Queryable, inviteId: string, failure: string): Promise<void> {
  await db.query("update invites set status = 'failed', failure = $2 where invite_id = $1", [inviteId, failure]);
}
