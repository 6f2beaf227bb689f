import { initContract } from '@ts-rest/core';
import * as z from 'zod';
import { headersA, idempotencyHeader, pageQuery, problem, refusals, Uuid, wholeNumber } from '../conventions.ts';
import {
  EventRegistrationCancelRequest,
  RegistrantEmail,
  RegistrationStatus,
  VibethonEventResponse,
  VibethonRegistrationAdminUpdateRequest,
  VibethonRegistrationRequest,
  VibethonRegistrationResponse,
  VibethonRegistrationStatusResponse,
} from './registration-records.ts';
import { EVENT_FORMS } from './site-event-records.ts';
import { ifNoneMatch, SlugPath } from './site-events.ts';

const c = initContract();

const tag = 'Events';
const open = { auth: 'none', tag } as const;
const admin = { auth: 'bearer', role: 'admin', tag } as const;
const StatusQuery = z.object({ email: RegistrantEmail });

/** Taking part: the Vibethon under its own addresses, every other event under its slug. */
export const registrations = c.router({
  vibethon: {
    method: 'GET',
    path: '/v1/events/vibethon',
    summary: 'The Vibethon',
    description:
      'Always available, in every state. May be cached for half a minute; use the ETag to revalidate. With `Accept: application/ld+json` or `text/calendar` the answer is that of `/v1/events/vibethon.jsonld` and `.ics`.',
    headers: ifNoneMatch,
    responses: { 200: VibethonEventResponse, 304: c.noBody(), ...refusals.openRead },
    metadata: { ...open, alsoAt: EVENT_FORMS, operationId: 'getVibethon', sdk: 'events.vibethon' } as const,
  },
  registerForVibethon: {
    method: 'POST',
    path: '/v1/events/vibethon/register',
    summary: 'Register for the Vibethon',
    description:
      'Takes a place, or the next one on the waitlist. Registering an address twice changes nothing and answers with the first registration, so the answer never reveals whether the address has an account. A mail confirms it; anyone who has no account gets a link to claim one.',
    body: VibethonRegistrationRequest,
    responses: { 201: VibethonRegistrationResponse, 409: problem, ...refusals.openInput },
    metadata: { ...open, operationId: 'registerForVibethon' } as const,
  },
  vibethonStatus: {
    method: 'GET',
    path: '/v1/events/vibethon/registration-status',
    summary: 'Get the status of a registration for the Vibethon',
    description: 'By e-mail address. Requests for many addresses are rate limited.',
    query: StatusQuery,
    responses: { 200: VibethonRegistrationStatusResponse, ...refusals.openInput },
    metadata: { ...open, operationId: 'getVibethonRegistrationStatus' } as const,
  },
  giveUp: {
    method: 'POST',
    path: '/v1/events/cancel-registration',
    summary: 'Cancel one’s own registration',
    description:
      'With the token of the link in a mail about it; of the Vibethon and of every other event. The place goes to the person who has waited longest, at once, and both get a mail. Repeating the request changes nothing. A place that was paid for has to be refunded instead (409).',
    body: EventRegistrationCancelRequest,
    responses: { 200: VibethonRegistrationResponse, 409: problem, ...refusals.openInput },
    metadata: { ...open, operationId: 'cancelEventRegistration', sdk: 'events.cancelRegistration(token)' } as const,
  },
  listAll: {
    method: 'GET',
    path: '/v1/events/admin/registrations',
    summary: 'List all registrations',
    description: 'For administrators: of all events, the newest first. All of them, unless `limit` is set.',
    headers: headersA,
    query: z.object({
      status: RegistrationStatus.optional().meta({ description: 'Only those in this state.' }),
      limit: pageQuery.limit.removeDefault().optional().meta({ description: 'At most this many. Default: all.' }),
      offset: wholeNumber(0).default(0).meta({ description: 'How many to skip.' }),
    }),
    responses: { 200: z.array(VibethonRegistrationResponse), ...refusals.read },
    metadata: { ...admin, scope: 'events:read', operationId: 'listEventRegistrations', sdk: 'events.registrations' } as const,
  },
  update: {
    method: 'PATCH',
    path: '/v1/events/admin/registrations/:registration_id',
    summary: 'Change a registration',
    description: 'For administrators. A free place goes to the person who has waited longest, at once.',
    headers: { ...headersA, ...idempotencyHeader },
    pathParams: z.object({ registration_id: Uuid }),
    body: VibethonRegistrationAdminUpdateRequest,
    responses: { 200: VibethonRegistrationResponse, 404: problem, 409: problem, ...refusals.write },
    metadata: { ...admin, scope: 'events:write', operationId: 'updateEventRegistration', sdk: 'events.updateRegistration' } as const,
  },
  register: {
    method: 'POST',
    path: '/v1/events/:slug/register',
    summary: 'Register for an event',
    description: 'Of a published event; the rules are those of the Vibethon.',
    pathParams: SlugPath,
    body: VibethonRegistrationRequest,
    responses: { 201: VibethonRegistrationResponse, 404: problem, 409: problem, ...refusals.openInput },
    metadata: { ...open, operationId: 'registerForEvent', sdk: 'events.register' } as const,
  },
  status: {
    method: 'GET',
    path: '/v1/events/:slug/registration-status',
    summary: 'Get the status of a registration',
    description: 'Of a published event, by e-mail address. Requests for many addresses are rate limited.',
    pathParams: SlugPath,
    query: StatusQuery,
    responses: { 200: VibethonRegistrationStatusResponse, 404: problem, ...refusals.openInput },
    metadata: { ...open, operationId: 'getEventRegistrationStatus', sdk: 'events.registrationStatus(email)' } as const,
  },
});
