import { initContract } from '@ts-rest/core';
import * as z from 'zod';
import { headersA, idempotencyHeader } from '../conventions.ts';
import { inferenceHeaders, inferenceRefusals } from './headers.ts';
import { anyJson, costField, fallbackModels, isNamed, modelField, streamField, userField } from './model-fields.ts';
import { Includable, Metadata } from './openai-lists.ts';
import { providerField } from './provider-preference.ts';

const c = initContract();

/** An item of the input or the output. Which types there are is the provider's business, and grows. */
export const ResponseItem = z
  .looseObject({ type: z.string().optional(), id: z.string().nullable().optional(), role: z.string().optional() })
  .meta({
    id: 'ResponseItem',
    description: 'A message, a call, a call’s output, a reasoning item …',
    examples: [{ role: 'user', content: 'Say hello.' }],
  });
export type ResponseItem = z.infer<typeof ResponseItem>;

export const ResponseRequest = z
  .looseObject({
    model: modelField('gpt-4o-mini'),
    models: fallbackModels,
    provider: providerField,
    input: z
      .union([z.string(), z.array(ResponseItem)], 'must be a string or a list of items')
      .nullable()
      .optional()
      .meta({ examples: ['Say hello.'] }),
    instructions: z.string().nullable().optional(),
    previous_response_id: z.string().max(200).nullable().optional(),
    conversation: z.union([z.string().max(200), z.looseObject({ id: z.string().max(200) }), z.null()]).optional(),
    store: z.boolean().nullable().optional().meta({ description: 'Keep the response for 30 days. Default: true.' }),
    background: z.boolean().nullable().optional(),
    stream: streamField,
    stream_options: z.looseObject({ include_obfuscation: z.boolean().nullable().optional() }).nullable().optional(),
    max_output_tokens: z
      .int()
      .min(16)
      .max(2_147_483_647)
      .nullable()
      .optional()
      .meta({ examples: [256] }),
    max_tool_calls: z.int().min(0).nullable().optional(),
    temperature: z.number().min(0).max(2).nullable().optional(),
    top_p: z.number().min(0).max(1).nullable().optional(),
    top_logprobs: z.int().min(0).max(20).nullable().optional(),
    tools: z
      .array(
        z
          .looseObject({ type: z.string() })
          .refine((tool) => isNamed(tool.type, tool), { path: ['name'], message: 'is missing: every tool that can be called has a name' }),
      )
      .max(512)
      .nullable()
      .optional(),
    tool_choice: anyJson('`none`, `auto`, `required` or a named tool.').optional(),
    parallel_tool_calls: z.boolean().nullable().optional(),
    text: z
      .looseObject({
        format: z
          .looseObject({ type: z.enum(['text', 'json_object', 'json_schema']) })
          .nullable()
          .optional(),
        verbosity: z.string().nullable().optional(),
      })
      .nullable()
      .optional(),
    reasoning: z.looseObject({ effort: z.string().nullable().optional(), summary: z.string().nullable().optional() }).nullable().optional(),
    truncation: z.enum(['auto', 'disabled']).nullable().optional(),
    include: z.array(Includable).nullable().optional(),
    metadata: Metadata.nullable().optional(),
    service_tier: z.string().nullable().optional(),
    safety_identifier: z.string().max(512).nullable().optional(),
    prompt_cache_key: z.string().max(512).nullable().optional(),
    user: userField,
  })
  .meta({
    id: 'ResponseRequest',
    description: 'OpenAI’s Responses request. Fields that are not listed here are passed through to the provider.',
    examples: [{ model: 'gpt-4o-mini', input: 'Say hello.' }],
  });
export type ResponseRequest = z.infer<typeof ResponseRequest>;

export const ResponseUsage = z
  .looseObject({
    input_tokens: z.int().meta({ examples: [9] }),
    input_tokens_details: z.looseObject({ cached_tokens: z.int().meta({ examples: [0] }) }),
    output_tokens: z.int().meta({ examples: [12] }),
    output_tokens_details: z.looseObject({ reasoning_tokens: z.int().meta({ examples: [0] }) }),
    total_tokens: z.int().meta({ examples: [21] }),
    cost: costField,
  })
  .meta({ id: 'ResponseUsage', description: 'OpenAI’s usage of a response, with the cost added.' });

const RESPONSE_EXAMPLE = {
  id: 'resp_019aa2f1c2d37b6e8c4d1f00aa55ee77',
  object: 'response' as const,
  created_at: 1763712000,
  status: 'completed',
  error: null,
  incomplete_details: null,
  instructions: null,
  metadata: {},
  model: 'gpt-4o-mini',
  output: [
    {
      id: 'msg_9f2c',
      type: 'message',
      role: 'assistant',
      status: 'completed',
      content: [{ type: 'output_text', text: 'Hello.', annotations: [], logprobs: [] }],
    },
  ],
  parallel_tool_calls: true,
  previous_response_id: null,
  store: true,
  temperature: 1,
  tool_choice: 'auto',
  tools: [],
  top_p: 1,
  usage: {
    input_tokens: 9,
    input_tokens_details: { cached_tokens: 0 },
    output_tokens: 12,
    output_tokens_details: { reasoning_tokens: 0 },
    total_tokens: 21,
    cost: 0.00000855,
  },
};

