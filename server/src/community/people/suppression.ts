import type { Queryable } from '../../kernel/statements.ts';

export type SuppressionReason = 'unsubscribed' | 'bounced' | 'erased';

interface Suppressed {
  /** As people are stored: in lower case. */
  readonly emails: readonly string[];
  readonly reason: SuppressionReason;
  readonly at: Date;
}

/** Suppresses marketing mail to these addresses, also for later owners. Only `erased` overwrites an existing reason. */
export async function suppress(db: Queryable, { emails, reason, at }: Suppressed): Promise<void> {
  await db.query(
    `insert into suppressed_addresses (address_hash, reason, at)
     select address_hash(email), $1::text, $2::timestamptz from unnest($3::text[]) as addresses (email)
     on conflict (address_hash) do update set reason = excluded.reason, at = excluded.at where excluded.reason = 'erased'`,
    [reason, at, emails],
  );
}

/** These addresses may get mail again; not those of people who were erased. */
export async function unsuppress(db: Queryable, emails: readonly string[]): Promise<void> {
  await db.query(
    `delete from suppressed_addresses where reason <> 'erased'
       and address_hash in (select address_hash(email) from unnest($1::text[]) as addresses (email))`,
    [emails],
  );
}
