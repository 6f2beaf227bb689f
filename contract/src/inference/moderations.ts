import { initContract } from '@ts-rest/core';
import * as z from 'zod';
import { headersA, idempotencyHeader } from '../conventions.ts';
import { inferenceHeaders, inferenceRefusals } from './headers.ts';

const c = initContract();

const ModerationPart = z.discriminatedUnion('type', [
  z.looseObject({ type: z.literal('text'), text: z.string() }),
  z.looseObject({ type: z.literal('image_url'), image_url: z.looseObject({ url: z.string().min(1) }) }),
]);

export const ModerationRequest = z
  .looseObject({
    model: z
      .string()
      .min(1)
      .max(200)
      .default('omni-moderation-latest')
      .meta({ examples: ['omni-moderation-latest'] }),
    input: z
      .union(
        [z.string(), z.array(z.string()).min(1).max(2048), z.array(ModerationPart).min(1).max(64)],
        'must be a string, strings, or parts',
      )
      .meta({ description: 'What to judge.', examples: ['I will pay my invoice on time.'] }),
  })
  .meta({ id: 'ModerationRequest', description: 'OpenAI’s moderation request.', examples: [{ input: 'I will pay my invoice on time.' }] });
export type ModerationRequest = z.infer<typeof ModerationRequest>;

export const Moderation = z
  .looseObject({
    id: z.string().meta({ examples: ['modr-9f2c'] }),
    model: z.string().meta({ examples: ['omni-moderation-latest'] }),
    results: z.array(
      z.looseObject({
        flagged: z.boolean(),
        categories: z.record(z.string(), z.boolean()),
        category_scores: z.record(z.string(), z.number()),
        category_applied_input_types: z.record(z.string(), z.array(z.string())).optional(),
      }),
    ),
  })
  .meta({
    id: 'Moderation',
    description: 'One judgement for each input.',
    examples: [
      {
        id: 'modr-9f2c',
        model: 'omni-moderation-latest',
        results: [
          {
            flagged: false,
            categories: { violence: false },
            category_scores: { violence: 0.0001 },
            category_applied_input_types: { violence: ['text'] },
          },
        ],
      },
    ],
  });
export type Moderation = z.infer<typeof Moderation>;

export const moderations = c.router({
  createModeration: {
    method: 'POST',
    path: '/v1/moderations',
    summary: 'Create a moderation',
    description: 'OpenAI’s moderation endpoint. Free of charge; it passes through the same admission as everything else.',
    headers: { ...headersA, ...inferenceHeaders, ...idempotencyHeader },
    body: ModerationRequest,
    responses: { 200: Moderation, ...inferenceRefusals },
    metadata: { auth: 'bearer', scope: 'inference', tag: 'Inference', operationId: 'createModeration' } as const,
  },
});
