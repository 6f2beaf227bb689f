import type { SiteEventResponse } from '@tallygate/contract';
import { rfc3339 } from '../kernel/clock.ts';
import { formatUsd } from '../kernel/money.ts';
import type { EventWithPlaces } from './event-rows.ts';
import { closingTime, placesLeft, takesRegistrations } from './site-event.ts';

const timeOrNull = (at: Date | null): string | null => (at === null ? null : rfc3339(at));

export const eventToWire = (event: EventWithPlaces, nowMs: number): SiteEventResponse => ({
  event_id: event.event_id,
  slug: event.slug,
  title: event.title,
  summary: event.summary,
  description: event.description,
  status: event.status,
  starts_at: rfc3339(event.starts_at),
  ends_at: rfc3339(event.ends_at),
  time_zone: event.time_zone,
  venue_name: event.venue_name,
  venue_address: event.venue_address,
  online_url: event.online_url,
  image_url: event.image_url,
  capacity: event.capacity,
  places_left: placesLeft(event, event),
  waitlist_length: event.waiting,
  price_usd: formatUsd(event.price_nano),
  registration_closes_at: rfc3339(closingTime(event)),
  is_registration_open: takesRegistrations(event, nowMs),
  published_at: timeOrNull(event.published_at),
  archived_at: timeOrNull(event.archived_at),
  created_at: rfc3339(event.created_at),
  updated_at: rfc3339(event.updated_at),
});
