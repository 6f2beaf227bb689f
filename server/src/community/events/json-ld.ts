import type { SiteEventJsonLd } from '@tallygate/contract';
import { formatUsd } from '../../kernel/money.ts';
import type { EventWithPlaces } from './event-rows.ts';
import { placesLeft } from './site-event.ts';

const SCHEMA = 'https://schema.org';

/** An event in the vocabulary of schema.org. @param url where the event is read */
export function toJsonLd(event: EventWithPlaces, url: string): SiteEventJsonLd {
  const { venue_name, venue_address, online_url, image_url, time_zone } = event;
  const places = [
    ...(venue_name === null ? [] : [{ '@type': 'Place', name: venue_name, ...(venue_address !== null && { address: venue_address }) }]),
    ...(online_url === null ? [] : [{ '@type': 'VirtualLocation', url: online_url }]),
  ];
  return {
    '@context': SCHEMA,
    '@type': 'Event',
    '@id': url,
    url,
    name: event.title,
    ...(event.summary !== '' && { description: event.summary }),
    startDate: inZone(event.starts_at, time_zone),
    endDate: inZone(event.ends_at, time_zone),
    eventStatus: `${SCHEMA}/EventScheduled`,
    eventAttendanceMode: `${SCHEMA}/${attendance(venue_name !== null, online_url !== null)}EventAttendanceMode`,
    location: places.length > 0 ? places : { '@type': 'VirtualLocation', url },
    ...(image_url !== null && { image: image_url }),
    ...(event.capacity !== null && { maximumAttendeeCapacity: event.capacity }),
    isAccessibleForFree: event.price_nano === 0n,
    offers: {
      '@type': 'Offer',
      price: formatUsd(event.price_nano),
      priceCurrency: 'USD',
      availability: `${SCHEMA}/${placesLeft(event, event) === 0 ? 'SoldOut' : 'InStock'}`,
      url,
    },
  };
}

const attendance = (hasVenue: boolean, isOnline: boolean): 'Mixed' | 'Offline' | 'Online' =>
  hasVenue ? (isOnline ? 'Mixed' : 'Offline') : 'Online';

/** ISO 8601 with the offset that the zone has at that moment: `2027-03-05T18:00:00+01:00`. */
function inZone(at: Date, timeZone: string): string {
  const offset = new Intl.DateTimeFormat('en', { timeZone, timeZoneName: 'longOffset' })
    .formatToParts(at)
    .find(({ type }) => type === 'timeZoneName')
    ?.value.replace('GMT', '');
  const minutes = offset ? minutesOf(offset) : 0;
  return `${new Date(at.getTime() + minutes * 60_000).toISOString().slice(0, 19)}${offset || '+00:00'}`;
}

function minutesOf(offset: string): number {
  const [hours = 0, minutes = 0] = offset.slice(1).split(':').map(Number);
  return (offset.startsWith('-') ? -1 : 1) * (hours * 60 + minutes);
}
