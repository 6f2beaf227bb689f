import { initContract } from '@ts-rest/core';
import * as z from 'zod';
import { headersA, problem, refusals, wholeNumber } from '../conventions.ts';
import { anyJson } from './model-fields.ts';
import { cursorPage, cursorQuery, includeQuery, objectId } from './openai-lists.ts';
import { ResponseItem, ResponseObject, ResponseStreamEvent } from './responses.ts';

const c = initContract();

export const ResponseDeleted = z
  .object({
    id: z.string().meta({ examples: ['resp_019aa2f1c2d37b6e8c4d1f00aa55ee77'] }),
    object: z.literal('response'),
    deleted: z.literal(true),
  })
  .meta({ id: 'ResponseDeleted', description: 'The response is gone.' });
export type ResponseDeleted = z.infer<typeof ResponseDeleted>;

export const ResponseItemList = cursorPage(ResponseItem).meta({ id: 'ResponseItemList', description: 'A page of items, each with an id.' });
export type ResponseItemList = z.infer<typeof ResponseItemList>;

export const InputTokensRequest = z
  .looseObject({
    model: z
      .string()
      .min(1)
      .max(200)
      .default('gpt-4o-mini')
      .meta({ description: 'A model of the catalogue, whose tokenizer counts.', examples: ['gpt-4o-mini'] }),
    input: z.union([z.string(), z.array(ResponseItem), z.null()], 'must be a string or a list of items').optional(),
    instructions: z.string().nullable().optional(),
    previous_response_id: z.string().max(200).nullable().optional(),
    conversation: z.union([z.string().max(200), z.looseObject({ id: z.string().max(200) }), z.null()]).optional(),
    tools: z
      .array(z.looseObject({ type: z.string() }))
      .max(512)
      .nullable()
      .optional(),
    tool_choice: anyJson('Counts for nothing.').optional(),
    text: z.looseObject({}).nullable().optional(),
  })
  .meta({
    id: 'InputTokensRequest',
    description: 'A response’s input, to be counted.',
    examples: [{ model: 'gpt-4o-mini', input: 'Say hello.' }],
  });
export type InputTokensRequest = z.infer<typeof InputTokensRequest>;

export const InputTokens = z
  .object({ object: z.literal('response.input_tokens'), input_tokens: z.int().meta({ examples: [11] }) })
  .meta({ id: 'InputTokens', description: 'How many tokens an input has.' });
export type InputTokens = z.infer<typeof InputTokens>;

const ResponsePath = z.object({ response_id: objectId('The response’s id.') });
const metadata = { auth: 'bearer', scope: 'inference', tag: 'Responses' } as const;

/** What is done with responses that are kept. None of it spends. */
export const storedResponses = c.router({
  get: {
    method: 'GET',
    path: '/v1/responses/:response_id',
    summary: 'Get a response',
    description:
      'A response that is kept, as it stands. With `stream=true` its events, from the first or from behind `starting_after`: of a response that still runs in the background they go on as they come. One that has completed in the background has its `X-Receipt-Promise`.',
    headers: headersA,
    pathParams: ResponsePath,
    query: z.object({
      ...includeQuery,
      stream: z.enum(['true', 'false']).optional().meta({ description: 'Answer as server-sent events.' }),
      starting_after: wholeNumber(-1, 1_000_000_000)
        .optional()
        .meta({ description: 'The `sequence_number` of the last event that has arrived.' }),
      include_obfuscation: z.string().max(8).optional().meta({ description: 'Taken, and of no effect: nothing is padded.' }),
    }),
    responses: { 200: ResponseObject, 404: problem, ...refusals.read },
    metadata: { ...metadata, operationId: 'getResponse', events: ResponseStreamEvent } as const,
  },
  delete: {
    method: 'DELETE',
    path: '/v1/responses/:response_id',
    summary: 'Delete a response',
    description: 'It can be neither read nor gone on from any more. One that still runs in the background is stopped.',
    headers: headersA,
    pathParams: ResponsePath,
    responses: { 200: ResponseDeleted, 404: problem, ...refusals.read },
    metadata: { ...metadata, operationId: 'deleteResponse', sdk: 'responses.delete' } as const,
  },
  cancel: {
    method: 'POST',
    path: '/v1/responses/:response_id/cancel',
    summary: 'Cancel a background response',
    description:
      'The provider is told to stop within a second; what was generated until then is charged. Cancelling one that has ended changes nothing and shows it.',
    headers: headersA,
    pathParams: ResponsePath,
    body: c.noBody(),
    responses: { 200: ResponseObject, 404: problem, 409: problem, ...refusals.read },
    metadata: { ...metadata, operationId: 'cancelResponse', sdk: 'responses.cancel' } as const,
  },
  inputItems: {
    method: 'GET',
    path: '/v1/responses/:response_id/input_items',
    summary: 'List the input of a response',
    description: 'What was new in its request, newest first; what went before is in the responses before it.',
    headers: headersA,
    pathParams: ResponsePath,
    query: z.object({ ...cursorQuery('desc'), ...includeQuery }),
    responses: { 200: ResponseItemList, 404: problem, ...refusals.read },
    metadata: { ...metadata, operationId: 'listResponseInputItems' } as const,
  },
  countTokens: {
    method: 'POST',
    path: '/v1/responses/input_tokens',
    summary: 'Count the tokens of an input',
    description:
      'Counted here, with the model’s published tokenizer where it has one and OpenAI’s otherwise; no provider is called and nothing is charged. It is one of the requests that the key may make per minute. Images count as the most that the catalogue allows one.',
    headers: headersA,
    body: InputTokensRequest,
    responses: { 200: InputTokens, 404: problem, 409: problem, ...refusals.write },
    metadata: { ...metadata, operationId: 'countResponseInputTokens', errors: { also: ['model_not_found'] }, body: 'inference' } as const,
  },
});
