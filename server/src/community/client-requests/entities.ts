import { defineEntity, p } from '@mikro-orm/core';
import type { ClientRequestType } from '@tallygate/contract';

export const ClientRequestEntry = defineEntity({
  name: 'ClientRequestEntry',
  tableName: 'client_request_entries',
  properties: {
    entryId: p.uuid().primary(),
    requestId: p.uuid(),
    actorKind: p.text().$type<'user' | 'key' | 'management_key' | 'internal' | 'system'>(),
    actorId: p.text().nullable(),
    changes: p.json<Record<string, unknown>>(),
    note: p.text().nullable(),
    createdAt: p.datetime(),
  },
});

export const ClientRequest = defineEntity({
  name: 'ClientRequest',
  tableName: 'client_requests',
  properties: {
    requestId: p.uuid().primary(),
    type: p.text().$type<ClientRequestType>(),
    status: p.enum(['new', 'in_progress', 'waiting', 'done', 'declined']),
    name: p.text(),
    email: p.text(),
    company: p.text().nullable(),
    clientType: p.text().$type<'individual' | 'startup' | 'business' | 'enterprise'>().nullable(),
    message: p.text(),
    owner: p.uuid().nullable(),
    createdAt: p.datetime(),
    updatedAt: p.datetime(),
    closedAt: p.datetime().nullable(),
    erasedAt: p.datetime().nullable(),
  },
});
