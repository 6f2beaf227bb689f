import { initContract } from '@ts-rest/core';
import * as z from 'zod';
import {
  headersA,
  idempotencyHeader,
  isPlainText,
  NOT_PLAIN,
  page,
  pageQuery,
  problem,
  refusals,
  Timestamp,
  Uuid,
  wholeNumber,
} from './conventions.ts';
import { WebhookEvent, WebhookEventName } from './webhook-events.ts';

const c = initContract();

export const WebhookOwner = z.enum(['account', 'gateway']).meta({
  id: 'WebhookOwner',
  description: '`account`: events of the account. `gateway`: events of the gateway and of every account; for administrators.',
});
export const WebhookFormat = z.enum(['standard', 'slack', 'teams']).meta({
  id: 'WebhookFormat',
  description:
    '`standard`: the event as JSON, signed. `slack`: a message for an incoming webhook of Slack. `teams`: a card for a workflow of Microsoft Teams.',
});
export type WebhookFormat = z.infer<typeof WebhookFormat>;

const Address = z
  .url({ protocol: /^https?$/, error: 'must be an http or https URL' })
  .max(2_000)
  .refine((text) => !hasCredentials(text), 'must not contain a user name or a password')
  .meta({ description: 'Where events are sent.', examples: ['https://example.com/tallygate'] });
const description = z
  .string()
  .trim()
  .max(200)
  .refine(isPlainText, NOT_PLAIN)
  .meta({ description: 'For people.', examples: ['finance'] });
const eventTypes = z
  .array(WebhookEventName)
  .min(1)
  .max(50)
  .nullable()
  .meta({ description: 'Only events of these types; null for all.', examples: [['budget.cap_hit', 'limit.cap_hit']] });

export const WebhookEndpoint = z
  .object({
    webhook_id: Uuid,
    owner: WebhookOwner,
    url: z.string().meta({
      description: 'Where events are sent. Of Slack and Teams without its path, which is the credential there.',
      examples: ['https://example.com/tallygate'],
    }),
    description: z.string().meta({ examples: ['finance'] }),
    format: WebhookFormat,
    event_types: eventTypes,
    status: z
      .enum(['enabled', 'disabled', 'failing'])
      .meta({ description: '`failing`: enabled, and its last delivery failed.', examples: ['enabled'] }),
    disabled_reason: z
      .enum(['by_user', 'failed_for_three_days', 'gone'])
      .nullable()
      .meta({
        description: '`gone`: it answered 410. Null unless it is disabled.',
        examples: [null],
      }),
    failing_since: Timestamp.nullable().meta({ description: 'Null where its last delivery succeeded.', examples: [null] }),
    previous_secret_expires_at: Timestamp.nullable().meta({
      description: 'Until when deliveries are signed with the secret before as well; null otherwise.',
      examples: [null],
    }),
    created_at: Timestamp,
    updated_at: Timestamp,
  })
  .meta({ id: 'WebhookEndpoint', description: 'An address to which events are sent.' });
export type WebhookEndpoint = z.infer<typeof WebhookEndpoint>;

export const WebhookEndpointList = page(WebhookEndpoint).meta({ id: 'WebhookEndpointList', description: 'Webhooks, the newest first.' });

export const WebhookEndpointWithSecret = WebhookEndpoint.extend({
  secret: z.string().meta({
    description: 'Verifies deliveries. It is not shown again.',
    examples: ['whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'],
  }),
}).meta({ id: 'WebhookEndpointWithSecret', description: 'A webhook with its secret.' });
export type WebhookEndpointWithSecret = z.infer<typeof WebhookEndpointWithSecret>;

export const CreateWebhookRequest = z
  .strictObject({
    url: Address,
    owner: WebhookOwner.default('account'),
    description: description.default(''),
    format: WebhookFormat.default('standard'),
    event_types: eventTypes.default(null),
  })
  .meta({ id: 'CreateWebhookRequest', description: 'A new webhook.', examples: [{ url: 'https://example.com/tallygate' }] });
export type CreateWebhookRequest = z.infer<typeof CreateWebhookRequest>;

export const UpdateWebhookRequest = z
  .strictObject({
    url: Address.optional(),
    description: description.optional(),
    format: WebhookFormat.optional(),
    event_types: eventTypes.optional(),
    enabled: z
      .boolean()
      .optional()
      .meta({ description: '`false` ends all deliveries to it; `true` begins with the events that come from then on.' }),
  })
  .meta({ id: 'UpdateWebhookRequest', description: 'What to change.', examples: [{ enabled: true }] });
export type UpdateWebhookRequest = z.infer<typeof UpdateWebhookRequest>;

export const RotateWebhookSecretRequest = z
  .strictObject({
    grace_seconds: z.int().min(0).max(604_800).default(86_400).meta({ description: 'How long deliveries are signed with both secrets.' }),
  })
  .meta({ id: 'RotateWebhookSecretRequest', description: 'How long both secrets sign.', examples: [{ grace_seconds: 3_600 }] });

