import { initContract } from '@ts-rest/core';
import * as z from 'zod';
import { headersA, idempotencyHeader } from '../conventions.ts';
import { inferenceHeaders, inferenceRefusals } from './headers.ts';
import { anyJson, costField, fallbackModels, isNamed, modelField, streamField } from './model-fields.ts';
import { providerField } from './provider-preference.ts';

const c = initContract();

const ContentPart = z
  .discriminatedUnion('type', [
    z.looseObject({ type: z.literal('text'), text: z.string() }),
    z.looseObject({ type: z.literal('refusal'), refusal: z.string() }),
    z.looseObject({
      type: z.literal('image_url'),
      image_url: z.looseObject({
        url: z.string().min(1).meta({ description: 'An https URL or a data URL.' }),
        detail: z.enum(['auto', 'low', 'high', 'original']).nullable().optional(),
      }),
    }),
    z.looseObject({ type: z.literal('input_audio'), input_audio: z.looseObject({ data: z.string(), format: z.string() }) }),
    z.looseObject({ type: z.literal('file'), file: z.looseObject({}) }),
    z.looseObject({ type: z.literal('video_url'), video_url: z.looseObject({ url: z.string().min(1) }) }),
  ])
  .meta({ id: 'ChatContentPart', description: 'A part of a message’s content.' });

const ToolCall = z.looseObject({
  id: z.string(),
  type: z.string().meta({ examples: ['function'] }),
  function: z.looseObject({ name: z.string(), arguments: z.string() }).optional(),
});

export const ChatMessage = z
  .looseObject({
    role: z.enum(['developer', 'system', 'user', 'assistant', 'tool', 'function']),
    content: z.union([z.string(), z.array(ContentPart), z.null()], 'must be a string, an array of content parts, or null').optional(),
    name: z.string().nullable().optional(),
    tool_calls: z.array(ToolCall).nullable().optional(),
    tool_call_id: z.string().nullable().optional(),
  })
  .meta({ id: 'ChatMessage', description: 'A message of the conversation.', examples: [{ role: 'user', content: 'Say hello.' }] });

const Tool = z
  .looseObject({
    type: z.string().meta({ examples: ['function'] }),
    function: z
      .looseObject({
        name: z.string().min(1).max(64),
        description: z.string().nullable().optional(),
        parameters: z.record(z.string(), anyJson('JSON Schema.')).nullable().optional(),
        strict: z.boolean().nullable().optional(),
      })
      .optional(),
  })
  .refine((tool) => isNamed(tool.type, tool[tool.type]), {
    path: ['function', 'name'],
    message: 'is missing: every tool that can be called has a name',
  });

const ResponseFormat = z.looseObject({
  type: z.enum(['text', 'json_object', 'json_schema']),
  json_schema: z
    .looseObject({
      name: z.string().min(1).max(64),
      schema: z.record(z.string(), anyJson('JSON Schema.')).nullable().optional(),
      strict: z.boolean().nullable().optional(),
    })
    .optional(),
});

/** Not 0, as at OpenAI: some providers read it as no bound at all. */
const MostTokens = z.int().min(1).max(2_147_483_647);

/** Fields that the gateway acts on or checks. All other fields of the body go to the provider unchanged. */
export const ChatCompletionRequest = z
  .looseObject({
    model: modelField('gpt-4o-mini'),
    models: fallbackModels,
    provider: providerField,
    messages: z.array(ChatMessage).min(1).meta({ description: 'The conversation so far.' }),
    stream: streamField,
    stream_options: z
      .looseObject({ include_usage: z.boolean().nullable().optional(), include_obfuscation: z.boolean().nullable().optional() })
      .nullable()
      .optional()
      .meta({ description: '`include_usage` for a last chunk with tokens and cost.' }),
    max_tokens: MostTokens.nullable()
      .optional()
      .meta({ description: 'Upper bound on tokens out (older name).', examples: [256] }),
    max_completion_tokens: MostTokens.nullable()
      .optional()
      .meta({ description: 'Upper bound on tokens out, reasoning included.', examples: [256] }),
    n: z.int().min(1).max(128).nullable().optional().meta({ description: 'How many choices.' }),
    temperature: z
      .number()
      .min(0)
      .max(2)
      .nullable()
      .optional()
      .meta({ description: 'How freely tokens are drawn: 0 keeps to the likeliest.' }),
    top_p: z
      .number()
      .min(0)
      .max(1)
      .nullable()
      .optional()
      .meta({ description: 'Only the likeliest tokens that together have this probability are drawn from.' }),
    presence_penalty: z
      .number()
      .min(-2)
      .max(2)
      .nullable()
      .optional()
      .meta({ description: 'Above 0, tokens that were used at all become less likely.' }),
    frequency_penalty: z
      .number()
      .min(-2)
      .max(2)
      .nullable()
      .optional()
      .meta({ description: 'Above 0, tokens become less likely the more often they were used.' }),
    stop: z
      .union([z.string(), z.array(z.string()).max(16), z.null()])
      .optional()
      .meta({ description: 'Texts at which the answer ends; they are not part of it.' }),
    seed: z.int().nullable().optional().meta({ description: 'Asks for the same answer to the same request, as far as the provider can.' }),
    logprobs: z.boolean().nullable().optional().meta({ description: 'Whether the answer tells how likely its tokens were.' }),
    top_logprobs: z
      .int()
      .min(0)
      .max(20)
      .nullable()
      .optional()
      .meta({ description: 'So many of the likeliest tokens at each place, with `logprobs`.' }),
    logit_bias: z
      .record(z.string(), z.number())
      .nullable()
      .optional()
      .meta({ description: 'By token id: from -100, never, to 100, always.' }),
    tools: z.array(Tool).max(512).nullable().optional().meta({ description: 'Functions that the model may ask to have called.' }),
    tool_choice: anyJson('`none`, `auto`, `required` or a named tool.').optional(),
    parallel_tool_calls: z.boolean().nullable().optional().meta({ description: 'Whether it may ask for several calls at once.' }),
    response_format: ResponseFormat.nullable().optional().meta({ description: '`json_schema` for an answer that follows a schema.' }),
    reasoning_effort: z
      .string()
      .nullable()
      .optional()
      .meta({ description: 'How long a reasoning model thinks, as its provider names it.', examples: ['low'] }),
    modalities: z.array(z.string()).nullable().optional().meta({ description: 'What the answer is made of: `text`, `audio`.' }),
    metadata: z
      .record(z.string(), z.string())
      .nullable()
      .optional()
      .meta({ description: 'Kept with a completion that is stored, to find it by.' }),
    service_tier: z.string().nullable().optional().meta({ description: 'The provider’s tier of processing.' }),
    user: z.string().nullable().optional().meta({ description: 'An id of your own user, for the provider’s watch on abuse.' }),
  })
  .meta({
    id: 'ChatCompletionRequest',
    description: 'OpenAI’s chat completion request. Fields that are not listed here are passed through to the provider.',
    examples: [{ model: 'gpt-4o-mini', messages: [{ role: 'user', content: 'Say hello.' }] }],
  });
