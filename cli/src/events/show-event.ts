import type { SiteEventResponse } from '@tallygate/sdk';
import type { CommandWorld } from '../command.ts';
import { type Column, printRecord } from '../print.ts';

const LINES: readonly Column<SiteEventResponse>[] = [
  { title: 'Slug', of: ({ slug }) => slug },
  { title: 'Title', of: ({ title }) => title },
  { title: 'Status', of: ({ status }) => status },
  { title: 'Begins', of: ({ starts_at }) => starts_at },
  { title: 'Ends', of: ({ ends_at }) => ends_at },
  { title: 'Time zone', of: ({ time_zone }) => time_zone },
  { title: 'Venue', of: ({ venue_name, venue_address }) => [venue_name, venue_address].filter(Boolean).join(', ') || null },
  { title: 'Online', of: ({ online_url }) => online_url },
  { title: 'Places', of: ({ capacity }) => capacity ?? 'any number' },
  { title: 'Places left', of: ({ places_left }) => places_left },
  { title: 'Waiting', of: ({ waitlist_length }) => waitlist_length },
  { title: 'Price USD', of: ({ price_usd }) => price_usd },
  { title: 'Registration until', of: ({ registration_closes_at }) => registration_closes_at },
];

export const showEvent = (world: CommandWorld, event: SiteEventResponse): void => printRecord(world, event, LINES);