const Attempt = z.object({
  at: Timestamp,
  status_code: z
    .int()
    .nullable()
    .meta({ description: 'What the endpoint answered; null where it did not.', examples: [200] }),
  error: z
    .enum(['connection_failed', 'timed_out', 'address_refused', 'redirected', 'rejected'])
    .nullable()
    .meta({
      description:
        'Null for a success. `address_refused`: the name leads to an address that this gateway does not send to. `redirected`: redirects are not followed. `rejected`: any other status than 2xx.',
      examples: [null],
    }),
  duration_ms: z.int().meta({ examples: [84] }),
});
export type WebhookAttempt = z.infer<typeof Attempt>;

export const WebhookDelivery = z
  .object({
    delivery_id: Uuid,
    webhook_id: Uuid,
    event: WebhookEvent,
    status: z.enum(['pending', 'delivered', 'failed']).meta({ description: '`failed`: not tried again by itself.' }),
    attempts: z.array(Attempt).meta({ description: 'The last 20, the oldest first.' }),
    next_attempt_at: Timestamp.nullable().meta({ description: 'Null unless it is pending.', examples: [null] }),
    created_at: Timestamp,
  })
  .meta({ id: 'WebhookDelivery', description: 'One event for one webhook.' });
export type WebhookDelivery = z.infer<typeof WebhookDelivery>;

export const WebhookDeliveryList = page(WebhookDelivery).meta({ id: 'WebhookDeliveryList', description: 'Deliveries, the newest first.' });

export const WebhookReplayRequest = z
  .strictObject({ since: Timestamp.meta({ description: 'Events from this time on, as far as they are kept.' }) })
  .meta({ id: 'WebhookReplayRequest', description: 'From when.', examples: [{ since: '2026-11-21T08:00:00.000Z' }] });

export const WebhookReplayResponse = z
  .object({ replayed: z.int().meta({ description: 'How many events are sent again.', examples: [12] }) })
  .meta({ id: 'WebhookReplayResponse', description: 'What is sent again.' });

export const WebhookTestResponse = z.object({ event_id: Uuid }).meta({ id: 'WebhookTestResponse', description: 'The event that is sent.' });

export const WebhookEventList = page(WebhookEvent).meta({ id: 'WebhookEventList', description: 'Events.' });

const hasCredentials = (text: string): boolean => {
  if (!URL.canParse(text)) return false;
  const { username, password } = new URL(text);
  return username !== '' || password !== '';
};

const WebhookPath = z.object({ webhook_id: Uuid.meta({ description: 'The webhook’s id.' }) });
const DeliveryPath = WebhookPath.extend({ delivery_id: Uuid.meta({ description: 'The delivery’s id.' }) });
/** Where events go is decided by people: an API key that leaks could otherwise watch the account. */
const bySession = { auth: 'bearer', session: true, manage: 'webhooks:write', accountRole: 'admin', tag: 'Webhooks' } as const;
const read = { auth: 'bearer', scope: 'account:read', tag: 'Webhooks' } as const;
const ownerQuery = WebhookOwner.default('account').meta({ description: 'Whose.' });

