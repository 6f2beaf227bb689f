import { initContract } from '@ts-rest/core';
import * as z from 'zod';
import { headersA, idempotencyHeader } from '../conventions.ts';
import { inferenceHeaders, inferenceRefusals } from './headers.ts';
import { fallbackModels, modelField, streamField } from './model-fields.ts';

const c = initContract();

export const SpeechRequest = z
  .looseObject({
    model: modelField('tts-1'),
    models: fallbackModels,
    input: z
      .string()
      .min(1)
      .max(4096)
      .meta({ description: 'What to say.', examples: ['The ledger sums to zero.'] }),
    voice: z
      .union([z.string().min(1).max(200), z.looseObject({ id: z.string().min(1).max(200) })], 'must be the name of a voice, or {"id": …}')
      .meta({ examples: ['alloy'] }),
    instructions: z.string().max(4096).optional(),
    response_format: z.enum(['mp3', 'opus', 'aac', 'flac', 'wav', 'pcm']).optional(),
    speed: z.number().min(0.25).max(4).optional(),
    stream_format: z.enum(['audio', 'sse']).optional().meta({ description: '`sse`: the audio as server-sent events.' }),
  })
  .meta({
    id: 'SpeechRequest',
    description: 'OpenAI’s speech request. Fields that are not listed here are passed through to the provider.',
    examples: [{ model: 'tts-1', input: 'The ledger sums to zero.', voice: 'alloy' }],
  });
export type SpeechRequest = z.infer<typeof SpeechRequest>;

const oneOrMore = <T extends z.ZodType>(item: T) => z.preprocess((value) => (typeof value === 'string' ? [value] : value), z.array(item));

/** The text fields of a transcription; the recording comes as a file beside them. A form carries every value as text. */
export const TranscriptionRequest = z
  .looseObject({
    model: modelField('whisper-1'),
    language: z.string().max(20).optional(),
    prompt: z.string().max(32_000).optional(),
    response_format: z.enum(['json', 'text', 'srt', 'verbose_json', 'vtt', 'diarized_json']).optional(),
    temperature: z.coerce.number().min(0).max(1).optional(),
    stream: z.union([z.stringbool(), streamField]).optional(),
    include: oneOrMore(z.string()).optional(),
    timestamp_granularities: oneOrMore(z.enum(['word', 'segment'])).optional(),
  })
  .meta({
    id: 'TranscriptionRequest',
    description: 'OpenAI’s transcription: a form with `file`.',
    examples: [{ model: 'whisper-1', response_format: 'json' }],
  });
export type TranscriptionRequest = z.infer<typeof TranscriptionRequest>;

/** The text fields of a translation into English; the recording comes as a file beside them. */
export const TranslationRequest = z
  .looseObject({
    model: modelField('whisper-1'),
    prompt: z.string().max(32_000).optional(),
    response_format: z.enum(['json', 'text', 'srt', 'verbose_json', 'vtt']).optional(),
    temperature: z.coerce.number().min(0).max(1).optional(),
  })
  .meta({
    id: 'TranslationRequest',
    description: 'OpenAI’s translation into English: a form with `file`.',
    examples: [{ model: 'whisper-1' }],
  });
export type TranslationRequest = z.infer<typeof TranslationRequest>;

export const Speech = c.otherResponse({
  contentType: 'audio/mpeg',
  body: z.string().meta({ format: 'binary', description: 'Audio in the format asked for, as it is made.', examples: ['(audio)'] }),
});

export const audio = c.router({
  createSpeech: {
    method: 'POST',
    path: '/v1/audio/speech',
    summary: 'Speak a text',
    description: 'OpenAI’s text to speech: audio bytes as they are made, or server-sent events with `stream_format: "sse"`.',
    headers: { ...headersA, ...inferenceHeaders, ...idempotencyHeader },
    body: SpeechRequest,
    responses: { 200: Speech, ...inferenceRefusals },
    metadata: { auth: 'bearer', scope: 'inference', tag: 'Audio', operationId: 'createSpeech' } as const,
  },
});
