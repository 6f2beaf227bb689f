import { initContract } from '@ts-rest/core';
import * as z from 'zod';
import { headersA, idempotencyHeader, wholeNumber } from '../conventions.ts';
import { anthropicRefusals } from './anthropic-error.ts';
import { inferenceHeaders } from './headers.ts';
import { MessageParam, MessageTool, SystemPrompt } from './message-content.ts';
import { anyJson, costField, fallbackModels, modelField, streamField } from './model-fields.ts';
import { providerField } from './provider-preference.ts';

const c = initContract();

const MODEL = 'claude-sonnet-4-6';

/** The headers that Anthropic's clients send. */
export const anthropicHeaders = {
  'anthropic-version': z
    .string()
    .max(40)
    .optional()
    .meta({ description: 'The version of Anthropic’s API.', examples: ['2023-06-01'] }),
  'anthropic-beta': z
    .string()
    .max(2_000)
    .regex(/^[\w.:, -]*$/, 'must be names, separated by commas')
    .optional()
    .meta({ description: 'Anthropic’s betas, separated by commas. They reach Anthropic, and mean nothing to other providers.' }),
};

const prompt = {
  model: modelField(MODEL),
  messages: z.array(MessageParam).min(1).max(100_000).meta({ description: 'The conversation so far.' }),
  system: SystemPrompt,
  tools: z.array(MessageTool).max(1_000).nullable().optional().meta({ description: 'Tools that the model may ask to have called.' }),
  tool_choice: z
    .looseObject({
      type: z.enum(['auto', 'any', 'tool', 'none']),
      name: z.string().optional(),
      disable_parallel_tool_use: z.boolean().nullable().optional(),
    })
    .refine(({ type, name }) => type !== 'tool' || name !== undefined, {
      path: ['name'],
      message: 'is missing: which tool is to be called',
    })
    .nullable()
    .optional(),
  thinking: z
    .looseObject({
      type: z.enum(['enabled', 'disabled', 'adaptive']),
      budget_tokens: z.int().min(1).max(2_147_483_647).nullable().optional(),
    })
    .nullable()
    .optional()
    .meta({ description: 'Whether the model thinks first, and for how many tokens at most.' }),
};

/** Fields that the gateway acts on or checks. All other fields of the body go to the provider unchanged. */
export const MessagesRequest = z
  .looseObject({
    ...prompt,
    models: fallbackModels,
    provider: providerField,
    max_tokens: z
      .int()
      .min(1)
      .max(2_147_483_647)
      .meta({ description: 'Upper bound on tokens out, thoughts included. A model that gives fewer gives fewer.', examples: [256] }),
    stream: streamField,
    stop_sequences: z.array(z.string()).max(8_191).nullable().optional().meta({ description: 'Texts at which the answer ends.' }),
    temperature: z.number().min(0).max(1).nullable().optional(),
    top_p: z.number().min(0).max(1).nullable().optional(),
    top_k: z.int().min(0).nullable().optional(),
    metadata: z
      .looseObject({ user_id: z.string().max(1_024).nullable().optional() })
      .nullable()
      .optional()
      .meta({ description: '`user_id`: an id of your own user, for the provider’s watch on abuse.' }),
    service_tier: z.string().max(40).nullable().optional().meta({ description: '`auto` or `standard_only`.' }),
    output_config: z
      .looseObject({
        effort: z.string().max(40).nullable().optional(),
        format: z
          .looseObject({ type: z.literal('json_schema'), schema: z.record(z.string(), anyJson('JSON Schema.')) })
          .nullable()
          .optional(),
      })
      .nullable()
      .optional()
      .meta({ description: '`effort`: how hard the model works. `format`: a JSON Schema that the answer follows.' }),
  })
  .meta({
    id: 'MessagesRequest',
    description: 'Anthropic’s Messages request. Fields that are not listed here are passed through to the provider.',
    examples: [{ model: MODEL, max_tokens: 256, messages: [{ role: 'user', content: 'Say hello.' }] }],
  });
export type MessagesRequest = z.infer<typeof MessagesRequest>;

export const MessageUsage = z
  .looseObject({
    input_tokens: z.int().meta({ description: 'Without those that the cache has a part in.', examples: [9] }),
    cache_creation_input_tokens: z
      .int()
      .nullable()
      .optional()
      .meta({ description: 'Written to the prompt cache.', examples: [0] }),
    cache_read_input_tokens: z
      .int()
      .nullable()
      .optional()
      .meta({ description: 'Read from the prompt cache.', examples: [0] }),
    output_tokens: z.int().meta({ examples: [12] }),
    cost: costField,
  })
  .meta({ id: 'MessageUsage', description: 'Anthropic’s usage, with the cost added.' });

