import { sql } from 'kysely';
import { firstOf, type Queryable } from '../../kernel/statements.ts';
import { tables } from './tables.ts';

/** The address of an invitation; undefined for an unknown one, for a shared code, and after an erasure. */
export async function addressInvited(db: Queryable, inviteId: string): Promise<string | undefined> {
  const invited = tables
    .selectFrom('invites')
    .select(sql<string>`lower(email)`.as('email'))
    .where('invite_id', '=', inviteId)
    .where('email', 'is not', null)
    .where('erased_at', 'is', null);
  return (await firstOf(db, invited))?.email;
}
