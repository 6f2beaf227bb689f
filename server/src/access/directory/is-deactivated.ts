import { sql } from 'kysely';
import { type Queryable, rowsOf } from '../../kernel/statements.ts';
import { tables } from './tables.ts';

/**
 * Whether the directory has somebody with the address, and nobody who is active: signing in would make them a member again. It may keep somebody
 * who left beside the same person who came back.
 */
export async function isDeactivated(db: Queryable, accountId: string, email: string): Promise<boolean> {
  const named = tables
    .selectFrom('directory_users')
    .select('active')
    .where('account_id', '=', accountId)
    .where(sql`lower(email)`, '=', sql`lower(${email})`);
  const people = await rowsOf(db, named);
  return people.length > 0 && people.every(({ active }) => !active);
}
