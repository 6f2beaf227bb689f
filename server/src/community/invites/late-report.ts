import type { Pool } from 'pg';

/** An invitation that a mail server has taken. */
export interface MailedInvitation {
  readonly invite_id: string;
  /** In lower case. */
  readonly address: string;
  readonly status: 'queued' | 'sent' | 'unconfirmed' | 'failed';
  readonly failure: string | null;
}

/** The invitation that a mail server reports of later, locked until the transaction ends; undefined for one that was never mailed. */
export async function mailedInvitation(sql: Pick<Pool, 'query'>, inviteId: string): Promise<MailedInvitation | undefined> {
  const { rows } = await sql.query<MailedInvitation>(
    `select invite_id, lower(email) as address, status, failure from invites
     where invite_id = $1 and email is not null and erased_at is null and status in ('queued', 'sent', 'unconfirmed', 'failed') for update`,
    [inviteId],
  );
  return rows[0];
}

/** It did not arrive after all. Its code goes on working: the mail may have been read by whoever it was passed on to. */
export async function failInvitation(sql: Pick<Pool, 'query'>, inviteId: string, failure: string): Promise<void> {
  await sql.query("update invites set status = 'failed', failure = $2 where invite_id = $1", [inviteId, failure]);
}
