import { defineEntity, p } from '@mikro-orm/core';
import type { WebhookAttempt } from '@tallygate/contract';

export const WebhookEndpointEntity = defineEntity({
  name: 'WebhookEndpoint',
  tableName: 'webhook_endpoints',
  properties: {
    id: p.uuid().primary(),
    accountId: p.uuid().nullable(),
    sealed: p.text(),
    description: p.text(),
    format: p.enum(['standard', 'slack', 'teams']),
    eventTypes: p.array<string>().columnType('text[]').nullable(),
    dueAt: p.datetime().nullable(),
    busyUntil: p.datetime(),
    failingSince: p.datetime().nullable(),
    disabledAt: p.datetime().nullable(),
    disabledReason: p.enum(['by_user', 'failed_for_three_days', 'gone']).nullable(),
    previousSecretExpiresAt: p.datetime().nullable(),
    createdAt: p.datetime(),
    updatedAt: p.datetime(),
  },
});

export const WebhookMessage = defineEntity({
  name: 'WebhookMessage',
  tableName: 'webhook_messages',
  properties: {
    id: p.uuid().primary(),
    accountId: p.uuid().nullable(),
    endpointId: p.uuid().nullable(),
    type: p.text(),
    data: p.json<unknown>(),
    dedupeKey: p.text().nullable().unique(),
    createdAt: p.datetime().defaultRaw('now()'),
    sequence: p.bigint('bigint').nullable().unique(),
  },
});

export const WebhookDeliveryEntity = defineEntity({
  name: 'WebhookDelivery',
  tableName: 'webhook_deliveries',
  uniques: [{ properties: ['endpointId', 'messageId'] }],
  properties: {
    id: p.uuid().primary(),
    endpointId: p.uuid(),
    messageId: p.uuid(),
    status: p.enum(['pending', 'delivered', 'failed']),
    failures: p.integer(),
    queuedAt: p.datetime(),
    dueAt: p.datetime(),
    attempts: p.json<WebhookAttempt[]>(),
    createdAt: p.datetime(),
  },
});
