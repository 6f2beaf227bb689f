import { initContract } from '@ts-rest/core';
import * as z from 'zod';
import { headersA, idempotencyHeader, page, pageQuery, problem, refusals, Timestamp, Usd, Uuid } from '../conventions.ts';
import { RegistrationPayment, RegistrationStatus, VibethonRegistrationAdminUpdateRequest } from './registration-records.ts';
import { SITE_EVENT_EXAMPLE, siteEventFields } from './site-event-records.ts';
import { SlugPath } from './site-events.ts';

const c = initContract();

const count = (description: string, example: number) =>
  z
    .int()
    .min(0)
    .meta({ description, examples: [example] });

export const MarketingEventFigures = z
  .object({
    confirmed: count('Have a place.', 57),
    awaiting_payment: count('Have one held until they pay.', 1),
    waitlisted: count('Wait for one.', 0),
    canceled: count('Have none any more.', 3),
    attended: count('Came.', 0),
    received_usd: Usd.meta({ description: 'Paid and not refunded.', examples: ['0'] }),
  })
  .meta({ id: 'MarketingEventFigures', description: 'Counts of the registrations of an event.' });
export type MarketingEventFigures = z.infer<typeof MarketingEventFigures>;

const FIGURES = { confirmed: 57, awaiting_payment: 1, waitlisted: 0, canceled: 3, attended: 0, received_usd: '0' };

export const MarketingEventRecord = z.object({ ...siteEventFields, registrations: MarketingEventFigures }).meta({
  id: 'MarketingEventRecord',
  description: 'An event with the figures of its registrations.',
  examples: [{ ...SITE_EVENT_EXAMPLE, registrations: FIGURES }],
});
export type MarketingEventRecord = z.infer<typeof MarketingEventRecord>;
export const MarketingEventListResponse = page(MarketingEventRecord).meta({
  id: 'MarketingEventListResponse',
  description: 'Events in every state, the next one first.',
});
export type MarketingEventListResponse = z.infer<typeof MarketingEventListResponse>;

const REGISTRATION = {
  registration_id: '019aa2f1-c2d3-7b6e-8c4d-1f00aa55ee77',
  event_slug: 'launch-day',
  event_title: 'Launch day',
  email: 'ada@example.com',
  name: 'Ada Lovelace',
  company: 'Analytical Engines',
  message: null,
  user_id: '019aa2f1-c2d3-7b6e-8c4d-1f00aa55ee78',
  status: 'confirmed',
  waitlist_position: null,
  payment_status: 'not_required',
  price_usd: '0',
  note: 'Speaker',
  registered_at: '2026-11-21T08:00:00.000Z',
  confirmed_at: '2026-11-21T08:00:00.000Z',
  canceled_at: null,
  attended_at: null,
  updated_at: '2026-11-21T08:00:00.000Z',
};

export const MarketingEventRegistrationRecord = z
  .object({
    registration_id: Uuid,
    event_slug: z.string(),
    event_title: z.string(),
    email: z.string(),
    name: z.string().nullable(),
    company: z.string().nullable(),
    message: z.string().nullable().meta({ description: 'Their message at the registration.' }),
    user_id: Uuid.nullable().meta({ description: 'The user of the address.' }),
    status: RegistrationStatus,
    waitlist_position: z.int().nullable().meta({ description: '1 is next.' }),
    payment_status: RegistrationPayment,
    price_usd: Usd,
    note: z.string().meta({ description: 'Of the workspace; registrants never see it.' }),
    registered_at: Timestamp,
    confirmed_at: Timestamp.nullable(),
    canceled_at: Timestamp.nullable(),
    attended_at: Timestamp.nullable(),
    updated_at: Timestamp,
  })
  .meta({
    id: 'MarketingEventRegistrationRecord',
    description: 'A registration as the marketing workspace sees it.',
    examples: [REGISTRATION],
  });
export type MarketingEventRegistrationRecord = z.infer<typeof MarketingEventRegistrationRecord>;
export const MarketingEventRegistrationListResponse = page(MarketingEventRegistrationRecord).meta({
  id: 'MarketingEventRegistrationListResponse',
  description: 'Registrations, the newest first.',
});
export type MarketingEventRegistrationListResponse = z.infer<typeof MarketingEventRegistrationListResponse>;

