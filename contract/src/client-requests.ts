import { initContract } from '@ts-rest/core';
import * as z from 'zod';
import {
  headersA,
  idempotencyHeader,
  isPlainText,
  MarketingConsentTick,
  NOT_PLAIN,
  page,
  pageQuery,
  problem,
  refusals,
  Timestamp,
  Uuid,
} from './conventions.ts';
import { Email, UserName } from './identity.ts';

const c = initContract();

export const ClientRequestType = z
  .enum(['sales', 'enterprise', 'support', 'partnership', 'press', 'other'])
  .meta({ id: 'ClientRequestType', description: 'What a request is about.' });
export type ClientRequestType = z.infer<typeof ClientRequestType>;

export const ClientRequestStatus = z
  .enum(['new', 'in_progress', 'waiting', 'done', 'declined'])
  .meta({ id: 'ClientRequestStatus', description: 'The status of a request; `waiting` is for an answer of the client.' });
export type ClientRequestStatus = z.infer<typeof ClientRequestStatus>;

const ClientType = z
  .enum(['individual', 'startup', 'business', 'enterprise'])
  .meta({ description: 'The kind of client.', examples: ['startup'] });

const line = (max: number) => z.string().trim().min(1).max(max).refine(isPlainText, NOT_PLAIN);

/** Line breaks and tabs belong to a message; no other control character does. */
const text = (max: number) =>
  z
    .string()
    .trim()
    .min(1)
    .max(max)
    .refine((value) => isPlainText(value.replaceAll(/[\n\r\t]/g, '')), NOT_PLAIN);

const Company = line(120).meta({ description: 'Their company.', examples: ['Analytical Engines Ltd'] });
const Message = text(5_000).meta({
  description: 'Plain text; markup is shown literally.',
  examples: ['We would like 40 seats.'],
});

export const ClientRequestCreateRequest = z
  .strictObject({
    type: ClientRequestType,
    name: UserName,
    email: Email,
    company: Company.optional(),
    client_type: ClientType.optional(),
    message: Message,
    marketing_consent: MarketingConsentTick,
  })
  .meta({
    id: 'ClientRequestCreateRequest',
    description: 'A request to the team.',
    examples: [{ type: 'sales', name: 'Ada Lovelace', email: 'ada@example.com', message: 'We would like 40 seats.' }],
  });
export type ClientRequestCreateRequest = z.infer<typeof ClientRequestCreateRequest>;

export const ClientRequestReceivedResponse = z
  .object({
    request_id: Uuid.meta({ description: 'Reference of the request.' }),
    type: ClientRequestType,
    received_at: Timestamp,
  })
  .meta({
    id: 'ClientRequestReceivedResponse',
    description: 'The request was received.',
    examples: [{ request_id: '019aa2f1-c2d3-7b6e-8c4d-1f00aa55ee77', type: 'sales', received_at: '2026-11-21T08:00:00.000Z' }],
  });
export type ClientRequestReceivedResponse = z.infer<typeof ClientRequestReceivedResponse>;

const Actor = z.object({
  kind: z.enum(['user', 'key', 'management_key']).meta({ description: 'Who did it.' }),
  id: z
    .string()
    .nullable()
    .meta({ description: 'The id of the user or of the API key.', examples: ['019aa2f1-c2d3-7b6e-8c4d-1f00aa55ee77'] }),
});

const Note = text(5_000).meta({ description: 'For the team; the client never sees it.', examples: ['Called back, wants an offer.'] });

const ClientRequestEntry = z
  .object({
    entry_id: Uuid,
    actor: Actor,
    changes: z.record(z.string(), z.unknown().meta({ description: 'Any JSON.' })).meta({
      description: 'Each changed field with its old and new value; empty for a note.',
      examples: [{ status: { from: 'new', to: 'in_progress' } }],
    }),
    note: Note.nullable(),
    created_at: Timestamp,
  })
  .meta({ id: 'ClientRequestEntry', description: 'One change, or one note.' });

