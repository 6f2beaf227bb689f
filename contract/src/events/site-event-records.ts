import * as z from 'zod';
import { isPlainText, NOT_PLAIN, prose, Timestamp, Usd, Uuid } from '../conventions.ts';

/** Path segments below `/v1/events/` that are not events: they belong to other operations. */
export const RESERVED_EVENT_SLUGS: readonly string[] = ['admin', 'cancel-registration'];

export const EventSlug = z
  .string()
  .max(80)
  .regex(/^[a-z0-9]+(-[a-z0-9]+)*$/, 'must be lower-case letters, digits and single dashes, such as `launch-day-2027`')
  .meta({ description: 'The event’s name in URLs.', examples: ['launch-day'] });

const text = (max: number) => z.string().trim().max(max).refine(isPlainText, NOT_PLAIN);
const httpUrl = z
  .url({ protocol: /^https?$/ })
  .max(2_000)
  .refine(isPlainText, NOT_PLAIN);

const isTimeZone = (name: string): boolean => {
  try {
    // An offset such as +01:00 is a time zone to Intl; it has no daylight saving time.
    return /^[A-Za-z]/.test(name) && new Intl.DateTimeFormat('en', { timeZone: name }).resolvedOptions().timeZone !== '';
  } catch {
    return false;
  }
};

const Title = text(200)
  .min(1)
  .meta({ description: 'In one line.', examples: ['Launch day'] });
const Summary = text(500).meta({ description: 'One sentence for lists.', examples: ['An evening about receipts.'] });
const Description = prose(20_000).meta({ description: 'Plain text.', examples: ['Doors open at six.'] });
const TimeZone = z
  .string()
  .max(64)
  .refine(isTimeZone, 'must be a time zone of the IANA database, such as `Europe/Berlin`')
  .meta({ description: 'IANA time zone in which the event takes place.', examples: ['Europe/Berlin'] });
/** A moment with its offset; what leaves the service is in UTC. */
const Moment = z.iso
  .datetime({ offset: true, error: 'must be a time with its offset, such as 2027-03-05T18:00:00+01:00 or 2027-03-05T17:00:00Z' })
  .meta({ description: 'RFC 3339, with any offset.', examples: ['2027-03-05T18:00:00+01:00'] });
const VenueName = text(200)
  .min(1)
  .nullable()
  .meta({ description: 'Where it takes place; null for online only.', examples: ['Halle 4'] });
const VenueAddress = text(500)
  .min(1)
  .nullable()
  .meta({ description: 'Postal address of the venue.', examples: ['Torstraße 1, Berlin'] });
const OnlineUrl = httpUrl.nullable().meta({ description: 'Where to join online.', examples: ['https://meet.example/launch'] });
const ImageUrl = httpUrl.nullable().meta({ description: 'A picture of it.', examples: ['https://cdn.example/launch.png'] });
const Capacity = z
  .int()
  .min(1)
  .max(1_000_000)
  .nullable()
  .meta({ description: 'Number of places; null: unlimited.', examples: [100] });
const PriceInput = z
  .string()
  .regex(/^\d{1,5}(\.\d{1,2})?$/, 'must be USD in whole cents, such as "49" or "49.50"')
  .refine((price) => Number(price) === 0 || Number(price) >= 1, 'must be 0, or at least 1')
  .meta({ description: 'Price of a place, USD, whole cents; 0 is free.', examples: ['0'] });
const ClosesAt = Moment.nullable().meta({
  description: 'When registration ends; null: with the event.',
  examples: ['2027-03-04T18:00:00+01:00'],
});

const EXAMPLE = {
  slug: 'launch-day',
  title: 'Launch day',
  summary: 'An evening about receipts.',
  description: 'Doors open at six.',
  starts_at: '2027-03-05T17:00:00.000Z',
  ends_at: '2027-03-05T21:00:00.000Z',
  time_zone: 'Europe/Berlin',
  venue_name: 'Halle 4',
  venue_address: 'Torstraße 1, Berlin',
  online_url: null,
  image_url: null,
  capacity: 100,
  price_usd: '0',
  registration_closes_at: null,
};

export const SiteEventCreateRequest = z
  .strictObject({
    slug: EventSlug,
    title: Title,
    summary: Summary.default(''),
    description: Description.default(''),
    starts_at: Moment,
    ends_at: Moment,
    time_zone: TimeZone,
    venue_name: VenueName.default(null),
    venue_address: VenueAddress.default(null),
    online_url: OnlineUrl.default(null),
    image_url: ImageUrl.default(null),
    capacity: Capacity.default(null),
    price_usd: PriceInput.default('0'),
    registration_closes_at: ClosesAt.default(null),
  })
  .meta({ id: 'SiteEventCreateRequest', description: 'A new event. It begins as a draft, which is not public.', examples: [EXAMPLE] });
export type SiteEventCreateRequest = z.infer<typeof SiteEventCreateRequest>;

