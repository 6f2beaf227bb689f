import type { MarketingPersonHistoryEntry, MarketingPersonRecord } from '@tallygate/contract';
import { rfc3339 } from '../../kernel/clock.ts';

/** A row of `people`, as the pool reads it. */
export interface PersonRow {
  readonly person_id: string;
  readonly n: bigint;
  readonly email: string;
  readonly other_emails: string[];
  readonly name: string | null;
  readonly company: string | null;
  readonly search_text: string;
  readonly status: MarketingPersonRecord['status'];
  readonly sources: MarketingPersonRecord['sources'];
  readonly event_slugs: string[];
  readonly tags: string[];
  readonly owner: string | null;
  readonly client_type: string | null;
  readonly plan_tier: string | null;
  readonly user_id: string | null;
  readonly merged_ids: string[];
  readonly unsubscribed_at: Date | null;
  readonly bounced_at: Date | null;
  readonly consent_source: NonNullable<MarketingPersonRecord['consent']>['source'] | null;
  readonly consent_event_slug: string | null;
  readonly consent_given_at: Date | null;
  /** When the confirmation mail was answered, or a team imported it; null before that. */
  readonly consent_confirmed_at: Date | null;
  readonly created_at: Date;
  readonly updated_at: Date;
}

const timeOrNull = (at: Date | null): string | null => at && rfc3339(at);

export const personToWire = (row: PersonRow, history?: MarketingPersonHistoryEntry[]): MarketingPersonRecord => ({
  person_id: row.person_id,
  email: row.email,
  other_emails: row.other_emails,
  name: row.name,
  company: row.company,
  status: row.status,
  subscription: row.unsubscribed_at ? 'unsubscribed' : row.bounced_at ? 'bounced' : 'subscribed',
  unsubscribed_at: timeOrNull(row.unsubscribed_at),
  bounced_at: timeOrNull(row.bounced_at),
  consent: consentOf(row),
  sources: row.sources,
  event_slugs: row.event_slugs,
  tags: row.tags,
  owner: row.owner,
  client_type: row.client_type,
  plan_tier: row.plan_tier,
  user_id: row.user_id,
  created_at: rfc3339(row.created_at),
  updated_at: rfc3339(row.updated_at),
  ...(history && { history }),
});

const consentOf = ({ consent_source: source, consent_given_at, ...row }: PersonRow): MarketingPersonRecord['consent'] =>
  source &&
  consent_given_at && {
    source,
    event_slug: row.consent_event_slug,
    given_at: rfc3339(consent_given_at),
    confirmed_at: timeOrNull(row.consent_confirmed_at),
  };