export const MarketingClientRequestRecord = z
  .object({
    request_id: Uuid,
    type: ClientRequestType,
    status: ClientRequestStatus,
    name: UserName,
    email: Email,
    company: Company.nullable(),
    client_type: ClientType.nullable(),
    message: Message,
    owner: Uuid.nullable().meta({ description: 'The user it is assigned to.' }),
    history: z.array(ClientRequestEntry).meta({ description: 'Changes and notes, the newest first.' }),
    created_at: Timestamp,
    updated_at: Timestamp,
    closed_at: Timestamp.nullable().meta({ description: 'When it was done or declined; null while it is open.' }),
  })
  .meta({ id: 'MarketingClientRequestRecord', description: 'A request of a client, as the team sees it.' });
export type MarketingClientRequestRecord = z.infer<typeof MarketingClientRequestRecord>;

export const MarketingClientRequestListResponse = page(MarketingClientRequestRecord).meta({
  id: 'MarketingClientRequestListResponse',
  description: 'Requests of clients, the newest first.',
});
export type MarketingClientRequestListResponse = z.infer<typeof MarketingClientRequestListResponse>;

export const MarketingClientRequestUpdateRequest = z
  .strictObject({
    status: ClientRequestStatus.optional(),
    type: ClientRequestType.optional(),
    owner: Uuid.nullable().optional().meta({ description: 'A user with the role `marketing` or `admin`; null if unassigned.' }),
    note: Note.optional(),
  })
  .refine((changes) => Object.keys(changes).length > 0, 'must change something')
  .meta({
    id: 'MarketingClientRequestUpdateRequest',
    description: 'What to change, and a note. Fields that are left out stay.',
    examples: [{ status: 'in_progress', note: 'Called back, wants an offer.' }],
  });
export type MarketingClientRequestUpdateRequest = z.infer<typeof MarketingClientRequestUpdateRequest>;

const filter = (description: string, example: string) =>
  z
    .string()
    .max(40)
    .refine(isPlainText, NOT_PLAIN)
    .optional()
    .meta({ description, examples: [example] });
const ClientRequestQuery = z.strictObject({
  status: filter('Only requests in this state.', 'new'),
  type: filter('Only requests of this type.', 'sales'),
  ...pageQuery,
});
export type ClientRequestQuery = z.infer<typeof ClientRequestQuery>;

const team = { auth: 'bearer', role: 'marketing', tag: 'Client requests' } as const;

export const clientRequests = c.router({
  create: {
    method: 'POST',
    path: '/v1/client-requests',
    summary: 'Send a request to the team',
    description:
      'For a contact form: needs no credential. The sender and the team get a mail. Rate-limited for each address: too many are a 429.',
    body: ClientRequestCreateRequest,
    responses: { 201: ClientRequestReceivedResponse, ...refusals.openInput },
    metadata: { auth: 'none', tag: 'Client requests', operationId: 'createClientRequest', sdk: 'clientRequests.create' } as const,
  },
  list: {
    method: 'GET',
    path: '/v1/marketing/client-requests',
    summary: 'List requests of clients',
    description: 'Newest first. An unknown `status` or `type` returns an empty list.',
    headers: headersA,
    query: ClientRequestQuery,
    responses: { 200: MarketingClientRequestListResponse, ...refusals.read },
    metadata: { ...team, scope: 'marketing:read', operationId: 'listClientRequests', sdk: 'clientRequests.list' } as const,
  },
  update: {
    method: 'PATCH',
    path: '/v1/marketing/client-requests/:request_id',
    summary: 'Update a request of a client',
    description:
      'Status, type, owner, a note. An open request (`new`, `in_progress`, `waiting`) may go to any status but back to `new`; one that is closed (`done`, `declined`) can only be reopened, as `in_progress`. Any other step is a 409.',
    headers: { ...headersA, ...idempotencyHeader },
    pathParams: z.object({ request_id: Uuid.meta({ description: 'The request’s id.' }) }),
    body: MarketingClientRequestUpdateRequest,
    responses: { 200: MarketingClientRequestRecord, 404: problem, 409: problem, ...refusals.write },
    metadata: { ...team, scope: 'marketing:write', operationId: 'updateClientRequest', sdk: 'clientRequests.update' } as const,
  },
});
