import type { Pool } from 'pg';

/** Whom an invitation was mailed to; undefined for what is none, for a code that is given away, and for whoever was erased since. */
export async function addressInvited(sql: Pick<Pool, 'query'>, inviteId: string): Promise<string | undefined> {
  const { rows } = await sql.query<{ email: string }>(
    'select lower(email) as email from invites where invite_id = $1 and email is not null and erased_at is null',
    [inviteId],
  );
  return rows[0]?.email;
}
