import type { MarketingPersonRecord } from '@tallygate/sdk';
import type { Column } from '../print.ts';

export const PERSON_COLUMNS: readonly Column<MarketingPersonRecord>[] = [
  { title: 'id', of: ({ person_id }) => person_id },
  { title: 'email', of: ({ email }) => email },
  { title: 'name', of: ({ name }) => name },
  { title: 'status', of: ({ status }) => status },
  { title: 'subscription', of: ({ subscription }) => subscription },
  { title: 'sources', of: ({ sources }) => sources.join(' ') },
  { title: 'tags', of: ({ tags }) => tags.join(' ') },
  { title: 'plan', of: ({ plan_tier }) => plan_tier },
];

export const PERSON_LINES: readonly Column<MarketingPersonRecord>[] = [
  ...PERSON_COLUMNS,
  { title: 'company', of: ({ company }) => company },
  { title: 'events', of: ({ event_slugs }) => event_slugs.join(' ') },
  { title: 'owner', of: ({ owner }) => owner },
  { title: 'client type', of: ({ client_type }) => client_type },
  { title: 'consent', of: ({ consent }) => consent && consentText(consent) },
  { title: 'known since', of: ({ created_at }) => created_at },
  {
    title: 'history',
    of: ({ history = [] }) => history.map(({ at, action, detail }) => `${at} ${action} ${JSON.stringify(detail)}`).join('\n'),
  },
];

const consentText = ({ source, event_slug, given_at, confirmed_at }: NonNullable<MarketingPersonRecord['consent']>): string =>
  `${source}${event_slug === null ? '' : ` ${event_slug}`} ${given_at}, ${confirmed_at === null ? 'not confirmed' : `confirmed ${confirmed_at}`}`;
