import { initContract } from '@ts-rest/core';
import * as z from 'zod';
import { headersA, idempotencyHeader } from '../conventions.ts';
import { inferenceHeaders, inferenceRefusals } from './headers.ts';
import { costField, fallbackModels, modelField, userField } from './model-fields.ts';
import { providerField } from './provider-preference.ts';

const c = initContract();

const MOST_DOCUMENTS = 10_000;

const DOCUMENTS = ['The ledger sums to zero.', 'The weather is fine.'];

const RerankDocument = z.union(
  [z.string(), z.record(z.string().max(200), z.unknown())],
  'must be a string, or an object with a `text` or with the fields of `rank_fields`',
);

export const RerankRequest = z
  .looseObject({
    model: modelField('rerank-v4.0-fast'),
    models: fallbackModels,
    provider: providerField,
    query: z
      .string()
      .min(1)
      .meta({ description: 'What the documents are compared with.', examples: ['What does the ledger sum to?'] }),
    documents: z
      .array(RerankDocument)
      .min(1)
      .max(MOST_DOCUMENTS)
      .meta({
        description: 'What to rank: strings, or objects with a `text`. The other fields of an object are for the caller.',
        examples: [DOCUMENTS],
      }),
    top_n: z.int().min(1).nullable().optional().meta({ description: 'The most results. Default: one for each document.' }),
    rank_fields: z.array(z.string().min(1).max(200)).min(1).max(20).nullable().optional().meta({
      description: 'Of documents that are objects: the fields that are ranked by, in order, in place of `text`.',
    }),
    return_documents: z
      .boolean()
      .nullable()
      .optional()
      .meta({ description: 'Repeat the document in each result. Default: false. The gateway adds it, whichever provider answers.' }),
    max_tokens_per_doc: z.int().min(1).nullable().optional().meta({
      description: 'Cohere: a document is cut to so many tokens.',
    }),
    user: userField,
  })
  .meta({
    id: 'RerankRequest',
    description: 'A query with the documents to rank by it, as at Cohere and Jina. Fields that are not listed here are passed through.',
    examples: [{ model: 'rerank-v4.0-fast', query: 'What does the ledger sum to?', documents: DOCUMENTS, top_n: 1 }],
  });
export type RerankRequest = z.infer<typeof RerankRequest>;

export const Ranking = z
  .looseObject({
    id: z
      .string()
      .optional()
      .meta({ examples: ['07734bd2-2473-4f07-94e1-0d9f0e6843cf'] }),
    results: z.array(
      z.looseObject({
        index: z
          .int()
          .min(0)
          .meta({ description: 'Which of the documents.', examples: [0] }),
        relevance_score: z.number().meta({ description: 'The higher, the more relevant.', examples: [0.97] }),
        document: z.looseObject({ text: z.string().optional() }).optional().meta({
          description: 'Where `return_documents` asked for it: an object as it was sent, a string as its `text`.',
        }),
      }),
    ),
    usage: z.looseObject({ cost: costField }).meta({ description: 'What was counted: `search_units`, or tokens.' }),
  })
  .meta({
    id: 'Ranking',
    description: 'The documents by their relevance, the most relevant first.',
    examples: [
      {
        id: '07734bd2-2473-4f07-94e1-0d9f0e6843cf',
        results: [{ index: 0, relevance_score: 0.97 }],
        meta: { billed_units: { search_units: 1 } },
        usage: { search_units: 1, cost: 0.002 },
      },
    ],
  });
export type Ranking = z.infer<typeof Ranking>;

export const rerank = c.router({
  rerank: {
    method: 'POST',
    path: '/v1/rerank',
    summary: 'Rank documents by a query',
    description: 'The endpoint of Cohere (also at `/v2/rerank`) and Jina, for every rerank model.',
    headers: { ...headersA, ...inferenceHeaders, ...idempotencyHeader },
    body: RerankRequest,
    responses: { 200: Ranking, ...inferenceRefusals },
    metadata: { auth: 'bearer', scope: 'inference', tag: 'Inference', operationId: 'rerank' } as const,
  },
});
