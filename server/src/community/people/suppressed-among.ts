import * as z from 'zod';
import { checkedRows, type Queryable } from '../../kernel/statements.ts';

const Address = z.object({ email: z.string() });

/** Which of these addresses get no mail that they did not ask for, in lower case: unsubscribed, bounced or erased. */
export async function suppressedAmong(db: Queryable, emails: readonly string[]): Promise<ReadonlySet<string>> {
  const rows = await checkedRows(
    db,
    Address,
    `select email from unnest($1::text[]) as addresses (email)
     where exists (select from suppressed_addresses s where s.address_hash = address_hash(email))`,
    [emails.map((email) => email.trim().toLowerCase())],
  );
  return new Set(rows.map(({ email }) => email));
}
