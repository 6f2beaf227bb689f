import { initContract } from '@ts-rest/core';
import * as z from 'zod';
import { headersA, problem, refusals } from '../conventions.ts';
import { ChatCompletion } from './chat.ts';
import { cursorPage, cursorQuery, Metadata, objectId } from './openai-lists.ts';

const c = initContract();

export const ChatCompletionList = cursorPage(ChatCompletion).meta({
  id: 'ChatCompletionList',
  description: 'A page of stored chat completions.',
});
export type ChatCompletionList = z.infer<typeof ChatCompletionList>;

export const ChatCompletionMessage = z
  .looseObject({
    id: z.string().meta({ examples: ['chatcmpl-9f2c-0'] }),
    role: z.string().meta({ examples: ['user'] }),
    content: z
      .string()
      .nullable()
      .meta({ examples: ['Say hello.'] }),
    content_parts: z
      .array(z.looseObject({ type: z.string() }))
      .nullable()
      .optional()
      .meta({ description: 'Where the content was given in parts: those of text and image.' }),
  })
  .meta({ id: 'ChatCompletionMessage', description: 'A message that a stored chat completion answers.' });
export type ChatCompletionMessage = z.infer<typeof ChatCompletionMessage>;

export const ChatCompletionMessageList = cursorPage(ChatCompletionMessage).meta({
  id: 'ChatCompletionMessageList',
  description: 'A page of messages.',
});
export type ChatCompletionMessageList = z.infer<typeof ChatCompletionMessageList>;

export const UpdateChatCompletionRequest = z.strictObject({ metadata: Metadata.nullable() }).meta({
  id: 'UpdateChatCompletionRequest',
  description: 'The metadata that takes the place of the old.',
  examples: [{ metadata: { topic: 'demo' } }],
});
export type UpdateChatCompletionRequest = z.infer<typeof UpdateChatCompletionRequest>;

export const ChatCompletionDeleted = z
  .object({ id: z.string().meta({ examples: ['chatcmpl-9f2c'] }), object: z.literal('chat.completion.deleted'), deleted: z.literal(true) })
  .meta({ id: 'ChatCompletionDeleted', description: 'The completion is gone.' });
export type ChatCompletionDeleted = z.infer<typeof ChatCompletionDeleted>;

const CompletionPath = z.object({ completion_id: objectId('The completion’s id.') });
const metadata = { auth: 'bearer', scope: 'inference', tag: 'Inference' } as const;

/** Chat completions that were made with `store: true`. */
export const storedChats = c.router({
  list: {
    method: 'GET',
    path: '/v1/chat/completions',
    summary: 'List stored chat completions',
    description: 'Those made with `store: true` in the last 30 days, oldest first. `metadata[key]=value` keeps those that have the pair.',
    headers: headersA,
    query: z.looseObject({
      ...cursorQuery('asc'),
      model: z.string().max(200).optional().meta({ description: 'Only those that this model gave.' }),
    }),
    responses: { 200: ChatCompletionList, 404: problem, ...refusals.read },
    metadata: { ...metadata, operationId: 'listChatCompletions' } as const,
  },
  get: {
    method: 'GET',
    path: '/v1/chat/completions/:completion_id',
    summary: 'Get a stored chat completion',
    description: 'One that was made with `store: true` in the last 30 days.',
    headers: headersA,
    pathParams: CompletionPath,
    responses: { 200: ChatCompletion, 404: problem, ...refusals.read },
    metadata: { ...metadata, operationId: 'getChatCompletion', sdk: 'chat.completions.get' } as const,
  },
  update: {
    method: 'POST',
    path: '/v1/chat/completions/:completion_id',
    summary: 'Update a stored chat completion',
    description: 'Its metadata, all of it; nothing else can be changed.',
    headers: headersA,
    pathParams: CompletionPath,
    body: UpdateChatCompletionRequest,
    responses: { 200: ChatCompletion, 404: problem, ...refusals.write },
    metadata: { ...metadata, operationId: 'updateChatCompletion', sdk: 'chat.completions.update' } as const,
  },
  delete: {
    method: 'DELETE',
    path: '/v1/chat/completions/:completion_id',
    summary: 'Delete a stored chat completion',
    description: 'With the messages it answers, permanently.',
    headers: headersA,
    pathParams: CompletionPath,
    responses: { 200: ChatCompletionDeleted, 404: problem, ...refusals.read },
    metadata: { ...metadata, operationId: 'deleteChatCompletion', sdk: 'chat.completions.delete' } as const,
  },
  messages: {
    method: 'GET',
    path: '/v1/chat/completions/:completion_id/messages',
    summary: 'List the messages of a stored chat completion',
    description: 'What it answers, in order.',
    headers: headersA,
    pathParams: CompletionPath,
    query: z.object(cursorQuery('asc')),
    responses: { 200: ChatCompletionMessageList, 404: problem, ...refusals.read },
    metadata: { ...metadata, operationId: 'listChatCompletionMessages', sdk: 'chat.completions.messages' } as const,
  },
});
