import type { contract } from '@tallygate/contract';
import type { Handlers } from '../../http/index.ts';
import type { Clock } from '../../kernel/clock.ts';
import { freshAnswer } from '../../kernel/fresh-answer.ts';
import { trailOf } from './audit-trail.ts';
import { toCalendar } from './calendar.ts';
import type { EventWithPlaces } from './event-rows.ts';
import { toJsonLd } from './json-ld.ts';
import type { SiteEvents } from './site-events.ts';
import { eventToWire } from './wire.ts';

interface SiteEventRoutesDeps {
  readonly siteEvents: SiteEvents;
  readonly clock: Clock;
  /** The page at which an event is read. */
  readonly pageOf: (slug: string) => string;
}

export function siteEventRoutes({ siteEvents, clock, pageOf }: SiteEventRoutesDeps): Handlers<typeof contract.siteEvents> {
  const toWire = (event: EventWithPlaces) => eventToWire(event, clock.now());

  return {
    list: async (call) => freshAnswer(call, (await siteEvents.listPublished()).map(toWire)),
    get: async (call) => freshAnswer(call, toWire(await siteEvents.published(call.params.slug))),
    calendar: async (call) => {
      const event = await siteEvents.published(call.params.slug);
      call.setHeader('content-disposition', `inline; filename="${event.slug}.ics"`);
      return freshAnswer(call, toCalendar(event, pageOf(event.slug)));
    },
    jsonLd: async (call) => {
      const event = await siteEvents.published(call.params.slug);
      return freshAnswer(call, toJsonLd(event, pageOf(event.slug)));
    },

    listAll: async () => ({ status: 200, body: (await siteEvents.list()).map(toWire) }),
    create: async ({ principal, body, ...call }) => ({
      status: 201,
      body: toWire(await siteEvents.create(body, trailOf(principal, call))),
    }),
    update: async ({ principal, params, body, ...call }) => ({
      status: 200,
      body: toWire(await siteEvents.update(params.event_id, body, trailOf(principal, call))),
    }),
    publish: async ({ principal, params, ...call }) => ({
      status: 200,
      body: toWire(await siteEvents.move(params.event_id, 'publish', trailOf(principal, call))),
    }),
    archive: async ({ principal, params, ...call }) => ({
      status: 200,
      body: toWire(await siteEvents.move(params.event_id, 'archive', trailOf(principal, call))),
    }),
  };
}
