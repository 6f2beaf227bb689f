import { newId } from '../../kernel/ids.ts';
import type { Queryable } from '../../kernel/statements.ts';
import { foldForSearch, normalAddress } from './fold.ts';

export type PersonSource = 'user' | 'registration' | 'invite' | 'client_request' | 'import' | 'manual';

/** What a slice learned of somebody. */
export interface ContactUpsert {
  /** Any spelling; people are kept under the one in lower case. */
  readonly email: string;
  readonly source: PersonSource;
  readonly at: Date;
  /** Kept only where none is known. */
  readonly name?: string | null | undefined;
  readonly company?: string | null | undefined;
  /** Added to those the person has to do with. */
  readonly eventSlug?: string | null | undefined;
  /** `individual`, `startup`, `enterprise` …: the newest one counts. */
  readonly clientType?: string | null | undefined;
  /** `free`, `pro` …: the newest one counts. */
  readonly planTier?: string | null | undefined;
  /** A person goes along when their user takes another address. */
  readonly userId?: string | null | undefined;
}

/**
 * Notes what was learned of somebody, in the caller's transaction: makes the person, or adds to the one whom the address belongs to. Adds
 * nothing for an address whose person was erased, and never subscribes again who has unsubscribed.
 */
export async function upsertContact(db: Queryable, sighting: ContactUpsert): Promise<void> {
  await db.query('select sight_person($1::jsonb)', [
    JSON.stringify({
      person_id: newId(),
      email: normalAddress(sighting.email),
      source: sighting.source,
      at: sighting.at,
      name: sighting.name,
      folded_name: foldForSearch(sighting.name ?? ''),
      company: sighting.company,
      folded_company: foldForSearch(sighting.company ?? ''),
      event_slug: sighting.eventSlug,
      client_type: sighting.clientType,
      plan_tier: sighting.planTier,
      user_id: sighting.userId,
    }),
  ]);
}

/** A user has closed their account: who was known by it alone is forgotten, others are no longer users. In the caller's transaction. */
export async function forgetUser(db: Queryable, userId: string, at: Date): Promise<void> {
  await db.query('select forget_user($1::uuid, $2::timestamptz)', [userId, at]);
}
