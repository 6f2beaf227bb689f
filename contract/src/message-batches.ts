import { initContract } from '@ts-rest/core';
import * as z from 'zod';
import { binary, headersA, idempotencyHeader, isPlainText, NOT_PLAIN, wholeNumber } from './conventions.ts';
import { anthropicRefusals } from './inference/anthropic-error.ts';
import { inferenceHeaders } from './inference/headers.ts';
import { anthropicHeaders } from './inference/messages.ts';
import { anyJson } from './inference/model-fields.ts';

const c = initContract();

const BATCH_ID = 'msgbatch_019aa2f1c2d37b6e8c4d1f00aa55ee77';
const REQUEST = {
  custom_id: 'greeting-1',
  params: { model: 'claude-sonnet-4-6', max_tokens: 256, messages: [{ role: 'user', content: 'Say hello.' }] },
};

export const CreateMessageBatchRequest = z
  .strictObject({
    requests: z
      .array(
        z.strictObject({
          custom_id: z.string().min(1).max(64).refine(isPlainText, NOT_PLAIN),
          params: z.record(z.string(), anyJson('A request of `POST /v1/messages`, without `stream`.')),
        }),
      )
      .min(1)
      .max(50_000)
      .meta({ description: 'The requests, each with a unique `custom_id`.' }),
  })
  .meta({
    id: 'CreateMessageBatchRequest',
    description: 'Many messages, to be answered within a day at half the price.',
    examples: [{ requests: [REQUEST] }],
  });
export type CreateMessageBatchRequest = z.infer<typeof CreateMessageBatchRequest>;

const moment = (description: string) =>
  z.iso
    .datetime()
    .nullable()
    .meta({ description, examples: ['2026-11-21T08:00:00.000Z'] });
const count = (description: string) => z.int().meta({ description, examples: [0] });

export const MessageBatch = z
  .object({
    id: z.string().meta({ examples: [BATCH_ID] }),
    type: z.literal('message_batch'),
    processing_status: z.enum(['in_progress', 'canceling', 'ended']),
    request_counts: z.object({
      processing: count('Not done yet.'),
      succeeded: count('Answered.'),
      errored: count('Refused, or failed.'),
      canceled: count('Not begun before the batch was canceled.'),
      expired: count('Not begun within the day.'),
    }),
    created_at: z.iso.datetime().meta({ examples: ['2026-11-21T08:00:00.000Z'] }),
    expires_at: z.iso.datetime().meta({ examples: ['2026-11-22T08:00:00.000Z'] }),
    ended_at: moment('When all requests were done; null before.'),
    cancel_initiated_at: moment('When it was asked to end, or null.'),
    archived_at: z.null(),
    results_url: z
      .url()
      .nullable()
      .meta({ description: 'Where the results are; null before the batch has ended.', examples: [null] }),
  })
  .meta({ id: 'MessageBatch', description: 'A batch of messages, in Anthropic’s shape.' });
export type MessageBatch = z.infer<typeof MessageBatch>;

export const MessageBatchList = z
  .object({
    data: z.array(MessageBatch),
    has_more: z.boolean(),
    first_id: z
      .string()
      .nullable()
      .meta({ examples: [BATCH_ID] }),
    last_id: z
      .string()
      .nullable()
      .meta({ description: 'The `after_id` of the next page.', examples: [BATCH_ID] }),
  })
  .meta({ id: 'MessageBatchList', description: 'A page of batches of messages.' });
export type MessageBatchList = z.infer<typeof MessageBatchList>;

export const MessageBatchDeleted = z
  .object({ id: z.string().meta({ examples: [BATCH_ID] }), type: z.literal('message_batch_deleted') })
  .meta({ id: 'MessageBatchDeleted', description: 'The batch and its results are gone.' });
export type MessageBatchDeleted = z.infer<typeof MessageBatchDeleted>;

const batchId = (description: string) =>
  z
    .string()
    .regex(/^msgbatch_[0-9a-f]{32}$/, 'must be the id of a batch of this list')
    .optional()
    .meta({ description });
const BatchPath = z.object({ message_batch_id: z.string().min(1).max(128).meta({ description: 'The batch’s id.' }) });
const headers = { ...headersA, ...anthropicHeaders };
const metadata = { auth: 'bearer', scope: 'inference', tag: 'Batches', surface: 'anthropic' } as const;

