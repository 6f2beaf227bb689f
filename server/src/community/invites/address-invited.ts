import { sql } from 'kysely';
import { firstOf, type Queryable } from '../../kernel/statements.ts';
import { tables } from './tables.ts';

/** Whom an invitation was mailed to; undefined for what is none, for a code that is given away, and for whoever was erased since. */
export async function addressInvited(db: Queryable, inviteId: string): Promise<string | undefined> {
  const invited = tables
    .selectFrom('invites')
    .select(sql<string>`lower(email)`.as('email'))
    .where('invite_id', '=', inviteId)
    .where('email', 'is not', null)
    .where('erased_at', 'is', null);
  return (await firstOf(db, invited))?.email;
}