export const Message = z
  .looseObject({
    id: z.string().meta({ examples: ['msg_019aa2f1c2d37b6e8c4d1f00aa55ee77'] }),
    type: z.literal('message'),
    role: z.literal('assistant'),
    model: z.string().meta({ examples: [MODEL] }),
    content: z.array(z.looseObject({ type: z.string().meta({ examples: ['text'] }) })),
    stop_reason: z
      .string()
      .nullable()
      .meta({ examples: ['end_turn'] }),
    stop_sequence: z.string().nullable().optional(),
    usage: MessageUsage,
  })
  .meta({
    id: 'Message',
    description: 'Anthropic’s message.',
    examples: [
      {
        id: 'msg_019aa2f1c2d37b6e8c4d1f00aa55ee77',
        type: 'message',
        role: 'assistant',
        model: MODEL,
        content: [{ type: 'text', text: 'Hello.' }],
        stop_reason: 'end_turn',
        stop_sequence: null,
        usage: { input_tokens: 9, cache_creation_input_tokens: 0, cache_read_input_tokens: 0, output_tokens: 12, cost: 0.000207 },
      },
    ],
  });
export type Message = z.infer<typeof Message>;

/** A model as Anthropic’s clients read it. */
export const AnthropicModel = z
  .object({
    type: z.literal('model'),
    id: z.string().meta({ examples: [MODEL] }),
    display_name: z.string().meta({ examples: [MODEL] }),
    created_at: z.iso.datetime().meta({ examples: ['2026-02-17T00:00:00.000Z'] }),
    max_input_tokens: z
      .int()
      .nullable()
      .meta({ examples: [200_000] }),
    max_tokens: z
      .int()
      .nullable()
      .meta({ examples: [64_000] }),
  })
  .meta({ id: 'AnthropicModel', description: 'A model, in Anthropic’s form.' });
export type AnthropicModel = z.infer<typeof AnthropicModel>;

export const AnthropicModelList = z
  .object({
    data: z.array(AnthropicModel),
    has_more: z.boolean(),
    first_id: z
      .string()
      .nullable()
      .meta({ examples: [MODEL] }),
    last_id: z
      .string()
      .nullable()
      .meta({ description: 'The `after_id` of the next page.', examples: [MODEL] }),
  })
  .meta({ id: 'AnthropicModelList', description: 'A page of models, in Anthropic’s form.' });
export const AnthropicModelQuery = z.object({
  limit: wholeNumber(1, 1_000).default(20),
  after_id: z.string().max(200).optional(),
  before_id: z.string().max(200).optional(),
});
export type AnthropicModelList = z.infer<typeof AnthropicModelList>;

export const MessageStreamEvent = z.looseObject({ type: z.string().meta({ examples: ['content_block_delta'] }) }).meta({
  id: 'MessageStreamEvent',
  description: 'One event of a streamed message.',
  examples: [{ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'Hello.' } }],
});
export type MessageStreamEvent = z.infer<typeof MessageStreamEvent>;

export const messages = c.router({
  createMessage: {
    method: 'POST',
    path: '/v1/messages',
    summary: 'Create a message',
    description:
      'Anthropic’s Messages: text, tools, images, documents, thinking and prompt caching, plain or streamed. Works with every chat model of the catalogue; where the provider does not have Messages itself, the request is translated.',
    headers: { ...headersA, ...anthropicHeaders, ...inferenceHeaders, ...idempotencyHeader },
    body: MessagesRequest,
    responses: { 200: Message, ...anthropicRefusals },
    metadata: {
      auth: 'bearer',
      scope: 'inference',
      tag: 'Messages',
      operationId: 'createMessage',
      events: MessageStreamEvent,
      surface: 'anthropic',
    } as const,
  },
});

export const CountTokensRequest = z.looseObject(prompt).meta({
  id: 'CountTokensRequest',
  description: 'A message’s prompt, to be counted.',
  examples: [{ model: MODEL, messages: [{ role: 'user', content: 'Say hello.' }] }],
});
export type CountTokensRequest = z.infer<typeof CountTokensRequest>;

export const MessageTokensCount = z
  .object({ input_tokens: z.int().meta({ examples: [11] }) })
  .meta({ id: 'MessageTokensCount', description: 'How many tokens a prompt has.' });
export type MessageTokensCount = z.infer<typeof MessageTokensCount>;

/** What is asked about messages. None of it spends. */
export const messageTokens = c.router({
  countTokens: {
    method: 'POST',
    path: '/v1/messages/count_tokens',
    summary: 'Count the tokens of a message',
    description:
      'Counted here, with the model’s published tokenizer where it has one and OpenAI’s otherwise; no provider is called and nothing is charged. It is one of the requests that the key may make per minute. Images count as the most that the catalogue allows one.',
    headers: { ...headersA, ...anthropicHeaders },
    body: CountTokensRequest,
    responses: { 200: MessageTokensCount, ...anthropicRefusals },
    metadata: {
      auth: 'bearer',
      scope: 'inference',
      tag: 'Messages',
      operationId: 'countMessageTokens',
      errors: { also: ['model_not_found'] },
      body: 'inference',
      surface: 'anthropic',
    } as const,
  },
});
