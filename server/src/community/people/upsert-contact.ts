import { newId } from '../../kernel/ids.ts';
import type { Queryable } from '../../kernel/statements.ts';
import { foldForSearch, normalAddress } from './fold.ts';

export type PersonSource = 'user' | 'registration' | 'invite' | 'client_request' | 'import' | 'manual';

/** Data about a person from one slice. */
export interface ContactUpsert {
  /** Any spelling; people are stored under the lower case one. */
  readonly email: string;
  readonly source: PersonSource;
  readonly at: Date;
  /** Stored only if none is known. */
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
 * Creates or updates the person of an address, in the caller's transaction. Adds
 * nothing for an address whose person was erased, and never resubscribes a person who has unsubscribed.
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
