import { initContract } from '@ts-rest/core';
import * as z from 'zod';
import { headersA, idempotencyHeader } from '../conventions.ts';
import { GoogleContent, GoogleTool, GoogleToolConfig } from './google-content.ts';
import { googleRefusals } from './google-error.ts';
import { inferenceHeaders } from './headers.ts';
import { anyJson, costField, fallbackModels, modelPath } from './model-fields.ts';

const c = initContract();

const MODEL = 'gemini-3.5-flash';

/** The header that Google's clients send. */
export const googleHeaders = {
  'x-goog-api-key': z.string().optional().meta({ description: 'API key, as an alternative to the bearer token. `?key=` does the same.' }),
};

const notSent = (why: string) => anyJson(`Not sent: ${why}`).optional();
/** What Google's models know, and no others. */
const googlesOwn = (what: string) => anyJson(`${what} Sent to Google, and to no other provider.`).optional();
const refusedField = (why: string) => anyJson(`Refused: ${why}`).optional();

export const GoogleThinkingConfig = z
  .looseObject({
    includeThoughts: z.boolean().nullable().optional(),
    thinkingBudget: z
      .int()
      .min(-1)
      .max(2_147_483_647)
      .nullable()
      .optional()
      .meta({ description: 'Tokens of thought; -1 leaves it to the model.' }),
    thinkingLevel: z.enum(['THINKING_LEVEL_UNSPECIFIED', 'MINIMAL', 'LOW', 'MEDIUM', 'HIGH']).nullable().optional(),
  })
  .meta({ id: 'GoogleThinkingConfig', description: 'How much the model thinks, within the bound on tokens out.' });

export const GoogleGenerationConfig = z
  .looseObject({
    maxOutputTokens: z
      .int()
      .min(1)
      .max(2_147_483_647)
      .nullable()
      .optional()
      .meta({ description: 'Upper bound on tokens out of one candidate, thoughts included.', examples: [256] }),
    candidateCount: z.int().min(1).max(8).nullable().optional().meta({ description: 'How many answers.' }),
    temperature: z.number().min(0).max(2).nullable().optional(),
    topP: z.number().min(0).max(1).nullable().optional(),
    topK: z.number().min(0).nullable().optional(),
    seed: z.int().nullable().optional(),
    presencePenalty: z.number().min(-2).max(2).nullable().optional(),
    frequencyPenalty: z.number().min(-2).max(2).nullable().optional(),
    stopSequences: z.array(z.string()).max(16).nullable().optional(),
    responseLogprobs: z.boolean().nullable().optional(),
    logprobs: z
      .int()
      .min(0)
      .max(20)
      .nullable()
      .optional()
      .meta({ description: 'So many alternatives to each token, with `responseLogprobs`.' }),
    responseMimeType: z.enum(['text/plain', 'application/json']).nullable().optional(),
    responseSchema: z
      .record(z.string(), anyJson('A schema.'))
      .nullable()
      .optional()
      .meta({ description: 'Google’s schema that the answer follows, with its types in upper case.' }),
    responseJsonSchema: z
      .record(z.string(), anyJson('A schema.'))
      .nullable()
      .optional()
      .meta({ description: 'JSON Schema, in place of `responseSchema`.' }),
    thinkingConfig: GoogleThinkingConfig.nullable().optional(),
    responseModalities: z.array(z.string()).nullable().optional().meta({ description: '`TEXT` alone: other answers have no price here.' }),
    mediaResolution: googlesOwn('How closely images are looked at: each is held at the most that one can cost.'),
    enableEnhancedCivicAnswers: googlesOwn('Answers about elections.'),
    responseFormat: refusedField('use `responseMimeType` and `responseJsonSchema`.'),
    speechConfig: refusedField('answers that are no text.'),
    imageConfig: refusedField('answers that are no text.'),
    audioTranscriptionConfig: refusedField('answers that are no text.'),
    translationConfig: refusedField('answers that are no text.'),
    enableAffectiveDialog: refusedField('answers that are no text.'),
    audioTimestamp: googlesOwn('Of Vertex alone.'),
    modelSelectionConfig: refusedField('models that the provider chooses.'),
    routingConfig: refusedField('models that the provider chooses.'),
  })
  .meta({ id: 'GoogleGenerationConfig', description: 'How to answer. A field that is not listed here is sent to Google as it is.' });
export type GoogleGenerationConfig = z.infer<typeof GoogleGenerationConfig>;

