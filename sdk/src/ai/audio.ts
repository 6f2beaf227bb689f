import type { Transcript } from '../generated/models.ts';
import { formOf } from '../transport/form.ts';
import { metadata } from './metadata.ts';
import { gatewayCall, type SpeechModel, type TranscriptionModel } from './models.ts';
import { type Endpoint, headersOf, post } from './post.ts';

type Warning = Awaited<ReturnType<SpeechModel['doGenerate']>>['warnings'][number];

const FORMATS = new Set<string | undefined>(['mp3', 'opus', 'aac', 'flac', 'wav', 'pcm']);
const DEFAULT_VOICE = 'alloy';

/** Speech as the AI SDK asks for it. */
export function speechModel(modelId: string, endpoint: Endpoint): SpeechModel {
  return {
    specificationVersion: 'v4',
    provider: 'tallygate.speech',
    modelId,
    async doGenerate(given) {
      const { text, voice = DEFAULT_VOICE, outputFormat = 'mp3', instructions, speed, language, ...options } = given;
      const isKnown = FORMATS.has(outputFormat);
      const warnings: Warning[] = [
        ...(isKnown ? [] : [unsupported('outputFormat', `"${outputFormat}" is not made; the answer is mp3.`)]),
        ...(language === undefined ? [] : [unsupported('language', 'Speech is in the language of its text.')]),
      ];
      const { headers = {}, providerOptions, abortSignal: signal } = gatewayCall(options);
      const spoken = { model: modelId, input: text, voice, response_format: isKnown ? outputFormat : 'mp3' };
      const body = { ...spoken, ...(instructions && { instructions }), ...(speed && { speed }), ...providerOptions?.['tallygate'] };
      const timestamp = new Date();
      const answer = await post(endpoint, { path: '/audio/speech', body, headers, signal });
      const audio = new Uint8Array(await answer.arrayBuffer());
      return { audio, warnings, request: { body: JSON.stringify(body) }, ...about(answer, timestamp, modelId) };
    },
  };
}

/** Transcription as the AI SDK asks for it: with its segments from the models that know them. */
export function transcriptionModel(modelId: string, endpoint: Endpoint): TranscriptionModel {
  return {
    specificationVersion: 'v4',
    provider: 'tallygate.transcription',
    modelId,
    async doGenerate(given) {
      const { audio, mediaType, timestampGranularities: wanted, ...options } = given;
      // The models after it give the text alone.
      const hasTimes = modelId.startsWith('whisper');
      const { headers = {}, providerOptions, abortSignal: signal } = gatewayCall(options);
      const file = new File([typeof audio === 'string' ? bytesOf(audio) : new Uint8Array(audio)], `audio.${extensionOf(mediaType)}`, {
        type: mediaType,
      });
      const times = hasTimes && { response_format: 'verbose_json', timestamp_granularities: wanted?.length ? wanted : undefined };
      const body = formOf({ model: modelId, file, ...times, ...providerOptions?.['tallygate'] });
      const timestamp = new Date();
      const answer = await post(endpoint, { path: '/audio/transcriptions', body, headers, signal });
      const heard = (await answer.json()) as Transcript;
      const isLacking = !hasTimes && wanted !== undefined && wanted.length > 0;
      return {
        text: heard.text,
        segments: (heard.segments ?? []).map(({ text, start, end }) => ({ text, startSecond: start, endSecond: end })),
        ...(heard.words && { words: heard.words.map(({ word, start, end }) => ({ text: word, startSecond: start, endSecond: end })) }),
        language: languageCode(heard.language),
        durationInSeconds: heard.duration ?? heard.usage?.seconds,
        warnings: isLacking ? [unsupported('timestampGranularities', `${modelId} tells no times.`)] : [],
        ...about(answer, timestamp, modelId, heard),
      };
    },
  };
}

const unsupported = (feature: string, details: string): Warning => ({ type: 'unsupported', feature, details });

function about(answer: Response, timestamp: Date, modelId: string, body?: Transcript) {
  const headers = headersOf(answer);
  return {
    response: { timestamp, modelId, headers, ...(body && { body }) },
    providerMetadata: { tallygate: metadata(headers, body?.usage) },
  };
}

const bytesOf = (base64: string): Uint8Array<ArrayBuffer> => Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));

/** By which some models know the format. */
function extensionOf(mediaType: string): string {
  const [, subtype = 'wav'] = mediaType.toLowerCase().split(/[/;]/);
  return EXTENSIONS[subtype] ?? subtype.replace(/^x-/, '');
}

const EXTENSIONS: Readonly<Record<string, string>> = {
  mpeg: 'mp3',
  'x-mpeg': 'mp3',
  mp4: 'm4a',
  'x-m4a': 'm4a',
  opus: 'ogg',
  'vnd.wave': 'wav',
};

/** ISO 639-1, as the AI SDK has it: models say `english`. The runtime knows the names, so that no list of them is needed. */
function languageCode(said: string | undefined): string | undefined {
  if (said === undefined || said.length <= 3) return said;
  const names = new Intl.DisplayNames(['en'], { type: 'language' });
  const letters = [...'abcdefghijklmnopqrstuvwxyz'];
  return letters.flatMap((a) => letters.map((b) => `${a}${b}`)).find((code) => names.of(code)?.toLowerCase() === said.toLowerCase());
}
