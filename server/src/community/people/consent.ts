import type { Pool } from 'pg';
import { newId } from '../../kernel/ids.ts';
import { normalAddress } from './fold.ts';
import { noteInHistory } from './person-history.ts';
import type { Execute, PersonSource } from './upsert-contact.ts';

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
 * Keeps what a form says of somebody who was sighted in the same transaction. Anybody may say it of any address, so it counts for nothing
 * before the mail that asks (`consentsToAsk`) is answered, and it never subscribes again who has unsubscribed.
 */
export async function claimConsent(execute: Execute, { email, source, eventSlug, at }: ConsentClaim): Promise<void> {
  await execute('select claim_consent($1::jsonb)', [
    JSON.stringify({ consent_id: newId(), email: normalAddress(email), source, event_slug: eventSlug, at, open_ms: OPEN_MS }),
  ]);
}

const UNASKED = 'consent_id is not null and consent_asked_at is null';

/** SQL: whether there is somebody for {@link consentsToAsk}. */
export const CONSENTS_DUE = `exists (select from people where ${UNASKED})`;

/** One whom a mail has to ask. */
export interface UnaskedConsent {
  readonly consent_id: string;
  /** Where they are written to, which need not be what was typed. */
  readonly email: string;
  readonly consent_source: ConsentClaim['source'];
}

/** Marks them as asked, in the caller's transaction, which queues the mails. An address whose mail came back is not written to. */
export async function consentsToAsk(sql: Pick<Pool, 'query'>, { most, at }: { most: number; at: Date }): Promise<UnaskedConsent[]> {
  const { rows } = await sql.query<UnaskedConsent & { readonly bounced_at: Date | null }>(
    `update people set consent_asked_at = $2, consent_email = email where person_id in (
       select person_id from people where ${UNASKED}
       order by consent_given_at limit $1 for update skip locked)
     returning consent_id, email, consent_source, bounced_at`,
    [most, at],
  );
  return rows.filter(({ bounced_at }) => bounced_at === null);
}

const STANDS = 'consent_id = $1 and consent_email = email and (consent_confirmed_at is not null or consent_given_at > $2)';
const opened = (at: Date): Date => new Date(at.getTime() - OPEN_MS);

/**
 * Whether the mail with this id can be answered, or was: not once its person has unsubscribed, or has another address. `vouched_for`: it can,
 * and the team has imported meanwhile that they said so.
 */
export async function standOfConsent(sql: Pick<Pool, 'query'>, consentId: string, at: Date): Promise<'asked' | 'vouched_for' | undefined> {
  const { rows } = await sql.query<{ consent_source: string }>(`select consent_source from people where ${STANDS}`, [
    consentId,
    opened(at),
  ]);
  return rows[0] && (rows[0].consent_source === VOUCHED_FOR ? 'vouched_for' : 'asked');
}

/**
 * Whoever reads the address has said so themselves: from now on it counts, also for somebody who had unsubscribed before. It takes the
 * place of what a team vouched for. In the caller's transaction. Twice is as good as once.
 * @returns false where the mail cannot be answered any more
 */
export async function confirmConsent(sql: Pick<Pool, 'query'>, consentId: string, at: Date): Promise<boolean> {
  const execute: Execute = (text, values) => sql.query(text, values);
  const { rows } = await sql.query<Confirmable>(
    `select person_id, email, other_emails, unsubscribed_at, consent_source, consent_event_slug, consent_given_at, consent_confirmed_at
     from people where ${STANDS} for update`,
    [consentId, opened(at)],
  );
  const [person] = rows;
  if (!person) return false;
  const isVouchedFor = person.consent_source === VOUCHED_FOR;
  if (person.consent_confirmed_at && !isVouchedFor) return true;
  const { person_id: personId, email, other_emails, unsubscribed_at } = person;
  const { source, slug, givenAt } = (isVouchedFor && (await lastClaim(sql, personId))) || {
    ...{ source: person.consent_source, slug: person.consent_event_slug, givenAt: person.consent_given_at },
  };
  await execute(
    `update people set consent_source = $3, consent_event_slug = $4, consent_given_at = $5, consent_confirmed_at = $2, unsubscribed_at = null,
       updated_at = $2 where person_id = $1`,
    [personId, at, source, slug, givenAt],
  );
  await execute(
    `delete from suppressed_addresses where reason = 'unsubscribed'
       and address_hash in (select address_hash(one) from unnest($1::text[]) as addresses (one))`,
    [[email, ...other_emails]],
  );
  await noteInHistory(execute, {
    ...{ personId, action: 'consent_confirmed', at, actor: { kind: 'system', id: null } },
    detail: { source, email, ...(slug !== null && { event_slug: slug }), ...(unsubscribed_at && { resubscribed: true }) },
  });
  return true;
}

/** What the form had said before the import came, which put its own word in the place. */
async function lastClaim(sql: Pick<Pool, 'query'>, personId: string): Promise<Claimed | undefined> {
  const { rows } = await sql.query<Claimed>(
    `select detail ->> 'source' as source, detail ->> 'event_slug' as slug, at as "givenAt" from person_history
     where person_id = $1 and action = 'consent' and detail ->> 'source' <> '${VOUCHED_FOR}' order by at desc limit 1`,
    [personId],
  );
  return rows[0];
}

interface Claimed {
  readonly source: ConsentClaim['source'];
  readonly slug: string | null;
  readonly givenAt: Date;
}

interface Confirmable {
  readonly person_id: string;
  readonly email: string;
  readonly other_emails: string[];
  readonly unsubscribed_at: Date | null;
  readonly consent_source: ConsentClaim['source'] | typeof VOUCHED_FOR;
  readonly consent_event_slug: string | null;
  readonly consent_given_at: Date;
  readonly consent_confirmed_at: Date | null;
}
