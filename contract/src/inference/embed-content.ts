import { initContract } from '@ts-rest/core';
import * as z from 'zod';
import { headersA, idempotencyHeader } from '../conventions.ts';
import { googleHeaders } from './generate-content.ts';
import { GoogleContent } from './google-content.ts';
import { googleRefusals } from './google-error.ts';
import { inferenceHeaders } from './headers.ts';
import { anyJson, costField, modelPath } from './model-fields.ts';

const c = initContract();

const embedded = {
  model: z.string().max(300).nullable().optional().meta({ description: 'Passed over: the model of the path counts.' }),
  content: GoogleContent.meta({ description: 'What to embed: its texts.' }),
  outputDimensionality: z
    .int()
    .min(1)
    .max(65_536)
    .nullable()
    .optional()
    .meta({ description: 'Length of the vector, where the model lets it be chosen.' }),
  taskType: anyJson('What the vector is for. Sent to Google, and to no other provider.').optional(),
  title: anyJson('Of a document that is to be found. Sent to Google, and to no other provider.').optional(),
};

export const EmbedContentRequest = z.looseObject(embedded).meta({
  id: 'EmbedContentRequest',
  description: 'Google’s request for a vector. A field that is not listed here is sent to Google as it is.',
  examples: [{ content: { parts: [{ text: 'The ledger sums to zero.' }] } }],
});
export type EmbedContentRequest = z.infer<typeof EmbedContentRequest>;

export const BatchEmbedContentsRequest = z
  .looseObject({
    model: embedded.model,
    requests: z.array(EmbedContentRequest).min(1).max(100).meta({ description: 'Each gives a vector; all of one length.' }),
  })
  .meta({
    id: 'BatchEmbedContentsRequest',
    description: 'Google’s request for several vectors.',
    examples: [{ requests: [{ content: { parts: [{ text: 'The ledger sums to zero.' }] } }] }],
  });
export type BatchEmbedContentsRequest = z.infer<typeof BatchEmbedContentsRequest>;

const Vector = z.looseObject({ values: z.array(z.number()) });
const usageMetadata = z.looseObject({ promptTokenCount: z.int(), totalTokenCount: z.int().optional(), cost: costField });
const usage = { promptTokenCount: 6, totalTokenCount: 6, cost: 0.0000009 };
const vector = { values: [0.0023, -0.0093, 0.0157] };

export const EmbedContentResponse = z.looseObject({ embedding: Vector, usageMetadata }).meta({
  id: 'EmbedContentResponse',
  description: 'A vector, in Google’s form.',
  examples: [{ embedding: vector, usageMetadata: usage }],
});

export const BatchEmbedContentsResponse = z.looseObject({ embeddings: z.array(Vector), usageMetadata }).meta({
  id: 'BatchEmbedContentsResponse',
  description: 'One vector for each request, in order.',
  examples: [{ embeddings: [vector], usageMetadata: usage }],
});

const metadata = { auth: 'bearer', scope: 'inference', tag: 'Google', surface: 'google', customMethod: true } as const;
const headers = { ...headersA, ...googleHeaders, ...inferenceHeaders, ...idempotencyHeader };

export const embedContent = c.router({
  embedContent: {
    method: 'POST',
    path: '/v1beta/models/:model/embedContent',
    summary: 'Embed content',
    description: 'Google’s endpoint, for every embedding model: where Google serves, request and answer pass as they are.',
    pathParams: modelPath,
    headers,
    body: EmbedContentRequest,
    responses: { 200: EmbedContentResponse, ...googleRefusals },
    metadata: { ...metadata, operationId: 'embedContent' } as const,
  },
  batchEmbedContents: {
    method: 'POST',
    path: '/v1beta/models/:model/batchEmbedContents',
    summary: 'Embed several contents',
    description: 'Google’s endpoint for several vectors at once, for every embedding model. One request to the provider, and one receipt.',
    pathParams: modelPath,
    headers,
    body: BatchEmbedContentsRequest,
    responses: { 200: BatchEmbedContentsResponse, ...googleRefusals },
    metadata: { ...metadata, operationId: 'batchEmbedContents' } as const,
  },
});