const prompt = {
  contents: z.array(GoogleContent).min(1).max(100_000).meta({ description: 'The conversation so far.' }),
  systemInstruction: GoogleContent.nullable().optional().meta({ description: 'The system prompt: its texts.' }),
  tools: z.array(GoogleTool).max(128).nullable().optional(),
  toolConfig: GoogleToolConfig.nullable().optional(),
  generationConfig: GoogleGenerationConfig.nullable().optional(),
  safetySettings: googlesOwn('What is filtered.'),
  cachedContent: refusedField('content that is kept at Google is not the caller’s.'),
  labels: googlesOwn('For Vertex’s bill.'),
  serviceTier: z
    .string()
    .max(40)
    .nullable()
    .optional()
    .meta({ description: '`standard`, or `flex` or `priority` where the model has a price at it.' }),
  store: notSent('nothing is stored at the provider.'),
  continuationToken: refusedField('answers that are kept at Google.'),
};

export const GenerateContentRequest = z
  .looseObject({
    model: z.string().max(300).nullable().optional().meta({ description: 'Passed over: the model of the path counts.' }),
    models: fallbackModels,
    ...prompt,
  })
  .meta({
    id: 'GenerateContentRequest',
    description:
      'Google’s request. Fields may be written in snake case, as Google’s may (`generation_config`). Google’s models are sent it as it is, fields that are not listed here among it.',
    examples: [{ contents: [{ role: 'user', parts: [{ text: 'Say hello.' }] }], generationConfig: { maxOutputTokens: 256 } }],
  });
export type GenerateContentRequest = z.infer<typeof GenerateContentRequest>;

export const GoogleUsage = z
  .looseObject({
    promptTokenCount: z
      .int()
      .optional()
      .meta({ examples: [9] }),
    cachedContentTokenCount: z.int().optional().meta({ description: 'Of the prompt, read from a cache.' }),
    candidatesTokenCount: z
      .int()
      .optional()
      .meta({ description: 'Left out where nothing was written.', examples: [12] }),
    thoughtsTokenCount: z.int().optional().meta({ description: 'Billed as output, beside the candidates.' }),
    totalTokenCount: z
      .int()
      .optional()
      .meta({ examples: [21] }),
    cost: costField,
  })
  .meta({ id: 'GoogleUsage', description: 'Google’s usage, with the cost added.' });

export const GenerateContentResponse = z
  .looseObject({
    candidates: z
      .array(
        z.looseObject({
          content: z.looseObject({ role: z.string().optional(), parts: z.array(z.looseObject({})).optional() }).optional(),
          finishReason: z
            .string()
            .optional()
            .meta({ examples: ['STOP'] }),
          index: z.int().optional(),
        }),
      )
      .optional()
      .meta({ description: 'None where the prompt was blocked: `promptFeedback` says why.' }),
    usageMetadata: GoogleUsage.optional(),
    modelVersion: z
      .string()
      .optional()
      .meta({ examples: [MODEL] }),
    responseId: z
      .string()
      .optional()
      .meta({ examples: ['019aa2f1c2d37b6e8c4d1f00aa55ee77'] }),
  })
  .meta({
    id: 'GenerateContentResponse',
    description: 'Google’s answer, or an event of a streamed one.',
    examples: [
      {
        candidates: [{ content: { role: 'model', parts: [{ text: 'Hello.' }] }, finishReason: 'STOP', index: 0 }],
        usageMetadata: { promptTokenCount: 9, candidatesTokenCount: 12, totalTokenCount: 21, cost: 0.0001215 },
        modelVersion: MODEL,
        responseId: '019aa2f1c2d37b6e8c4d1f00aa55ee77',
      },
    ],
  });
export type GenerateContentResponse = z.infer<typeof GenerateContentResponse>;

const metadata = { auth: 'bearer', scope: 'inference', tag: 'Google', surface: 'google', customMethod: true } as const;
const headers = { ...headersA, ...googleHeaders, ...inferenceHeaders, ...idempotencyHeader };

export const generateContent = c.router({
  generateContent: {
    method: 'POST',
    path: '/v1beta/models/:model/generateContent',
    summary: 'Generate content',
    description:
      'Google’s endpoint: text, images, files, functions, thoughts and JSON. Works with every chat model of the catalogue: where Google serves, request and answer pass as they are; elsewhere the request is translated into a chat, and the answer back.',
    pathParams: modelPath,
    headers,
    body: GenerateContentRequest,
    responses: { 200: GenerateContentResponse, ...googleRefusals },
    metadata: { ...metadata, operationId: 'generateContent' } as const,
  },
  streamGenerateContent: {
    method: 'POST',
    path: '/v1beta/models/:model/streamGenerateContent',
    summary: 'Generate content as a stream',
    description:
      'The same, piece by piece. With `?alt=sse`, as Google’s clients ask it, in server-sent events; without, as one list of JSON that grows. Calls of functions come whole.',
    pathParams: modelPath,
    headers,
    body: GenerateContentRequest,
    responses: { 200: z.array(GenerateContentResponse), ...googleRefusals },
    metadata: { ...metadata, operationId: 'streamGenerateContent', events: GenerateContentResponse } as const,
  },
});
