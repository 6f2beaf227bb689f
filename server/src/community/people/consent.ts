import { type SqlBool, sql } from 'kysely';
import { newId } from '../../kernel/ids.ts';
import { firstOf, type Queryable, rowsOf } from '../../kernel/statements.ts';
import { normalAddress } from './fold.ts';
import { noteInHistory } from './person-history.ts';
import { tables } from './tables.ts';
import type { PersonSource } from './upsert-contact.ts';

/** How long the mail that asks may be answered; as long, the address is not asked again. */
const OPEN_MS = 7 * 86_400_000;
/** The source of a consent that a team has on record elsewhere. */
const VOUCHED_FOR = 'import';

/** A tick on a form: that news may come by mail. */
export interface ConsentClaim {
  /** As it was typed. */
  readonly email: string;
  readonly source: Extract<PersonSource, 'user' | 'registration' | 'client_request'>;
  readonly eventSlug?: string | undefined;
  readonly at: Date;
}

/**
 * Stores the consent of a form, for a person who was upserted in the same transaction. Anybody can enter any address, so it has no effect
 * before the confirmation mail (`consentsToAsk`) is answered, and it never resubscribes a person who has unsubscribed.
 */
export async function claimConsent(db: Queryable, { email, source, eventSlug, at }: ConsentClaim): Promise<void> {
  await db.query('select claim_consent($1::jsonb)', [
    JSON.stringify({ consent_id: newId(), email: normalAddress(email), source, event_slug: eventSlug, at, open_ms: OPEN_MS }),
  ]);
}

const UNASKED = 'consent_id is not null and consent_asked_at is null';

/** SQL: whether there are people for {@link consentsToAsk}. */
export const CONSENTS_DUE = `exists (select from people where ${UNASKED})`;

/** One whom a mail has to ask. */
export interface UnaskedConsent {
  readonly consent_id: string;
  /** Where they are written to, which need not be what was typed. */
  readonly email: string;
  readonly consent_source: ConsentClaim['source'];
}

/** Marks them as asked, in the caller's transaction, which queues the mails. An address whose mail came back is not written to. */
export async function consentsToAsk(db: Queryable, { most, at }: { most: number; at: Date }): Promise<UnaskedConsent[]> {
  const rows = await rowsOf(
    db,
    tables
      .updateTable('people')
      .set({ consent_asked_at: at, consent_email: sql<string>`email` })
      .where('person_id', 'in', (eb) =>
        eb
          .selectFrom('people')
          .select('person_id')
          .where(sql<SqlBool>`${sql.raw(UNASKED)}`)
          .orderBy('consent_given_at')
          .limit(most)
          .forUpdate()
          .skipLocked(),
      )
      .returning((eb) => [eb.ref('consent_id').$notNull().as('consent_id'), 'email', 'bounced_at'] as const)
      // An import claims nothing that it would have to ask.
      .returning(sql<ConsentClaim['source']>`consent_source`.as('consent_source')),
  );
  return rows.filter(({ bounced_at }) => bounced_at === null);
}

const standing = (consentId: string, at: Date) =>
  tables
    .selectFrom('people')
    .where('consent_id', '=', consentId)
    .whereRef('consent_email', '=', 'email')
    .where((eb) => eb.or([eb('consent_confirmed_at', 'is not', null), eb('consent_given_at', '>', opened(at))]));
const opened = (at: Date): Date => new Date(at.getTime() - OPEN_MS);

/**
 * Whether the mail with this id can be answered, or was: not once its person has unsubscribed, or has another address. `vouched_for`: it can,
 * and the team has imported the consent meanwhile.
 */
export async function standOfConsent(db: Queryable, consentId: string, at: Date): Promise<'asked' | 'vouched_for' | undefined> {
  const person = await firstOf(db, standing(consentId, at).select('consent_source'));
  return person && (person.consent_source === VOUCHED_FOR ? 'vouched_for' : 'asked');
}

/**
 * The owner of the address has confirmed: from now on the consent is valid, also after an earlier unsubscription. It replaces
 * consent that a team imported. In the caller's transaction. Idempotent.
 * @returns false where the mail cannot be answered any more
 */
export async function confirmConsent(db: Queryable, consentId: string, at: Date): Promise<boolean> {
  const columns = ['person_id', 'email', 'other_emails', 'unsubscribed_at', 'consent_source', 'consent_event_slug'] as const;
  const person = await firstOf(
    db,
    standing(consentId, at).select(columns).select(['consent_given_at', 'consent_confirmed_at']).forUpdate(),
  );
  if (!person) return false;
  const isVouchedFor = person.consent_source === VOUCHED_FOR;
  if (person.consent_confirmed_at && !isVouchedFor) return true;
  const { person_id: personId, email, other_emails, unsubscribed_at } = person;
  const { source, slug, givenAt } = (isVouchedFor && (await lastClaim(db, personId))) || {
    ...{ source: person.consent_source, slug: person.consent_event_slug, givenAt: person.consent_given_at },
  };
  await db.query(
    `update people set consent_source = $3, consent_event_slug = $4, consent_given_at = $5, consent_confirmed_at = $2, unsubscribed_at = null,
       updated_at = $2 where person_id = $1`,
    [personId, at, source, slug, givenAt],
  );
  await db.query(
    `delete from suppressed_addresses where reason = 'unsubscribed'
       and address_hash in (select address_hash(one) from unnest($1::text[]) as addresses (one))`,
    [[email, ...other_emails]],
  );
  await noteInHistory(db, {
    ...{ personId, action: 'consent_confirmed', at, actor: { kind: 'system', id: null } },
    detail: { source, email, ...(slug !== null && { event_slug: slug }), ...(unsubscribed_at && { resubscribed: true }) },
  });
  return true;
}

/** The consent of the form before the import, which replaced it. */
const lastClaim = (db: Queryable, personId: string) =>
  firstOf(
    db,
    tables
      .selectFrom('person_history')
      .select([
        sql<ConsentClaim['source']>`detail ->> 'source'`.as('source'),
        sql<string | null>`detail ->> 'event_slug'`.as('slug'),
        'at as givenAt',
      ])
      .where('person_id', '=', personId)
      .where('action', '=', 'consent')
      .where(sql<SqlBool>`detail ->> 'source' <> ${VOUCHED_FOR}`)
      .orderBy('at', 'desc')
      .limit(1),
  );
