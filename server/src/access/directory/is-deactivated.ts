import { sql } from 'kysely';
import { firstOf, type Queryable } from '../../kernel/statements.ts';
import { tables } from './tables.ts';

/** Whether the directory has somebody with the address who is not active: signing in would make them a member again. */
export async function isDeactivated(db: Queryable, accountId: string, email: string): Promise<boolean> {
  const inactive = tables
    .selectFrom('directory_users')
    .select('id')
    .where('account_id', '=', accountId)
    .where(sql`lower(email)`, '=', sql`lower(${email})`)
    .where('active', '=', false);
  return (await firstOf(db, inactive)) !== undefined;
}
