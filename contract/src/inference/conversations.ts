import { initContract } from '@ts-rest/core';
import * as z from 'zod';
import { headersA, idempotencyHeader, problem, refusals } from '../conventions.ts';
import { cursorQuery, includeQuery, Metadata, objectId } from './openai-lists.ts';
import { ResponseItem } from './responses.ts';
import { ResponseItemList } from './stored-responses.ts';

const c = initContract();
const items = z.array(ResponseItem).max(20, 'must have at most 20 items');

export const Conversation = z
  .object({
    id: z.string().meta({ examples: ['conv_019aa2f1c2d37b6e8c4d1f00aa55ee77'] }),
    object: z.literal('conversation'),
    created_at: z.int().meta({ description: 'Unix seconds.', examples: [1763712000] }),
    metadata: z.record(z.string(), z.string()).meta({ examples: [{ topic: 'demo' }] }),
  })
  .meta({ id: 'Conversation', description: 'A conversation, kept until it is deleted.' });
export type Conversation = z.infer<typeof Conversation>;

export const CreateConversationRequest = z
  .strictObject({ items: items.nullable().optional(), metadata: Metadata.nullable().optional() })
  .meta({
    id: 'CreateConversationRequest',
    description: 'A new conversation, with its first items.',
    examples: [{ metadata: { topic: 'demo' } }],
  });
export type CreateConversationRequest = z.infer<typeof CreateConversationRequest>;

export const UpdateConversationRequest = z.strictObject({ metadata: Metadata.nullable() }).meta({
  id: 'UpdateConversationRequest',
  description: 'The metadata that takes the place of the old.',
  examples: [{ metadata: { topic: 'demo' } }],
});
export type UpdateConversationRequest = z.infer<typeof UpdateConversationRequest>;

export const CreateItemsRequest = z.strictObject({ items: items.min(1) }).meta({
  id: 'CreateItemsRequest',
  description: 'Items for the end of a conversation.',
  examples: [{ items: [{ type: 'message', role: 'user', content: [{ type: 'input_text', text: 'Say hello.' }] }] }],
});
export type CreateItemsRequest = z.infer<typeof CreateItemsRequest>;

export const ConversationDeleted = z
  .object({
    id: z.string().meta({ examples: ['conv_019aa2f1c2d37b6e8c4d1f00aa55ee77'] }),
    object: z.literal('conversation.deleted'),
    deleted: z.literal(true),
  })
  .meta({ id: 'ConversationDeleted', description: 'The conversation is gone, its items too.' });
export type ConversationDeleted = z.infer<typeof ConversationDeleted>;

const ConversationPath = z.object({ conversation_id: objectId('The conversation’s id.') });
const ItemPath = ConversationPath.extend({ item_id: objectId('The item’s id.') });
const metadata = { auth: 'bearer', scope: 'inference', tag: 'Conversations' } as const;

export const conversations = c.router({
  create: {
    method: 'POST',
    path: '/v1/conversations',
    summary: 'Create a conversation',
    description: 'Items of a dialogue, kept on the server: responses that name it begin with what it holds and add to it.',
    headers: { ...headersA, ...idempotencyHeader },
    body: CreateConversationRequest.optional(),
    responses: { 200: Conversation, 409: problem, ...refusals.write },
    metadata: { ...metadata, operationId: 'createConversation', errors: { never: ['conflict'] }, stores: true, body: 'inference' } as const,
  },
  get: {
    method: 'GET',
    path: '/v1/conversations/:conversation_id',
    summary: 'Get a conversation',
    description: 'Its metadata; what was said is under `/items`.',
    headers: headersA,
    pathParams: ConversationPath,
    responses: { 200: Conversation, 404: problem, ...refusals.read },
    metadata: { ...metadata, operationId: 'getConversation' } as const,
  },
  update: {
    method: 'POST',
    path: '/v1/conversations/:conversation_id',
    summary: 'Update a conversation',
    description: 'Its metadata, all of it.',
    headers: headersA,
    pathParams: ConversationPath,
    body: UpdateConversationRequest,
    responses: { 200: Conversation, 404: problem, ...refusals.write },
    metadata: { ...metadata, operationId: 'updateConversation' } as const,
  },
  delete: {
    method: 'DELETE',
    path: '/v1/conversations/:conversation_id',
    summary: 'Delete a conversation',
    description: 'With its items, permanently. Responses that were made in it stay.',
    headers: headersA,
    pathParams: ConversationPath,
    responses: { 200: ConversationDeleted, 404: problem, ...refusals.read },
    metadata: { ...metadata, operationId: 'deleteConversation' } as const,
  },
  createItems: {
    method: 'POST',
    path: '/v1/conversations/:conversation_id/items',
    summary: 'Add items to a conversation',
    description: 'At its end, in order, at most 20 at a time.',
    headers: { ...headersA, ...idempotencyHeader },
    pathParams: ConversationPath,
    query: z.object(includeQuery),
    body: CreateItemsRequest,
    responses: { 200: ResponseItemList, 404: problem, 409: problem, ...refusals.write },
    metadata: {
      ...metadata,
      operationId: 'createConversationItems',
      errors: { never: ['conflict'] },
      stores: true,
      body: 'inference',
    } as const,
  },
  listItems: {
    method: 'GET',
    path: '/v1/conversations/:conversation_id/items',
    summary: 'List the items of a conversation',
    description: 'Newest first, unless `order` says otherwise.',
    headers: headersA,
    pathParams: ConversationPath,
    query: z.object({ ...cursorQuery('desc'), ...includeQuery }),
    responses: { 200: ResponseItemList, 404: problem, ...refusals.read },
    metadata: { ...metadata, operationId: 'listConversationItems' } as const,
  },
  getItem: {
    method: 'GET',
    path: '/v1/conversations/:conversation_id/items/:item_id',
    summary: 'Get an item of a conversation',
    description: 'One item, as it was put there.',
    headers: headersA,
    pathParams: ItemPath,
    query: z.object(includeQuery),
    responses: { 200: ResponseItem, 404: problem, ...refusals.read },
    metadata: { ...metadata, operationId: 'getConversationItem' } as const,
  },
  deleteItem: {
    method: 'DELETE',
    path: '/v1/conversations/:conversation_id/items/:item_id',
    summary: 'Delete an item of a conversation',
    description: 'The conversation goes on without it.',
    headers: headersA,
    pathParams: ItemPath,
    responses: { 200: Conversation, 404: problem, ...refusals.read },
    metadata: { ...metadata, operationId: 'deleteConversationItem' } as const,
  },
});
