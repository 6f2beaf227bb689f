import { initContract } from '@ts-rest/core';
import * as z from 'zod';
import { binary, headersA, idempotencyHeader } from '../conventions.ts';
import { inferenceHeaders, inferenceRefusals } from './headers.ts';
import { costField, fallbackModels, modelField, streamField } from './model-fields.ts';

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
    instructions: z.string().max(4096).nullable().optional(),
    response_format: z.enum(['mp3', 'opus', 'aac', 'flac', 'wav', 'pcm']).nullable().optional(),
    speed: z.number().min(0.25).max(4).nullable().optional(),
    stream_format: z.enum(['audio', 'sse']).nullable().optional().meta({ description: '`sse`: the audio as server-sent events.' }),
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
    language: z.string().max(20).nullable().optional(),
    prompt: z.string().max(32_000).nullable().optional(),
    response_format: z.enum(['json', 'text', 'srt', 'verbose_json', 'vtt', 'diarized_json']).nullable().optional(),
    temperature: z.coerce.number().min(0).max(1).nullable().optional(),
    stream: z.union([z.stringbool(), streamField]).optional(),
    include: oneOrMore(z.string()).nullable().optional(),
    timestamp_granularities: oneOrMore(z.enum(['word', 'segment']))
      .nullable()
      .optional(),
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
    prompt: z.string().max(32_000).nullable().optional(),
    response_format: z.enum(['json', 'text', 'srt', 'verbose_json', 'vtt']).nullable().optional(),
    temperature: z.coerce.number().min(0).max(1).nullable().optional(),
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

const TranscriptUsage = z.looseObject({
  type: z.enum(['tokens', 'duration']),
  seconds: z.number().optional(),
  input_tokens: z.int().optional(),
  output_tokens: z.int().optional(),
  total_tokens: z.int().optional(),
  cost: costField,
});

export const Transcript = z
  .looseObject({
    text: z.string().meta({ examples: ['The ledger sums to zero.'] }),
    usage: TranscriptUsage.optional(),
    language: z.string().optional(),
    duration: z.number().optional(),
    segments: z.array(z.looseObject({ start: z.number(), end: z.number(), text: z.string() })).optional(),
    words: z.array(z.looseObject({ word: z.string(), start: z.number(), end: z.number() })).optional(),
  })
  .meta({
    id: 'Transcript',
    description: 'What was said. With `text`, `srt` or `vtt` as the format, the answer is text instead.',
    examples: [{ text: 'The ledger sums to zero.', usage: { type: 'duration', seconds: 3, cost: 0.0003 } }],
  });
export type Transcript = z.infer<typeof Transcript>;

export const TranscriptStreamEvent = z
  .looseObject({
    type: z.string().meta({ examples: ['transcript.text.delta'] }),
    delta: z.string().optional(),
    text: z.string().optional(),
    usage: TranscriptUsage.optional(),
  })
  .meta({
    id: 'TranscriptStreamEvent',
    description: 'A piece of the text, or all of it at the end.',
    examples: [{ type: 'transcript.text.delta', delta: 'The ledger' }],
  });
export type TranscriptStreamEvent = z.infer<typeof TranscriptStreamEvent>;

export const audio = c.router({
  createTranscription: {
    method: 'POST',
    path: '/v1/audio/transcriptions',
    summary: 'Write down a recording',
    description: 'OpenAI’s transcription in all its formats, plain or streamed.',
    headers: { ...headersA, ...inferenceHeaders, ...idempotencyHeader },
    contentType: 'multipart/form-data',
    body: TranscriptionRequest.extend({ file: binary('The recording.') }),
    responses: { 200: Transcript, ...inferenceRefusals },
    metadata: {
      auth: 'bearer',
      scope: 'inference',
      tag: 'Audio',
      operationId: 'createTranscription',
      events: TranscriptStreamEvent,
    } as const,
  },
  createTranslation: {
    method: 'POST',
    path: '/v1/audio/translations',
    summary: 'Write down a recording in English',
    description: 'OpenAI’s translation of speech in any language into English text.',
    headers: { ...headersA, ...inferenceHeaders, ...idempotencyHeader },
    contentType: 'multipart/form-data',
    body: TranslationRequest.extend({ file: binary('The recording.') }),
    responses: { 200: Transcript, ...inferenceRefusals },
    metadata: { auth: 'bearer', scope: 'inference', tag: 'Audio', operationId: 'createTranslation' } as const,
  },

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