/** Batches of messages, as Anthropic's clients ask for them: other names for the batches whose lines ask for `/v1/messages`. */
export const messageBatches = c.router({
  create: {
    method: 'POST',
    path: '/v1/messages/batches',
    summary: 'Create a batch of messages',
    description:
      'The worst case of all requests is held first, at half the price: a batch that does not fit is refused with 402. Batches that are larger than a request may be are files of lines: see `POST /v1/batches`.',
    headers: {
      ...headers,
      ...idempotencyHeader,
      'x-agent-run-id': inferenceHeaders['x-agent-run-id'],
      'x-agent-max-budget': inferenceHeaders['x-agent-max-budget'],
      'x-agent-parent-run-id': inferenceHeaders['x-agent-parent-run-id'],
      'x-agent-max-calls': inferenceHeaders['x-agent-max-calls'],
      'x-agent-deadline': inferenceHeaders['x-agent-deadline'],
      'x-vaas-anchor': inferenceHeaders['x-vaas-anchor'],
    },
    body: CreateMessageBatchRequest,
    responses: { 200: MessageBatch, ...anthropicRefusals },
    metadata: {
      ...metadata,
      stores: true,
      body: 'inference',
      operationId: 'createMessageBatch',
      errors: { also: ['storage_limit_reached'], never: ['conflict'] },
    } as const,
  },
  list: {
    method: 'GET',
    path: '/v1/messages/batches',
    summary: 'List batches of messages',
    description: 'The account’s batches of messages, newest first: with a key those of its mode.',
    headers,
    query: z.object({
      after_id: batchId('The last batch of the page before.'),
      before_id: batchId('The first batch of the page behind.'),
      limit: wholeNumber(1, 1_000).default(20).meta({ description: 'How many at most.' }),
    }),
    responses: { 200: MessageBatchList, ...anthropicRefusals },
    metadata: { ...metadata, operationId: 'listMessageBatches' } as const,
  },
  get: {
    method: 'GET',
    path: '/v1/messages/batches/:message_batch_id',
    summary: 'Get a batch of messages',
    description: 'How far it is, and where its results are.',
    headers,
    pathParams: BatchPath,
    responses: { 200: MessageBatch, ...anthropicRefusals },
    metadata: { ...metadata, operationId: 'getMessageBatch' } as const,
  },
  cancel: {
    method: 'POST',
    path: '/v1/messages/batches/:message_batch_id/cancel',
    summary: 'Cancel a batch of messages',
    description: 'No further request begins, the running ones end, and what is answered is among the results.',
    headers,
    pathParams: BatchPath,
    body: c.noBody(),
    responses: { 200: MessageBatch, ...anthropicRefusals },
    metadata: { ...metadata, operationId: 'cancelMessageBatch', errors: { also: ['conflict'] } } as const,
  },
  delete: {
    method: 'DELETE',
    path: '/v1/messages/batches/:message_batch_id',
    summary: 'Delete a batch of messages',
    description: 'A batch that has ended, with its requests and its results. Usage and receipts stay.',
    headers,
    pathParams: BatchPath,
    responses: { 200: MessageBatchDeleted, ...anthropicRefusals },
    metadata: { ...metadata, operationId: 'deleteMessageBatch', errors: { also: ['conflict'] } } as const,
  },
});

const results = c.otherResponse({ contentType: 'application/x-jsonl', body: binary('One JSON object a line: `custom_id` and `result`.') });

/** What passes as it comes. */
export const messageBatchTransfers = c.router({
  results: {
    method: 'GET',
    path: '/v1/messages/batches/:message_batch_id/results',
    summary: 'Get the results of a batch of messages',
    description:
      'One JSON object a line, in any order: the `custom_id`, and a `result` of the type `succeeded`, `errored`, `canceled` or `expired`.',
    headers,
    pathParams: BatchPath,
    responses: { 200: results, ...anthropicRefusals },
    metadata: { ...metadata, operationId: 'getMessageBatchResults', errors: { also: ['storage_unavailable', 'conflict'] } } as const,
  },
});
