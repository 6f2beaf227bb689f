import type { PeopleFilter } from '@tallygate/sdk';
import type { PeopleSearch } from '../searches.ts';
import type { FilterField } from '../ui/filter-form.tsx';
import { STAGES } from './stages.ts';

export const PEOPLE_FIELDS: readonly FilterField<keyof PeopleSearch>[] = [
  { name: 'q', label: 'Find', type: 'search', placeholder: 'ada, or #beta for a tag' },
  { name: 'status', label: 'Stage', options: [['', 'any'], ...STAGES, ['unsubscribed', 'Unsubscribed'], ['bounced', 'Bounced']] },
  {
    name: 'source',
    label: 'Known by',
    options: [
      ['', 'anything'],
      ['user', 'signing up'],
      ['registration', 'a registration'],
      ['invite', 'an invitation'],
      ['client_request', 'writing to the team'],
      ['import', 'an import'],
      ['manual', 'hand'],
    ],
  },
  {
    name: 'consent',
    label: 'Consent to news',
    options: [
      ['', 'any'],
      ['given', 'given'],
      ['claimed', 'not confirmed yet'],
      ['none', 'none that counts'],
    ],
  },
  { name: 'event_slug', label: 'Registered for', placeholder: 'launch-day' },
];

/** As the API takes it: what an address says that is no filter, it refuses in words. */
export const filterOf = (search: PeopleSearch): PeopleFilter => search as PeopleFilter;
