import { defineEntity, p } from '@mikro-orm/core';
import type { ResponseItem } from '@tallygate/contract';

type Json = Readonly<Record<string, unknown>>;
/** Sealed, it is a string. */
type Sealed<Value> = Value | string;

export const ConversationItem = defineEntity({
  name: 'ConversationItem',
  tableName: 'conversation_items',
  properties: {
    conversationId: p.text().primary(),
    id: p.text().primary(),
    position: p.bigint('bigint').columnType('bigint').generated('identity').autoincrement(),
    item: p.json<Sealed<ResponseItem>>().columnType('json'),
  },
});

export const Conversation = defineEntity({
  name: 'Conversation',
  tableName: 'conversations',
  properties: {
    id: p.text().primary(),
    accountId: p.uuid(),
    livemode: p.boolean(),
    metadata: p.json<Readonly<Record<string, string>>>().columnType('json'),
    createdAt: p.datetime(),
  },
});

export const StoredChatCompletion = defineEntity({
  name: 'StoredChatCompletion',
  tableName: 'stored_chat_completions',
  properties: {
    id: p.text().primary(),
    accountId: p.uuid().primary(),
    livemode: p.boolean().primary(),
    model: p.text(),
    metadata: p.json<Readonly<Record<string, string>>>(),
    completion: p.json<Sealed<Json>>().columnType('json'),
    messages: p.json<Sealed<Json[]>>().columnType('json'),
    createdAt: p.datetime(),
    expiresAt: p.datetime(),
  },
});

export const StoredResponseEvent = defineEntity({
  name: 'StoredResponseEvent',
  tableName: 'stored_response_events',
  properties: {
    responseId: p.text().primary(),
    sequence: p.integer().primary(),
    run: p.integer(),
    event: p.json<Sealed<Json>>().columnType('json'),
  },
});

export const StoredResponseItem = defineEntity({
  name: 'StoredResponseItem',
  tableName: 'stored_response_items',
  properties: {
    accountId: p.uuid().primary(),
    livemode: p.boolean().primary(),
    itemId: p.text().primary(),
    responseId: p.text().primary(),
  },
});

export const StoredResponseStream = defineEntity({
  name: 'StoredResponseStream',
  tableName: 'stored_response_streams',
  properties: {
    responseId: p.text().primary(),
    events: p.blob().$type<Buffer>(),
  },
});

export const CachedAnswer = defineEntity({
  name: 'CachedAnswer',
  tableName: 'cached_answers',
  properties: {
    accountId: p.uuid().primary(),
    caller: p.uuid().primary(),
    digest: p.blob().$type<Buffer>().primary(),
    model: p.text(),
    provider: p.text(),
    contentType: p.text(),
    answer: p.blob().$type<Buffer>(),
    bytes: p.integer(),
    keptAt: p.datetime(),
    expiresAt: p.datetime(),
  },
});

export const DeploymentSetAside = defineEntity({
  name: 'DeploymentSetAside',
  tableName: 'deployments_set_aside',
  properties: {
    name: p.text().primary(),
    setAsideAt: p.datetime(),
  },
});

export const StoredResponse = defineEntity({
  name: 'StoredResponse',
  tableName: 'stored_responses',
  properties: {
    id: p.text().primary(),
    accountId: p.uuid(),
    livemode: p.boolean(),
    keyId: p.uuid().nullable(),
    previousResponseId: p.text().nullable(),
    conversationId: p.text().nullable(),
    status: p.enum(['queued', 'in_progress', 'completed', 'incomplete', 'failed', 'cancelled']),
    input: p.json<Sealed<ResponseItem[]>>().columnType('json'),
    response: p.json<Sealed<Json>>().columnType('json'),
    request: p.json<Sealed<Json>>().columnType('json').nullable(),
    createdAt: p.datetime(),
    expiresAt: p.datetime(),
    run: p.integer().defaultRaw('0'),
    leaseUntil: p.datetime().nullable(),
    outcome: p.json<Sealed<Json>>().columnType('json').nullable(),
    receiptPromise: p.text().nullable(),
  },
});