export const SiteEventUpdateRequest = z
  .strictObject({
    slug: EventSlug.optional().meta({ description: 'Only while the event has never been published.', examples: ['launch-day'] }),
    title: Title.optional(),
    summary: Summary.optional(),
    description: Description.optional(),
    starts_at: Moment.optional(),
    ends_at: Moment.optional(),
    time_zone: TimeZone.optional(),
    venue_name: VenueName.optional(),
    venue_address: VenueAddress.optional(),
    online_url: OnlineUrl.optional(),
    image_url: ImageUrl.optional(),
    capacity: Capacity.optional(),
    price_usd: PriceInput.optional(),
    registration_closes_at: ClosesAt.optional(),
  })
  .meta({
    id: 'SiteEventUpdateRequest',
    description:
      'What to change; what is left out stays. More places go to the waitlist at once; fewer than are taken are refused. A new price applies to later registrations.',
    examples: [{ capacity: 150 }],
  });
export type SiteEventUpdateRequest = z.infer<typeof SiteEventUpdateRequest>;

export const SITE_EVENT_STATUSES = ['draft', 'published', 'archived'] as const;
export const SiteEventStatus = z.enum(SITE_EVENT_STATUSES).meta({
  id: 'SiteEventStatus',
  description:
    'A `draft` becomes `published`; either becomes `archived`. A published event may become a draft again; an archived one stays archived.',
});
export type SiteEventStatus = z.infer<typeof SiteEventStatus>;

/** Fields that the public, administrators and the Vibethon share. */
export const siteEventFields = {
  event_id: Uuid,
  slug: z.string().meta({ description: 'Never changes once the event was published.', examples: ['launch-day'] }),
  title: z.string().meta({ examples: ['Launch day'] }),
  summary: z.string().meta({ examples: ['An evening about receipts.'] }),
  description: z.string().meta({ description: 'Plain text.', examples: ['Doors open at six.'] }),
  status: SiteEventStatus,
  starts_at: Timestamp,
  ends_at: Timestamp,
  time_zone: z.string().meta({ description: 'IANA time zone in which it takes place.', examples: ['Europe/Berlin'] }),
  venue_name: z
    .string()
    .nullable()
    .meta({ examples: ['Halle 4'] }),
  venue_address: z
    .string()
    .nullable()
    .meta({ examples: ['Torstraße 1, Berlin'] }),
  online_url: z
    .string()
    .nullable()
    .meta({ examples: [null] }),
  image_url: z
    .string()
    .nullable()
    .meta({ examples: [null] }),
  capacity: z
    .int()
    .nullable()
    .meta({ description: 'Null: unlimited.', examples: [100] }),
  places_left: z
    .int()
    .min(0)
    .nullable()
    .meta({ description: 'Null: unlimited.', examples: [42] }),
  waitlist_length: z
    .int()
    .min(0)
    .meta({ description: 'Length of the waitlist.', examples: [0] }),
  price_usd: Usd.meta({ description: 'Price of a place; 0 is free.', examples: ['0'] }),
  registration_closes_at: Timestamp.meta({ description: 'When registration ends.' }),
  is_registration_open: z.boolean().meta({ description: 'Whether registration is open, at least for the waitlist.', examples: [true] }),
  published_at: Timestamp.nullable().meta({ description: 'The first time it was published.' }),
  archived_at: Timestamp.nullable(),
  created_at: Timestamp,
  updated_at: Timestamp,
};

export const SITE_EVENT_EXAMPLE = {
  event_id: '019aa2f1-c2d3-7b6e-8c4d-1f00aa55ee77',
  ...EXAMPLE,
  status: 'published',
  places_left: 42,
  waitlist_length: 0,
  registration_closes_at: '2027-03-05T21:00:00.000Z',
  is_registration_open: true,
  published_at: '2026-11-21T08:00:00.000Z',
  archived_at: null,
  created_at: '2026-11-20T08:00:00.000Z',
  updated_at: '2026-11-21T08:00:00.000Z',
};

export const SiteEventResponse = z
  .object(siteEventFields)
  .meta({ id: 'SiteEventResponse', description: 'An event.', examples: [SITE_EVENT_EXAMPLE] });
export type SiteEventResponse = z.infer<typeof SiteEventResponse>;

export const SiteEventJsonLd = z
  .looseObject({
    '@context': z.literal('https://schema.org'),
    '@type': z.literal('Event'),
    '@id': z.string().meta({ examples: ['http://127.0.0.1:8787/v1/events/launch-day'] }),
    name: z.string().meta({ examples: ['Launch day'] }),
    startDate: z
      .string()
      .meta({ description: 'ISO 8601 with the offset of the event’s time zone.', examples: ['2027-03-05T18:00:00+01:00'] }),
    endDate: z.string().meta({ examples: ['2027-03-05T22:00:00+01:00'] }),
    eventStatus: z.literal('https://schema.org/EventScheduled'),
    eventAttendanceMode: z.string().meta({ examples: ['https://schema.org/OfflineEventAttendanceMode'] }),
  })
  .meta({ id: 'SiteEventJsonLd', description: 'An event in the vocabulary of schema.org, for search engines.' });
export type SiteEventJsonLd = z.infer<typeof SiteEventJsonLd>;

export const SiteEventCalendar = z.string().meta({ description: 'One VEVENT.', examples: ['BEGIN:VCALENDAR\r\n…\r\nEND:VCALENDAR\r\n'] });

/** The representations of an event beside JSON. */
export const EVENT_FORMS = [
  { contentType: 'application/ld+json', ending: '.jsonld', body: SiteEventJsonLd },
  { contentType: 'text/calendar', ending: '.ics', body: SiteEventCalendar },
] as const;
