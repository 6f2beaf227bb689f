import { initContract } from '@ts-rest/core';
import * as z from 'zod';
import { headersA, idempotencyHeader, isPlainText, NOT_PLAIN, problem, refusals, Uuid } from '../conventions.ts';
import {
  EVENT_FORMS,
  SiteEventCalendar,
  SiteEventCreateRequest,
  SiteEventJsonLd,
  SiteEventResponse,
  SiteEventUpdateRequest,
} from './site-event-records.ts';

const c = initContract();

const tag = 'Events';
export const SlugPath = z.object({
  slug: z
    .string()
    .max(200)
    .refine(isPlainText, NOT_PLAIN)
    .meta({ description: 'The event’s slug.', examples: ['launch-day'] }),
});
const EventPath = z.object({ event_id: Uuid });
/** For what caches may keep. */
export const ifNoneMatch = {
  'if-none-match': z
    .string()
    .optional()
    .meta({ description: 'The ETag of an earlier answer: if nothing has changed, the answer is a 304.', examples: ['"3vq0Zt8w1b"'] }),
};
const reads = { auth: 'bearer', scope: 'events:read', role: 'admin', tag } as const;
const writes = { auth: 'bearer', scope: 'events:write', role: 'admin', tag } as const;

/** What anybody may read, and what administrators do to it. */
export const siteEvents = c.router({
  list: {
    method: 'GET',
    path: '/v1/events',
    summary: 'List published events',
    description:
      'All published events: running and future ones first, the next one on top, then past ones, the most recent first. May be cached for half a minute; use the ETag to revalidate.',
    headers: ifNoneMatch,
    responses: { 200: z.array(SiteEventResponse), 304: c.noBody(), ...refusals.openRead },
    metadata: { auth: 'none', tag, operationId: 'listEvents', sdk: 'events.list' } as const,
  },
  listAll: {
    method: 'GET',
    path: '/v1/events/admin',
    summary: 'List all events, with drafts and archived ones',
    description: 'For administrators: every event, the next one first.',
    headers: headersA,
    responses: { 200: z.array(SiteEventResponse), ...refusals.read },
    metadata: { ...reads, operationId: 'listAllEvents', sdk: 'events.listAll' } as const,
  },
  create: {
    method: 'POST',
    path: '/v1/events/admin',
    summary: 'Create an event',
    description: 'For administrators. It begins as a draft.',
    headers: { ...headersA, ...idempotencyHeader },
    body: SiteEventCreateRequest,
    responses: { 201: SiteEventResponse, 409: problem, ...refusals.write },
    metadata: { ...writes, operationId: 'createEvent', sdk: 'events.create', errors: { never: ['conflict'] } } as const,
  },
  update: {
    method: 'PATCH',
    path: '/v1/events/admin/:event_id',
    summary: 'Change an event',
    description: 'For administrators. The slug is fixed once the event was published; an archived event cannot be changed.',
    headers: { ...headersA, ...idempotencyHeader },
    pathParams: EventPath,
    body: SiteEventUpdateRequest,
    responses: { 200: SiteEventResponse, 404: problem, 409: problem, ...refusals.write },
    metadata: { ...writes, operationId: 'updateEvent', sdk: 'events.update' } as const,
  },
  publish: {
    method: 'POST',
    path: '/v1/events/admin/:event_id/publish',
    summary: 'Publish an event',
    description: 'For administrators: a draft becomes public.',
    headers: { ...headersA, ...idempotencyHeader },
    pathParams: EventPath,
    body: c.noBody(),
    responses: { 200: SiteEventResponse, 404: problem, 409: problem, ...refusals.write },
    metadata: { ...writes, operationId: 'publishEvent', sdk: 'events.publish', errors: { never: ['conflict'] } } as const,
  },
  archive: {
    method: 'POST',
    path: '/v1/events/admin/:event_id/archive',
    summary: 'Archive an event',
    description:
      'For administrators: a draft or a published event is archived permanently. Places that were held for payment are released and cannot be paid any more; other registrations do not change.',
    headers: { ...headersA, ...idempotencyHeader },
    pathParams: EventPath,
    body: c.noBody(),
    responses: { 200: SiteEventResponse, 404: problem, 409: problem, ...refusals.write },
    metadata: { ...writes, operationId: 'archiveEvent', sdk: 'events.archive', errors: { never: ['conflict'] } } as const,
  },
  calendar: {
    method: 'GET',
    path: '/v1/events/:slug.ics',
    summary: 'Get an event as a calendar entry',
    description: 'A published event as iCalendar (RFC 5545).',
    headers: ifNoneMatch,
    pathParams: SlugPath,
    responses: {
      200: c.otherResponse({ contentType: 'text/calendar', body: SiteEventCalendar }),
      304: c.noBody(),
      404: problem,
      ...refusals.openInput,
    },
    metadata: { auth: 'none', tag, operationId: 'getEventCalendar', sdk: 'events.calendar' } as const,
  },
  jsonLd: {
    method: 'GET',
    path: '/v1/events/:slug.jsonld',
    summary: 'Get an event as JSON-LD',
    description: 'A published event as JSON-LD (schema.org Event), to be put into a page.',
    headers: ifNoneMatch,
    pathParams: SlugPath,
    responses: {
      200: c.otherResponse({ contentType: 'application/ld+json', body: SiteEventJsonLd }),
      304: c.noBody(),
      404: problem,
      ...refusals.openInput,
    },
    metadata: { auth: 'none', tag, operationId: 'getEventJsonLd', sdk: 'events.jsonLd' } as const,
  },
  get: {
    method: 'GET',
    path: '/v1/events/:slug',
    summary: 'Get an event',
    description:
      'A published event; a draft is answered like an unknown event. With `Accept: application/ld+json` or `text/calendar` the answer is that of `…/{slug}.jsonld` or `…/{slug}.ics`.',
    headers: ifNoneMatch,
    pathParams: SlugPath,
    responses: { 200: SiteEventResponse, 304: c.noBody(), 404: problem, ...refusals.openInput },
    metadata: { auth: 'none', alsoAt: EVENT_FORMS, tag, operationId: 'getEvent', sdk: 'events.get' } as const,
  },
});
