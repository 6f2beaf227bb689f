import type { SiteEventResponse, VibethonRegistrationResponse, VibethonRegistrationStatusResponse } from '@tallygate/contract';
import { rfc3339 } from '../../kernel/clock.ts';
import { formatUsd } from '../../kernel/money.ts';
import type { EventWithPlaces } from './event-rows.ts';
import type { ListedRegistration } from './registration-rows.ts';
import { closingTime, placesLeft, type SiteEvent, takesRegistrations } from './site-event.ts';

export const timeOrNull = (at: Date | null): string | null => (at === null ? null : rfc3339(at));

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

/** The public part, for anyone who sends the address: no personal data. */
export const registrationToWire = (registration: ListedRegistration): VibethonRegistrationResponse => ({
  registration_id: registration.registration_id,
  event_slug: registration.slug,
  email: registration.email,
  status: registration.status,
  waitlist_position: registration.waitlist_position,
  payment_status: registration.payment_status,
  price_usd: formatUsd(registration.price_nano),
  pay_by: timeOrNull(registration.pay_by),
  registered_at: rfc3339(registration.created_at),
  registrant: null,
});

/** For administrators. */
export const listedToWire = (registration: ListedRegistration): VibethonRegistrationResponse => ({
  ...registrationToWire(registration),
  registrant: {
    user_id: registration.user_id,
    name: registration.name,
    company: registration.company,
    message: registration.message,
    note: registration.admin_note,
    payment_id: registration.payment_id,
    attended_at: timeOrNull(registration.attended_at),
    confirmed_at: timeOrNull(registration.confirmed_at),
    canceled_at: timeOrNull(registration.canceled_at),
  },
});

/** One shape, whether the address is registered or not. */
export const statusToWire = (
  { slug }: Pick<SiteEvent, 'slug'>,
  email: string,
  registration: ListedRegistration | undefined,
): VibethonRegistrationStatusResponse => ({
  event_slug: slug,
  email,
  status: registration?.status ?? 'not_registered',
  waitlist_position: registration?.waitlist_position ?? null,
  payment_status: registration?.payment_status ?? null,
  pay_by: timeOrNull(registration?.pay_by ?? null),
});
