import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import {
  BatchEmbedContentsRequest,
  ChatCompletionRequest,
  CompactRequest,
  CompletionRequest,
  EmbedContentRequest,
  EmbeddingRequest,
  GenerateContentRequest,
  ImageEditRequest,
  ImageGenerationRequest,
  ImageVariationRequest,
  MessagesRequest,
  ModerationRequest,
  RerankRequest,
  ResponseRequest,
  SpeechRequest,
  TranscriptionRequest,
  TranslationRequest,
  VideoCharacterRequest,
  VideoEditRequest,
  VideoExtensionRequest,
  VideoRemixRequest,
  VideoRequest,
} from '@tallygate/contract';
import { expect } from 'vitest';
import type * as z from 'zod';
import { COST_FIELDS } from '../cost-fields.ts';
import { GENERATION_CONFIG } from '../google-fields.ts';
import { costCheckOf } from '../index.ts';

const resourcesBeside = (entry: string): string => join(dirname(fileURLToPath(entry)), 'resources');
const googleTypes = join(dirname(fileURLToPath(import.meta.resolve('@google/genai'))), '..');
const SDKS = {
  openai: resourcesBeside(import.meta.resolve('openai')),
  anthropic: resourcesBeside(import.meta.resolve('@anthropic-ai/sdk')),
  google: googleTypes,
  cohere: join(dirname(fileURLToPath(import.meta.resolve('cohere-ai'))), 'api/client/requests'),
};
type Maker = keyof typeof SDKS;
export const typesIn = (file: string, maker: Maker = 'openai'): string =>
  readFileSync(join(SDKS[maker], `${file}.d.ts`), 'utf8').replaceAll('\r\n', '\n');

/** The members of an interface of the maker's SDK, which is generated from its OpenAPI document. */
export function membersOf(file: string, name: string, maker?: Maker): string[] {
  const body = new RegExp(`export (?:declare )?interface ${name}\\b[^{]*\\{\\n(.*?)\\n\\}`, 's').exec(typesIn(file, maker))?.[1];
  if (body === undefined) throw new Error(`${file} has no interface ${name}`);
  const members = [...body.matchAll(/^ {4}(\w+)\??:/gm)].map(([, member = '']) => member);
  // Cohere's SDK alone has names of its own, and sends those of the document.
  return maker === 'cohere' ? members.map((member) => member.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)) : members;
}

/** By the path of the operation: our schema, and the maker's interface of the same request. */
export const REQUESTS = {
  '/v1/chat/completions': [ChatCompletionRequest, 'chat/completions/completions', 'ChatCompletionCreateParamsBase'],
  '/v1/responses': [ResponseRequest, 'responses/responses', 'ResponseCreateParamsBase'],
  '/v1/messages': [MessagesRequest, 'beta/messages/messages', 'MessageCreateParamsBase', 'anthropic'],
  '/v1beta/models/:model/generateContent': [GenerateContentRequest, 'genai', 'GenerateContentConfig', 'google'],
  '/v1beta/models/:model/streamGenerateContent': [GenerateContentRequest, 'genai', 'GenerateContentConfig', 'google'],
  '/v1beta/models/:model/embedContent': [EmbedContentRequest, 'genai', 'EmbedContentConfig', 'google'],
  '/v1beta/models/:model/batchEmbedContents': [BatchEmbedContentsRequest, 'genai', 'EmbedContentConfig', 'google'],
  '/v1/responses/compact': [CompactRequest, 'responses/responses', 'ResponseCompactParams'],
  '/v1/completions': [CompletionRequest, 'completions', 'CompletionCreateParamsBase'],
  '/v1/embeddings': [EmbeddingRequest, 'embeddings', 'EmbeddingCreateParams'],
  '/v1/rerank': [RerankRequest, 'RerankRequest', 'RerankRequest', 'cohere'],
  '/v1/moderations': [ModerationRequest, 'moderations', 'ModerationCreateParams'],
  '/v1/images/generations': [ImageGenerationRequest, 'images', 'ImageGenerateParamsBase'],
  '/v1/images/edits': [ImageEditRequest, 'images', 'ImageEditParamsBase'],
  '/v1/images/variations': [ImageVariationRequest, 'images', 'ImageCreateVariationParams'],
  '/v1/audio/speech': [SpeechRequest, 'audio/speech', 'SpeechCreateParams'],
  '/v1/audio/transcriptions': [TranscriptionRequest, 'audio/transcriptions', 'TranscriptionCreateParamsBase'],
  '/v1/audio/translations': [TranslationRequest, 'audio/translations', 'TranslationCreateParams'],
  '/v1/videos': [VideoRequest, 'videos', 'VideoCreateParams'],
  '/v1/video/generations': [VideoRequest, 'videos', 'VideoCreateParams'],
  '/v1/videos/:video_id/remix': [VideoRemixRequest, 'videos', 'VideoRemixParams'],
  '/v1/videos/edits': [VideoEditRequest, 'videos', 'VideoEditParams'],
  '/v1/videos/extensions': [VideoExtensionRequest, 'videos', 'VideoExtendParams'],
  '/v1/videos/characters': [VideoCharacterRequest, 'videos', 'VideoCreateCharacterParams'],
} as const satisfies Readonly<Record<string, readonly [z.ZodObject, string, string, Maker?]>>;
export const PATHS = Object.keys(REQUESTS) as (keyof typeof REQUESTS)[];

/** What Google's SDK keeps for itself, or refuses outside of Vertex. */
const GOOGLE_SDK_ALONE = [
  ...['httpOptions', 'abortSignal', 'automaticFunctionCalling'],
  ...['modelArmorConfig', 'automaticContinuation', 'generationOutputConfig'],
  ...['mimeType', 'autoTruncate', 'documentOcr', 'audioTrackExtraction'],
];
/** Every field whose cost is kept; of Google's, whose SDK has them in one place, also those of `generationConfig`. */
export const fieldsKept = (path: string): ReadonlySet<string> =>
  new Set([
    ...Object.keys(COST_FIELDS[path] ?? {}),
    ...(path.startsWith('/v1beta/')
      ? [...Object.keys(GENERATION_CONFIG), ...Object.keys(EmbedContentRequest.shape), ...GOOGLE_SDK_ALONE]
      : []),
  ]);

export const check = (path: string, request: object) => () => costCheckOf(path)(request);
export const refusal = (code: string, param: string) => expect.objectContaining({ code, extras: expect.objectContaining({ param }) });
