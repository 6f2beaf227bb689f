import { initContract } from '@ts-rest/core';
import * as z from 'zod';
import { headersA, wholeNumber } from '../conventions.ts';
import { GenerateContentRequest, googleHeaders } from './generate-content.ts';
import { GoogleContent } from './google-content.ts';
import { googleRefusals } from './google-error.ts';
import { modelPath } from './model-fields.ts';

const c = initContract();

/** A model as Google’s clients read it. */
export const GoogleModel = z
  .object({
    name: z.string().meta({ examples: ['models/gemini-3.5-flash'] }),
    baseModelId: z.string().meta({ examples: ['gemini-3.5-flash'] }),
    version: z.string().meta({ examples: ['1'] }),
    displayName: z.string().meta({ examples: ['gemini-3.5-flash'] }),
    inputTokenLimit: z
      .int()
      .optional()
      .meta({ examples: [1_048_576] }),
    outputTokenLimit: z
      .int()
      .optional()
      .meta({ examples: [65_536] }),
    supportedGenerationMethods: z.array(z.string()).meta({ examples: [['generateContent', 'countTokens']] }),
  })
  .meta({ id: 'GoogleModel', description: 'A model, in Google’s form.' });
export type GoogleModel = z.infer<typeof GoogleModel>;

export const GoogleModelList = z
  .object({
    models: z.array(GoogleModel),
    nextPageToken: z.string().optional().meta({ description: 'The `pageToken` of the next page.' }),
  })
  .meta({ id: 'GoogleModelList', description: 'A page of models, in Google’s form.' });
export type GoogleModelList = z.infer<typeof GoogleModelList>;

export const CountContentTokensRequest = z
  .strictObject({
    contents: z.array(GoogleContent).min(1).max(100_000).nullable().optional(),
    generateContentRequest: GenerateContentRequest.nullable()
      .optional()
      .meta({ description: 'In place of `contents`: with all that is sent.' }),
  })
  .refine(
    ({ contents, generateContentRequest }) => !contents !== !generateContentRequest,
    'must have either `contents` or `generateContentRequest`',
  )
  .meta({
    id: 'CountContentTokensRequest',
    description: 'A prompt, to be counted.',
    examples: [{ contents: [{ role: 'user', parts: [{ text: 'Say hello.' }] }] }],
  });
export type CountContentTokensRequest = z.infer<typeof CountContentTokensRequest>;

export const ContentTokensCount = z
  .object({ totalTokens: z.int().meta({ examples: [11] }) })
  .meta({ id: 'ContentTokensCount', description: 'How many tokens a prompt has.' });

const metadata = { auth: 'bearer', scope: 'inference', tag: 'Google', surface: 'google' } as const;
const headers = { ...headersA, ...googleHeaders };

/** What is asked about models in Google's words. None of it spends. */
export const googleModels = c.router({
  list: {
    method: 'GET',
    path: '/v1beta/models',
    summary: 'List models for Google’s clients',
    description: 'The models of `GET /v1/models`, in Google’s form.',
    headers,
    query: z.object({
      pageSize: wholeNumber(1, 1_000).default(50),
      pageToken: z.string().max(200).optional(),
    }),
    responses: { 200: GoogleModelList, ...googleRefusals },
    metadata: { ...metadata, operationId: 'listGoogleModels' } as const,
  },
  get: {
    method: 'GET',
    path: '/v1beta/models/:model',
    summary: 'Get a model for Google’s clients',
    description: 'One model of the catalogue, in Google’s form.',
    pathParams: modelPath,
    headers,
    responses: { 200: GoogleModel, ...googleRefusals },
    metadata: { ...metadata, operationId: 'getGoogleModel', errors: { also: ['model_not_found'] } } as const,
  },
  countTokens: {
    method: 'POST',
    path: '/v1beta/models/:model/countTokens',
    summary: 'Count the tokens of content',
    description:
      'Counted here, with the model’s published tokenizer where it has one and OpenAI’s otherwise; no provider is called and nothing is charged. It is one of the requests that the key may make per minute. Fields are written in camel case.',
    pathParams: modelPath,
    headers,
    body: CountContentTokensRequest,
    responses: { 200: ContentTokensCount, ...googleRefusals },
    metadata: {
      ...metadata,
      operationId: 'countContentTokens',
      errors: { also: ['model_not_found'] },
      body: 'inference',
      customMethod: true,
    } as const,
  },
});