/** `Response` is what the web calls an HTTP answer, so the schema is named after the object. */
export const ResponseObject = z
  .looseObject({
    id: z.string().meta({ examples: ['resp_019aa2f1c2d37b6e8c4d1f00aa55ee77'] }),
    object: z.literal('response'),
    created_at: z.int().meta({ examples: [1763712000] }),
    status: z.enum(['completed', 'failed', 'in_progress', 'cancelled', 'queued', 'incomplete']),
    error: z.looseObject({ code: z.string(), message: z.string() }).nullable(),
    incomplete_details: z.looseObject({ reason: z.string().optional() }).nullable(),
    instructions: z.union([z.string(), z.array(ResponseItem), z.null()]),
    metadata: z.record(z.string(), z.string()).nullable(),
    model: z.string().meta({ examples: ['gpt-4o-mini'] }),
    output: z.array(ResponseItem),
    parallel_tool_calls: z.boolean(),
    previous_response_id: z.string().nullable().optional(),
    temperature: z.number().nullable(),
    tool_choice: anyJson('`none`, `auto`, `required` or a named tool.'),
    tools: z.array(z.looseObject({ type: z.string() })),
    top_p: z.number().nullable(),
    usage: ResponseUsage.nullable().optional(),
  })
  .meta({ id: 'ResponseObject', description: 'OpenAI’s response.', examples: [RESPONSE_EXAMPLE] });
export type ResponseObject = z.infer<typeof ResponseObject>;

export const ResponseStreamEvent = z
  .looseObject({
    type: z.string().meta({ examples: ['response.output_text.delta'] }),
    sequence_number: z.int().meta({ description: 'From 0, without gaps.', examples: [4] }),
  })
  .meta({
    id: 'ResponseStreamEvent',
    description: 'One event of a streamed response.',
    examples: [
      {
        type: 'response.output_text.delta',
        sequence_number: 4,
        item_id: 'msg_9f2c',
        output_index: 0,
        content_index: 0,
        delta: 'Hello',
        logprobs: [],
      },
    ],
  });
export type ResponseStreamEvent = z.infer<typeof ResponseStreamEvent>;

const ofTheResponse = anyJson('Taken from clients that send the whole request of a response; the summary is made without it.').optional();

export const CompactRequest = z
  .strictObject({
    model: modelField('gpt-4o-mini'),
    models: fallbackModels,
    input: z.union([z.string(), z.array(ResponseItem), z.null()], 'must be a string or a list of items').optional(),
    instructions: z.string().nullable().optional(),
    previous_response_id: z.string().max(200).nullable().optional(),
    prompt_cache_key: z.string().max(512).nullable().optional(),
    ...{ tools: ofTheResponse, tool_choice: ofTheResponse, parallel_tool_calls: ofTheResponse, reasoning: ofTheResponse },
    ...{ text: ofTheResponse, service_tier: ofTheResponse },
    ...{ prompt_cache_options: ofTheResponse, prompt_cache_retention: ofTheResponse },
  })
  .meta({
    id: 'CompactRequest',
    description: 'A dialogue that has become long.',
    examples: [{ model: 'gpt-4o-mini', input: [{ role: 'user', content: 'Say hello.' }] }],
  });
export type CompactRequest = z.infer<typeof CompactRequest>;

export const CompactedResponse = z
  .object({
    id: z.string().meta({ examples: ['resp_019aa2f1c2d37b6e8c4d1f00aa55ee77'] }),
    object: z.literal('response.compaction'),
    created_at: z.int().meta({ examples: [1763712000] }),
    output: z.array(ResponseItem),
    usage: ResponseUsage,
  })
  .meta({
    id: 'CompactedResponse',
    description: 'The user’s messages, and one item in place of everything else: the input of the next response.',
  });
export type CompactedResponse = z.infer<typeof CompactedResponse>;

export const responses = c.router({
  compactResponse: {
    method: 'POST',
    path: '/v1/responses/compact',
    summary: 'Compact a dialogue',
    description:
      'The model writes down what a long dialogue has come to. The answer is the input of the next response: the user’s messages as they were, and one `compaction` item with the summary. Charged as a response.',
    headers: { ...headersA, ...inferenceHeaders, ...idempotencyHeader },
    body: CompactRequest,
    responses: { 200: CompactedResponse, ...inferenceRefusals },
    metadata: { auth: 'bearer', scope: 'inference', tag: 'Responses', operationId: 'compactResponse' } as const,
  },
  createResponse: {
    method: 'POST',
    path: '/v1/responses',
    summary: 'Create a response',
    description:
      'OpenAI’s Responses: text, tools and structured output, plain, streamed or in the background. Works with every chat model of the catalogue; where the provider has chat completions only, the request is translated.',
    headers: { ...headersA, ...inferenceHeaders, ...idempotencyHeader },
    body: ResponseRequest,
    responses: { 200: ResponseObject, ...inferenceRefusals },
    metadata: {
      auth: 'bearer',
      scope: 'inference',
      tag: 'Responses',
      operationId: 'createResponse',
      events: ResponseStreamEvent,
      errors: { also: ['storing_off'] },
    } as const,
  },
});