export const MarketingEventRegistrationUpdateRequest = z.strictObject(VibethonRegistrationAdminUpdateRequest.shape).meta({
  id: 'MarketingEventRegistrationUpdateRequest',
  description: 'What to change; what is left out stays.',
  examples: [{ attended: true }],
});
export type MarketingEventRegistrationUpdateRequest = z.infer<typeof MarketingEventRegistrationUpdateRequest>;

const tag = 'Marketing events';
const reads = { auth: 'bearer', scope: 'marketing:read', role: 'marketing', tag } as const;
const writes = { auth: 'bearer', scope: 'marketing:write', role: 'marketing', tag } as const;

/** Events as the marketing workspace works with them. */
export const marketingEvents = c.router({
  list: {
    method: 'GET',
    path: '/v1/marketing/events',
    summary: 'List events of the workspace',
    description: 'In every state, with the figures of their registrations, the next one first.',
    headers: headersA,
    query: z.strictObject(pageQuery),
    responses: { 200: MarketingEventListResponse, ...refusals.read },
    metadata: { ...reads, operationId: 'listMarketingEvents', sdk: 'marketingEvents.list' } as const,
  },
  get: {
    method: 'GET',
    path: '/v1/marketing/events/:slug',
    summary: 'Get an event of the workspace',
    description: 'In any state.',
    headers: headersA,
    pathParams: SlugPath,
    responses: { 200: MarketingEventRecord, 404: problem, ...refusals.read },
    metadata: { ...reads, operationId: 'getMarketingEvent', sdk: 'marketingEvents.get' } as const,
  },
  listRegistrations: {
    method: 'GET',
    path: '/v1/marketing/events/:slug/registrations',
    summary: 'List registrations of an event',
    description: 'The newest first.',
    headers: headersA,
    pathParams: SlugPath,
    query: z.strictObject(pageQuery),
    responses: { 200: MarketingEventRegistrationListResponse, 404: problem, ...refusals.read },
    metadata: { ...reads, operationId: 'listMarketingEventRegistrations', sdk: 'marketingEvents.registrations' } as const,
  },
  updateRegistration: {
    method: 'PATCH',
    path: '/v1/marketing/event-registrations/:registration_id',
    summary: 'Change a registration in the workspace',
    description: 'A free place goes to the person who has waited longest, at once.',
    headers: { ...headersA, ...idempotencyHeader },
    pathParams: z.object({ registration_id: Uuid }),
    body: MarketingEventRegistrationUpdateRequest,
    responses: { 200: MarketingEventRegistrationRecord, 404: problem, 409: problem, ...refusals.write },
    metadata: { ...writes, operationId: 'updateMarketingEventRegistration', sdk: 'marketingEvents.updateRegistration' } as const,
  },
  publish: {
    method: 'POST',
    path: '/v1/marketing/events/:slug/publish',
    summary: 'Publish an event of the workspace',
    description: 'A draft becomes public.',
    headers: { ...headersA, ...idempotencyHeader },
    pathParams: SlugPath,
    body: c.noBody(),
    responses: { 200: MarketingEventRecord, 404: problem, 409: problem, ...refusals.write },
    metadata: { ...writes, operationId: 'publishMarketingEvent', sdk: 'marketingEvents.publish', errors: { never: ['conflict'] } } as const,
  },
  unpublish: {
    method: 'POST',
    path: '/v1/marketing/events/:slug/unpublish',
    summary: 'Unpublish an event',
    description: 'A published event becomes a draft again, which is not public. Its slug and its registrations stay.',
    headers: { ...headersA, ...idempotencyHeader },
    pathParams: SlugPath,
    body: c.noBody(),
    responses: { 200: MarketingEventRecord, 404: problem, 409: problem, ...refusals.write },
    metadata: {
      ...writes,
      operationId: 'unpublishMarketingEvent',
      sdk: 'marketingEvents.unpublish',
      errors: { never: ['conflict'] },
    } as const,
  },
});
