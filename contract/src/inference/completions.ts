import { initContract } from '@ts-rest/core';
import * as z from 'zod';
import { headersA, idempotencyHeader } from '../conventions.ts';
import { ChatUsage } from './chat.ts';
import { inferenceHeaders, inferenceRefusals } from './headers.ts';
import { anyJson, fallbackModels, modelField, streamField, tokenList, userField } from './model-fields.ts';
import { providerField } from './provider-preference.ts';

const c = initContract();

const Tokens = tokenList();

export const CompletionRequest = z
  .looseObject({
    model: modelField('gpt-3.5-turbo-instruct'),
    models: fallbackModels,
    provider: providerField,
    prompt: z
      .union(
        [z.string(), z.array(z.string()).min(1).max(2048), Tokens, z.array(Tokens).min(1).max(2048)],
        'must be a string, strings, tokens, or lists of tokens',
      )
      .meta({ description: 'The text to go on from; several make several choices.', examples: ['Once upon a time'] }),
    best_of: z.int().min(1).max(20).nullable().optional(),
    echo: z.boolean().nullable().optional(),
    frequency_penalty: z.number().min(-2).max(2).nullable().optional(),
    logit_bias: z.record(z.string(), z.number()).nullable().optional(),
    logprobs: z.int().min(0).max(5).nullable().optional(),
    // Not 0, which some providers read as no bound at all.
    max_tokens: z
      .int()
      .min(1)
      .max(2_147_483_647)
      .nullable()
      .optional()
      .meta({ description: 'Upper bound on tokens out, of one choice.', examples: [64] }),
    n: z.int().min(1).max(128).nullable().optional(),
    presence_penalty: z.number().min(-2).max(2).nullable().optional(),
    seed: z.int().nullable().optional(),
    stop: z.union([z.string(), z.array(z.string()).max(16), z.null()]).optional(),
    stream: streamField,
    stream_options: z.looseObject({ include_usage: z.boolean().nullable().optional() }).nullable().optional(),
    suffix: z.string().nullable().optional(),
    temperature: z.number().min(0).max(2).nullable().optional(),
    top_p: z.number().min(0).max(1).nullable().optional(),
    user: userField,
  })
  .meta({
    id: 'CompletionRequest',
    description: 'OpenAI’s older completion request. Fields that are not listed here are passed through to the provider.',
    examples: [{ model: 'gpt-3.5-turbo-instruct', prompt: 'Once upon a time', max_tokens: 64 }],
  });
export type CompletionRequest = z.infer<typeof CompletionRequest>;

/** Plain answer and streamed chunk have one shape; a chunk's `finish_reason` is null until the last. */
export const Completion = z
  .looseObject({
    id: z.string().meta({ examples: ['cmpl-9f2c'] }),
    object: z.literal('text_completion'),
    created: z.int().meta({ examples: [1763712000] }),
    model: z.string().meta({ examples: ['gpt-3.5-turbo-instruct'] }),
    choices: z.array(
      z.looseObject({
        index: z.int(),
        text: z.string(),
        finish_reason: z.string().nullable(),
        logprobs: anyJson('Log probabilities, or null.'),
      }),
    ),
    usage: ChatUsage.nullable().optional(),
  })
  .meta({
    id: 'Completion',
    description: 'OpenAI’s completion.',
    examples: [
      {
        id: 'cmpl-9f2c',
        object: 'text_completion',
        created: 1763712000,
        model: 'gpt-3.5-turbo-instruct',
        choices: [{ index: 0, text: ' there was a ledger.', finish_reason: 'stop', logprobs: null }],
        usage: { prompt_tokens: 4, completion_tokens: 5, total_tokens: 9, cost: 0.000016 },
      },
    ],
  });
export type Completion = z.infer<typeof Completion>;

export const completions = c.router({
  createCompletion: {
    method: 'POST',
    path: '/v1/completions',
    summary: 'Create a completion',
    description: 'OpenAI’s older text completion, plain or streamed.',
    headers: { ...headersA, ...inferenceHeaders, ...idempotencyHeader },
    body: CompletionRequest,
    responses: { 200: Completion, ...inferenceRefusals },
    metadata: { auth: 'bearer', scope: 'inference', tag: 'Inference', operationId: 'createCompletion', events: Completion } as const,
  },
});