export type ChatCompletionRequest = z.infer<typeof ChatCompletionRequest>;

export const ChatUsage = z
  .looseObject({
    prompt_tokens: z.int().meta({ examples: [9] }),
    completion_tokens: z.int().meta({ examples: [12] }),
    total_tokens: z.int().meta({ examples: [21] }),
    prompt_tokens_details: z.looseObject({ cached_tokens: z.int().optional() }).optional(),
    completion_tokens_details: z.looseObject({ reasoning_tokens: z.int().optional() }).optional(),
    cost: costField,
  })
  .meta({ id: 'ChatUsage', description: 'OpenAI’s usage, with the cost added.' });

export const ChatCompletion = z
  .looseObject({
    id: z.string().meta({ examples: ['chatcmpl-9f2c'] }),
    object: z.literal('chat.completion'),
    created: z.int().meta({ examples: [1763712000] }),
    model: z.string().meta({ examples: ['gpt-4o-mini'] }),
    choices: z.array(
      z.looseObject({
        index: z.int(),
        finish_reason: z.string().meta({ examples: ['stop'] }),
        message: z.looseObject({
          role: z.literal('assistant'),
          content: z
            .string()
            .nullable()
            .meta({ examples: ['Hello.'] }),
          refusal: z.string().nullable().optional(),
          tool_calls: z.array(ToolCall).optional(),
        }),
        logprobs: anyJson('Log probabilities, or null.').optional(),
      }),
    ),
    usage: ChatUsage.optional(),
  })
  .meta({
    id: 'ChatCompletion',
    description: 'OpenAI’s chat completion.',
    examples: [
      {
        id: 'chatcmpl-9f2c',
        object: 'chat.completion',
        created: 1763712000,
        model: 'gpt-4o-mini',
        choices: [{ index: 0, finish_reason: 'stop', message: { role: 'assistant', content: 'Hello.' } }],
        usage: { prompt_tokens: 9, completion_tokens: 12, total_tokens: 21, cost: 0.00000855 },
      },
    ],
  });
export type ChatCompletion = z.infer<typeof ChatCompletion>;

export const ChatCompletionChunk = z
  .looseObject({
    id: z.string(),
    object: z.literal('chat.completion.chunk'),
    created: z.int(),
    model: z.string(),
    choices: z.array(
      z.looseObject({
        index: z.int(),
        delta: z.looseObject({
          role: z.string().optional(),
          content: z.string().nullable().optional(),
          tool_calls: z.array(z.looseObject({ index: z.int() })).optional(),
        }),
        finish_reason: z.string().nullable().optional(),
      }),
    ),
    usage: ChatUsage.nullable().optional(),
  })
  .meta({
    id: 'ChatCompletionChunk',
    description: 'One event of a streamed chat completion.',
    examples: [
      {
        id: 'chatcmpl-9f2c',
        object: 'chat.completion.chunk',
        created: 1763712000,
        model: 'gpt-4o-mini',
        choices: [{ index: 0, delta: { content: 'Hello.' }, finish_reason: null }],
      },
    ],
  });
export type ChatCompletionChunk = z.infer<typeof ChatCompletionChunk>;

export const chat = c.router({
  createChatCompletion: {
    method: 'POST',
    path: '/v1/chat/completions',
    summary: 'Create a chat completion',
    description: 'OpenAI’s endpoint, plain or streamed. Every answer has a signed receipt.',
    headers: { ...headersA, ...inferenceHeaders, ...idempotencyHeader },
    body: ChatCompletionRequest,
    responses: {
      200: ChatCompletion,
      ...inferenceRefusals,
    },
    metadata: {
      auth: 'bearer',
      scope: 'inference',
      tag: 'Inference',
      operationId: 'createChatCompletion',
      tool: 'spend',
      events: ChatCompletionChunk,
      errors: { also: ['storing_off'] },
    } as const,
  },
});
