import { initContract } from '@ts-rest/core';
import * as z from 'zod';
import { headersA, idempotencyHeader } from '../conventions.ts';
import { inferenceHeaders, inferenceRefusals } from './headers.ts';
import { costField, fallbackModels, modelField, tokenList, userField } from './model-fields.ts';
import { providerField } from './provider-preference.ts';

const c = initContract();

const Tokens = tokenList(8192);

export const EmbeddingRequest = z
  .looseObject({
    model: modelField('text-embedding-3-small'),
    models: fallbackModels,
    provider: providerField,
    input: z
      .union(
        [z.string().min(1), z.array(z.string().min(1)).min(1).max(2048), Tokens, z.array(Tokens).min(1).max(2048)],
        'must be a string, up to 2,048 strings, tokens, or lists of tokens',
      )
      .meta({ description: 'What to embed; several give several vectors.', examples: ['The ledger sums to zero.'] }),
    dimensions: z
      .int()
      .min(1)
      .max(65_536)
      .nullable()
      .optional()
      .meta({ description: 'Length of the vectors, where the model lets it be chosen.' }),
    encoding_format: z
      .enum(['float', 'base64'])
      .nullable()
      .optional()
      .meta({ description: '`base64`: little-endian 32-bit floats. Default: `float`.' }),
    user: userField,
  })
  .meta({
    id: 'EmbeddingRequest',
    description: 'OpenAI’s embedding request. Fields that are not listed here are passed through to the provider.',
    examples: [{ model: 'text-embedding-3-small', input: 'The ledger sums to zero.' }],
  });
export type EmbeddingRequest = z.infer<typeof EmbeddingRequest>;

export const EmbeddingList = z
  .looseObject({
    object: z.literal('list'),
    data: z.array(
      z.looseObject({
        object: z.literal('embedding'),
        index: z.int(),
        embedding: z.union([z.array(z.number()), z.string()]).meta({ description: 'Numbers, or base64 where it was asked for.' }),
      }),
    ),
    model: z.string().meta({ examples: ['text-embedding-3-small'] }),
    usage: z.looseObject({ prompt_tokens: z.int(), total_tokens: z.int(), cost: costField }),
  })
  .meta({
    id: 'EmbeddingList',
    description: 'One vector for each input, in order.',
    examples: [
      {
        object: 'list',
        data: [{ object: 'embedding', index: 0, embedding: [0.0023, -0.0093, 0.0157] }],
        model: 'text-embedding-3-small',
        usage: { prompt_tokens: 6, total_tokens: 6, cost: 0.00000012 },
      },
    ],
  });
export type EmbeddingList = z.infer<typeof EmbeddingList>;

export const embeddings = c.router({
  createEmbedding: {
    method: 'POST',
    path: '/v1/embeddings',
    summary: 'Create embeddings',
    description: 'OpenAI’s endpoint, for every embedding model.',
    headers: { ...headersA, ...inferenceHeaders, ...idempotencyHeader },
    body: EmbeddingRequest,
    responses: { 200: EmbeddingList, ...inferenceRefusals },
    metadata: { auth: 'bearer', scope: 'inference', tag: 'Inference', operationId: 'createEmbedding', tool: 'spend' } as const,
  },
});