export const webhooks = c.router({
  list: {
    method: 'GET',
    path: '/v1/webhook-endpoints',
    summary: 'List webhooks',
    description: 'Webhooks of the account, or of the gateway, the newest first.',
    headers: headersA,
    query: z.object({ owner: ownerQuery, ...pageQuery }),
    responses: { 200: WebhookEndpointList, ...refusals.read },
    metadata: { ...read, errors: { also: ['forbidden'] }, operationId: 'listWebhooks', sdk: 'webhooks.list' } as const,
  },
  create: {
    method: 'POST',
    path: '/v1/webhook-endpoints',
    summary: 'Create a webhook',
    description: 'The secret is in this answer alone. Events that happen from now on are sent.',
    headers: { ...headersA, ...idempotencyHeader },
    body: CreateWebhookRequest,
    responses: { 201: WebhookEndpointWithSecret, 409: problem, ...refusals.write },
    metadata: { ...bySession, operationId: 'createWebhook', sdk: 'webhooks.create' } as const,
  },
  get: {
    method: 'GET',
    path: '/v1/webhook-endpoints/:webhook_id',
    summary: 'Get a webhook',
    description: 'One webhook, without its secret.',
    headers: headersA,
    pathParams: WebhookPath,
    responses: { 200: WebhookEndpoint, 404: problem, ...refusals.read },
    metadata: { ...read, operationId: 'getWebhook', sdk: 'webhooks.get' } as const,
  },
  update: {
    method: 'PATCH',
    path: '/v1/webhook-endpoints/:webhook_id',
    summary: 'Change, disable or enable a webhook',
    description: 'Deliveries that are pending go to the new address.',
    headers: { ...headersA, ...idempotencyHeader },
    pathParams: WebhookPath,
    body: UpdateWebhookRequest,
    responses: { 200: WebhookEndpoint, 404: problem, 409: problem, ...refusals.write },
    metadata: { ...bySession, operationId: 'updateWebhook', sdk: 'webhooks.update' } as const,
  },
  delete: {
    method: 'DELETE',
    path: '/v1/webhook-endpoints/:webhook_id',
    summary: 'Delete a webhook',
    description: 'With its deliveries. What is on its way arrives.',
    headers: { ...headersA, ...idempotencyHeader },
    pathParams: WebhookPath,
    responses: { 204: c.noBody(), 404: problem, 409: problem, ...refusals.read },
    metadata: { ...bySession, operationId: 'deleteWebhook', sdk: 'webhooks.delete' } as const,
  },
  rotateSecret: {
    method: 'POST',
    path: '/v1/webhook-endpoints/:webhook_id/rotate-secret',
    summary: 'Replace the secret of a webhook',
    description: 'Deliveries carry two signatures, one with each secret, until the grace period ends.',
    headers: { ...headersA, ...idempotencyHeader },
    pathParams: WebhookPath,
    body: RotateWebhookSecretRequest,
    responses: { 200: WebhookEndpointWithSecret, 404: problem, 409: problem, ...refusals.write },
    metadata: { ...bySession, operationId: 'rotateWebhookSecret', sdk: 'webhooks.rotateSecret' } as const,
  },
  test: {
    method: 'POST',
    path: '/v1/webhook-endpoints/:webhook_id/test',
    summary: 'Send a test event',
    description: 'An event of the type `webhook.test` is sent to this webhook, whatever its event types are. At most one in five seconds.',
    headers: { ...headersA, ...idempotencyHeader },
    pathParams: WebhookPath,
    body: c.noBody(),
    responses: {
      202: WebhookTestResponse,
      404: problem,
      409: problem,
      ...refusals.write,
    },
    metadata: { ...bySession, operationId: 'testWebhook', sdk: 'webhooks.test' } as const,
  },
  deliveries: {
    method: 'GET',
    path: '/v1/webhook-endpoints/:webhook_id/deliveries',
    summary: 'List deliveries of a webhook',
    description:
      'With their attempts and the status codes that came back, the newest first. Kept for 30 days unless the operator has set another time.',
    headers: headersA,
    pathParams: WebhookPath,
    query: z.object({
      status: WebhookDelivery.shape.status.optional().meta({ description: 'Only deliveries with this status.' }),
      ...pageQuery,
    }),
    responses: { 200: WebhookDeliveryList, 404: problem, ...refusals.read },
    metadata: { ...read, operationId: 'listWebhookDeliveries', sdk: 'webhooks.deliveries' } as const,
  },
  replayDelivery: {
    method: 'POST',
    path: '/v1/webhook-endpoints/:webhook_id/deliveries/:delivery_id/replay',
    summary: 'Send one event again',
    description: 'Also one that was delivered. The event keeps its id.',
    headers: { ...headersA, ...idempotencyHeader },
    pathParams: DeliveryPath,
    body: c.noBody(),
    responses: { 200: WebhookDelivery, 404: problem, 409: problem, ...refusals.write },
    metadata: { ...bySession, operationId: 'replayWebhookDelivery', sdk: 'webhooks.replayDelivery' } as const,
  },
  replay: {
    method: 'POST',
    path: '/v1/webhook-endpoints/:webhook_id/replay',
    summary: 'Send again what was not delivered',
    description:
      'Every event since the time that failed, and every one that happened while the webhook was disabled. Events that are pending or delivered are left as they are.',
    headers: { ...headersA, ...idempotencyHeader },
    pathParams: WebhookPath,
    body: WebhookReplayRequest,
    responses: { 200: WebhookReplayResponse, 404: problem, 409: problem, ...refusals.write },
    metadata: { ...bySession, operationId: 'replayWebhook', sdk: 'webhooks.replay' } as const,
  },
  events: {
    method: 'GET',
    path: '/v1/webhook-events',
    summary: 'List events, or wait for them',
    description:
      'Events of the account, or of the gateway, the newest first, without any webhook. With `after_sequence` the oldest first from there on; with `wait_seconds` the answer is held back until there is one. A client that repeats this with the last `sequence` that it has seen misses none and gets none twice.',
    headers: headersA,
    query: z.object({
      owner: ownerQuery,
      type: WebhookEventName.optional().meta({ description: 'Only events of this type.' }),
      after_sequence: wholeNumber(0).optional().meta({ description: 'Only events after this one, the oldest first.' }),
      wait_seconds: wholeNumber(0, 25).default(0).meta({ description: 'With `after_sequence`: how long to wait for an event.' }),
      ...pageQuery,
    }),
    responses: { 200: WebhookEventList, ...refusals.read },
    metadata: { ...read, errors: { also: ['forbidden'] }, operationId: 'listWebhookEvents', sdk: 'webhooks.events' } as const,
  },
});
