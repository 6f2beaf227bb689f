import type { contract } from '@tallygate/contract';
import { originOf } from '../../audit/index.ts';
import type { Handlers } from '../../http/index.ts';
import type { Clock } from '../../kernel/clock.ts';
import { freshAnswer } from '../../kernel/fresh-answer.ts';
import { trailOf } from './audit-trail.ts';
import type { createEditRegistration } from './edit-registration.ts';
import type { createGiveUp } from './give-up.ts';
import type { Registrations } from './registrations.ts';
import type { SiteEvents } from './site-events.ts';
import { eventToWire, listedToWire, registrationToWire, statusToWire } from './wire.ts';

interface RegistrationRoutesDeps {
  readonly siteEvents: SiteEvents;
  readonly registrations: Registrations;
  readonly editRegistration: ReturnType<typeof createEditRegistration>;
  readonly giveUp: ReturnType<typeof createGiveUp>;
  readonly clock: Clock;
}

export const registrationRoutes = ({
  siteEvents,
  registrations,
  editRegistration,
  giveUp,
  clock,
}: RegistrationRoutesDeps): Handlers<typeof contract.registrations> => ({
  vibethon: async (call) => {
    const event = eventToWire(await registrations.vibethon(), clock.now());
    return freshAnswer(call, { ...event, requires_payment: event.price_usd !== '0' });
  },
  registerForVibethon: async ({ body, ...call }) => ({
    status: 201,
    body: registrationToWire(await registrations.register(await registrations.vibethon(), body, originOf(call))),
  }),
  vibethonStatus: async ({ query: { email }, ...call }) => {
    const event = await registrations.vibethon();
    return { status: 200, body: statusToWire(event, email, await registrations.status(event, email, originOf(call))) };
  },
  register: async ({ params, body, ...call }) => ({
    status: 201,
    body: registrationToWire(await registrations.register(await siteEvents.published(params.slug), body, originOf(call))),
  }),
  status: async ({ params, query: { email }, ...call }) => {
    const event = await siteEvents.published(params.slug);
    return { status: 200, body: statusToWire(event, email, await registrations.status(event, email, originOf(call))) };
  },
  giveUp: async ({ body, ...call }) => ({ status: 200, body: registrationToWire(await giveUp(body.token, originOf(call))) }),
  listAll: async ({ query }) => ({ status: 200, body: (await registrations.list(query)).map(listedToWire) }),
  update: async ({ principal, params, body, ...call }) => ({
    status: 200,
    body: listedToWire(await editRegistration(params.registration_id, body, trailOf(principal, call))),
  }),
});
