import type { Pool } from 'pg';

/** Which of these addresses get no mail that they did not ask for, in lower case: unsubscribed, bounced or erased. */
export async function suppressedAmong(sql: Pick<Pool, 'query'>, emails: readonly string[]): Promise<ReadonlySet<string>> {
  const { rows } = await sql.query<{ email: string }>(
    `select email from unnest($1::text[]) as addresses (email)
     where exists (select from suppressed_addresses s where s.address_hash = address_hash(email))`,
    [emails.map((email) => email.trim().toLowerCase())],
  );
  return new Set(rows.map(({ email }) => email));
}
