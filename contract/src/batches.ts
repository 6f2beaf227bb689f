import { initContract } from '@ts-rest/core';
import * as z from 'zod';
import { headersA, idempotencyHeader, isPlainText, LivemodeOfSession, NOT_PLAIN, problem, refusals, wholeNumber } from './conventions.ts';
import { inferenceHeaders } from './inference/headers.ts';

const c = initContract();

/** What the lines of a batch may ask for: every endpoint that answers with JSON as a whole. */
export const BATCH_ENDPOINTS = [
  '/v1/chat/completions',
  '/v1/responses',
  '/v1/messages',
  '/v1/completions',
  '/v1/embeddings',
  '/v1/moderations',
  '/v1/images/generations',
  '/v1/images/edits',
  '/v1/videos',
] as const;
const BatchEndpoint = z.enum(BATCH_ENDPOINTS).meta({ description: 'What all lines ask for.', examples: ['/v1/chat/completions'] });

const BATCH_ID = 'batch_019aa2f1c2d37b6e8c4d1f00aa55ee77';
const FILE_ID = 'file-019aa2f1c2d37b6e8c4d1f00aa55ee77';

const metadata = z
  .record(
    z.string().max(64).refine(isPlainText, NOT_PLAIN),
    z
      .string()
      .max(512)
      .refine((text) => text.isWellFormed() && !text.includes('\0'), NOT_PLAIN),
  )
  .refine((pairs) => Object.keys(pairs).length <= 16, 'must have at most 16 entries')
  .nullable()
  .meta({ description: 'Up to 16 pairs of texts of the caller’s own.', examples: [{ purpose: 'nightly evaluation' }] });

export const CreateBatchRequest = z
  .strictObject({
    input_file_id: z
      .string()
      .min(1)
      .max(128)
      .meta({ description: 'A file with the purpose `batch`: one request a line, up to 50,000 lines and 200 MiB.', examples: [FILE_ID] }),
    endpoint: BatchEndpoint,
    completion_window: z.literal('24h').meta({ description: 'In which the batch is worked on.' }),
    metadata: metadata.optional(),
    output_expires_after: z
      .strictObject({
        anchor: z.literal('created_at').meta({ description: 'From the creation of the file on.' }),
        seconds: z
          .int()
          .min(3_600)
          .max(2_592_000)
          .meta({ description: 'For how long: 3,600 to 2,592,000 seconds.', examples: [86400] }),
      })
      .nullable()
      .optional()
      .meta({ description: 'When output and error file delete themselves. Without it they stay.' }),
  })
  .meta({
    id: 'CreateBatchRequest',
    description: 'Many requests, to be answered within a day at half the price.',
    examples: [{ input_file_id: FILE_ID, endpoint: '/v1/chat/completions', completion_window: '24h' }],
  });
export type CreateBatchRequest = z.infer<typeof CreateBatchRequest>;

const moment = (description: string) =>
  z
    .int()
    .optional()
    .meta({ description: `${description}, unix seconds.`, examples: [1763712000] });
const count = (description: string) => z.int().meta({ description, examples: [100] });

export const BatchError = z
  .object({
    code: z.string().meta({ examples: ['invalid_json_line'] }),
    message: z.string().meta({ examples: ['This line is not valid JSON.'] }),
    param: z
      .string()
      .nullable()
      .meta({ description: 'The field of the line at fault.', examples: ['custom_id'] }),
    line: z
      .int()
      .nullable()
      .meta({ description: 'The line at fault, from 1.', examples: [3] }),
  })
  .meta({ id: 'BatchError', description: 'Why a batch was not begun.' });
export type BatchError = z.infer<typeof BatchError>;

export const BatchUsage = z
  .object({
    input_tokens: count('Tokens in.'),
    input_tokens_details: z.object({ cached_tokens: count('Of them read from a cache.') }),
    output_tokens: count('Tokens out.'),
    output_tokens_details: z.object({ reasoning_tokens: count('Of them spent on reasoning.') }),
    total_tokens: count('Both together.'),
  })
  .meta({ id: 'BatchUsage', description: 'Tokens of all answered lines.' });
export type BatchUsage = z.infer<typeof BatchUsage>;

export const BATCH_STATUSES = [
  'validating',
  'failed',
  'in_progress',
  'finalizing',
  'completed',
  'expired',
  'cancelling',
  'cancelled',
] as const;

