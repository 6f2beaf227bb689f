import type { contract, MarketingEventRecord, MarketingEventRegistrationRecord } from '@tallygate/contract';
import type { Pool } from 'pg';
import type { Handlers } from '../../http/index.ts';
import { type Clock, rfc3339 } from '../../kernel/clock.ts';
import { formatUsd } from '../../kernel/money.ts';
import { mapPage } from '../../kernel/page.ts';
import { type Trail, trailOf } from './audit-trail.ts';
import type { Events } from './events.ts';
import { type EventWithFigures, eventsWithFigures, eventWithFigures } from './marketing-events.ts';
import { type ListedRegistration, pageOfRegistrations } from './registration-rows.ts';
import type { Transition } from './site-event.ts';
import { noSuchEvent } from './site-events.ts';
import { eventToWire, timeOrNull } from './wire.ts';

type MarketingEventRoutesDeps = Pick<Events, 'siteEvents' | 'editRegistration'> & {
  readonly pool: Pool;
  readonly clock: Clock;
};

export function marketingEventRoutes(deps: MarketingEventRoutesDeps): Handlers<typeof contract.marketingEvents> {
  const { pool, clock, siteEvents, editRegistration } = deps;
  const toWire = (event: EventWithFigures) => recordToWire(event, clock.now());
  const read = async (slug: string): Promise<EventWithFigures> => {
    const event = await eventWithFigures(pool, slug);
    if (!event) throw noSuchEvent();
    return event;
  };
  const move = async (slug: string, step: Transition, trail: Trail) => {
    const { event_id } = await read(slug);
    await siteEvents.move(event_id, step, trail);
    return toWire(await read(slug));
  };

  return {
    list: async ({ query }) => ({ status: 200, body: mapPage(await eventsWithFigures(pool, query), toWire) }),
    get: async ({ params }) => ({ status: 200, body: toWire(await read(params.slug)) }),
    listRegistrations: async ({ params, query }) => {
      const { event_id } = await read(params.slug);
      return { status: 200, body: mapPage(await pageOfRegistrations(pool, event_id, query), registrationToWire) };
    },
    updateRegistration: async ({ principal, params, body, ...call }) => ({
      status: 200,
      body: registrationToWire(await editRegistration(params.registration_id, body, trailOf(principal, call))),
    }),
    publish: async ({ principal, params, ...call }) => ({
      status: 200,
      body: await move(params.slug, 'publish', trailOf(principal, call)),
    }),
    unpublish: async ({ principal, params, ...call }) => ({
      status: 200,
      body: await move(params.slug, 'unpublish', trailOf(principal, call)),
    }),
  };
}

const recordToWire = (event: EventWithFigures, nowMs: number): MarketingEventRecord => ({
  ...eventToWire(event, nowMs),
  registrations: {
    confirmed: event.confirmed,
    awaiting_payment: event.awaiting_payment,
    waitlisted: event.waiting,
    canceled: event.canceled,
    attended: event.attended,
    received_usd: formatUsd(BigInt(event.received_nano)),
  },
});

/** All that is known, but what is between the registrant and the payment provider. */
const registrationToWire = (registration: ListedRegistration): MarketingEventRegistrationRecord => ({
  registration_id: registration.registration_id,
  event_slug: registration.slug,
  event_title: registration.title,
  email: registration.email,
  name: registration.name,
  company: registration.company,
  message: registration.message,
  user_id: registration.user_id,
  status: registration.status,
  waitlist_position: registration.waitlist_position,
  payment_status: registration.payment_status,
  price_usd: formatUsd(registration.price_nano),
  note: registration.admin_note,
  registered_at: rfc3339(registration.created_at),
  confirmed_at: timeOrNull(registration.confirmed_at),
  canceled_at: timeOrNull(registration.canceled_at),
  attended_at: timeOrNull(registration.attended_at),
  updated_at: rfc3339(registration.updated_at),
});