export const Batch = z
  .object({
    id: z.string().meta({ examples: [BATCH_ID] }),
    object: z.literal('batch'),
    endpoint: BatchEndpoint,
    model: z
      .string()
      .optional()
      .meta({ description: 'The model of all lines; left out where they ask for several.', examples: ['gpt-4o-mini'] }),
    errors: z
      .object({ object: z.literal('list'), data: z.array(BatchError) })
      .optional()
      .meta({ description: 'Why it failed: nothing of it was run then, and nothing charged.' }),
    input_file_id: z.string().meta({ examples: [FILE_ID] }),
    completion_window: z.string().meta({ examples: ['24h'] }),
    status: z.enum(BATCH_STATUSES),
    output_file_id: z
      .string()
      .optional()
      .meta({ description: 'The answers, one a line; left out where there are none.', examples: [FILE_ID] }),
    error_file_id: z
      .string()
      .optional()
      .meta({ description: 'The lines that failed; left out where none did.', examples: [FILE_ID] }),
    created_at: z.int().meta({ description: 'Unix seconds.', examples: [1763712000] }),
    in_progress_at: moment('When it was valid and its worst case held'),
    expires_at: moment('When lines that are not done expire'),
    finalizing_at: moment('When all lines were done'),
    completed_at: moment('When its files were there'),
    failed_at: moment('When it failed'),
    expired_at: moment('When it ended without being done'),
    cancelling_at: moment('When it was asked to end'),
    cancelled_at: moment('When it had ended'),
    request_counts: z.object({
      total: count('All lines.'),
      completed: count('Lines in the output file.'),
      failed: count('Lines in the error file.'),
    }),
    usage: BatchUsage.optional(),
    metadata,
  })
  .meta({ id: 'Batch', description: 'A batch, in OpenAI’s shape.' });
export type Batch = z.infer<typeof Batch>;

export const BatchList = z
  .object({
    object: z.literal('list'),
    data: z.array(Batch),
    first_id: z.string().meta({ examples: [BATCH_ID] }),
    last_id: z.string().meta({ description: 'The `after` of the next page; empty where the page is.', examples: [BATCH_ID] }),
    has_more: z.boolean(),
  })
  .meta({ id: 'BatchList', description: 'A page of batches.' });
export type BatchList = z.infer<typeof BatchList>;

const BatchPath = z.object({ batch_id: z.string().min(1).max(128).meta({ description: 'The batch’s id.' }) });

export const batches = c.router({
  create: {
    method: 'POST',
    path: '/v1/batches',
    summary: 'Create a batch',
    description:
      'The worst case of all lines is held first, at half the price: a batch that does not fit is refused with 402. Files of up to 2 MiB are checked and held before this answers, larger ones while the batch is `validating`.',
    headers: {
      ...headersA,
      ...idempotencyHeader,
      'x-agent-run-id': inferenceHeaders['x-agent-run-id'],
      'x-agent-max-budget': inferenceHeaders['x-agent-max-budget'],
      'x-agent-parent-run-id': inferenceHeaders['x-agent-parent-run-id'],
      'x-agent-max-calls': inferenceHeaders['x-agent-max-calls'],
      'x-agent-deadline': inferenceHeaders['x-agent-deadline'],
      'x-vaas-anchor': inferenceHeaders['x-vaas-anchor'],
    },
    body: CreateBatchRequest,
    responses: { 200: Batch, 402: problem, 404: problem, 409: problem, ...refusals.write },
    metadata: {
      auth: 'bearer',
      scope: 'inference',
      stores: true,
      tag: 'Batches',
      operationId: 'createBatch',
      tool: 'spend',
      errors: { never: ['conflict'] },
    } as const,
  },
  list: {
    method: 'GET',
    path: '/v1/batches',
    summary: 'List batches',
    description: 'The account’s batches, newest first: with a key those of its mode.',
    headers: headersA,
    query: z.object({
      after: z.string().max(128).refine(isPlainText, NOT_PLAIN).optional().meta({ description: 'The last id of the page before.' }),
      limit: wholeNumber(1, 100).default(20).meta({ description: 'How many.' }),
      livemode: LivemodeOfSession,
    }),
    responses: { 200: BatchList, 404: problem, ...refusals.read },
    metadata: {
      auth: 'bearer',
      scope: 'inference',
      tag: 'Batches',
      operationId: 'listBatches',
      sdk: 'batches.list',
      tool: 'read',
    } as const,
  },
  get: {
    method: 'GET',
    path: '/v1/batches/:batch_id',
    summary: 'Get a batch',
    description: 'How far it is, and where its answers are.',
    headers: headersA,
    pathParams: BatchPath,
    responses: { 200: Batch, 404: problem, ...refusals.read },
    metadata: { auth: 'bearer', scope: 'inference', tag: 'Batches', operationId: 'getBatch', sdk: 'batches.get', tool: 'read' } as const,
  },
  cancel: {
    method: 'POST',
    path: '/v1/batches/:batch_id/cancel',
    summary: 'Cancel a batch',
    description:
      'No further line begins, the running ones end, and what is answered is in the output file. Cancelling it again changes nothing.',
    headers: headersA,
    pathParams: BatchPath,
    body: c.noBody(),
    responses: { 200: Batch, 404: problem, 409: problem, ...refusals.read },
    metadata: {
      auth: 'bearer',
      scope: 'inference',
      tag: 'Batches',
      operationId: 'cancelBatch',
      sdk: 'batches.cancel',
      tool: 'destroy',
    } as const,
  },
});
