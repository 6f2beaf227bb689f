import type { ReceiptUsage, SpeechRequest } from '@tallygate/contract';
import type { CatalogModel } from '../../money/catalog/index.ts';
import { bytesForm } from './byte-stream.ts';
import { countText } from './estimate.ts';
import type { Received } from './operation.ts';
import type { Recordings } from './recordings/recordings.ts';
import { mostSoundTokens, soundTokens } from './sound-tokens.ts';
import { soundEventForm, soundForm } from './speech-form.ts';
import { type EventForm, TypedEventStream } from './typed-event-stream.ts';
import { isRecord, NO_USAGE } from './usage.ts';
import type { Work } from './work.ts';

const ENDPOINT = '/v1/audio/speech';
/** What stands around the text when a model reads it, tokens. */
const AROUND_TOKENS = 64;

/**
 * Speech is priced by the characters of its text, so that what it costs is known before it is made; or by tokens, those of the text and those
 * of the sound. Of these the provider tells only at the end of events, so it is asked for events, and plain sound is made of them here.
 */
export function speechWork(request: SpeechRequest, { sha256 }: Received, recordings: Recordings): Work {
  const characters = [...request.input].length;
  return {
    endpoint: ENDPOINT,
    model: request.model,
    fallbackModels: request.models ?? [],
    isStream: true,
    ...(request.stream_format !== 'sse' && { mayBeWhole: true }),
    needs: [],
    output: null,
    cheaper: 'shorten `input`',
    estimatedTokens: characters,
    dialects: dialectsOf(request, { ...NO_USAGE, input_characters: characters }),
    ...countingOf(request, characters, recordings),
    requestSha256: sha256,
  };
}

/** Plain sound where it is priced by characters; events where the provider has them, since only they tell of tokens. */
function dialectsOf(request: SpeechRequest, usage: ReceiptUsage): Work['dialects'] {
  const form = bytesForm(usage);
  const isEvents = request.stream_format === 'sse';
  const soundOf = () => (isEvents ? soundEventForm() : soundForm(request.response_format ?? 'mp3'));
  return [
    {
      endpoint: ENDPOINT,
      request,
      suits: (model) => !isPricedByTokens(model),
      form: isEvents ? { ...form, openStream: () => new TypedEventStream(eventForm(usage)) } : form,
    },
    {
      endpoint: ENDPOINT,
      request: { ...request, stream_format: 'sse' },
      suits: ({ capabilities }) => capabilities.has('streaming'),
      form: soundOf(),
    },
    { endpoint: ENDPOINT, request, form: soundOf() },
  ];
}

/** The most that it can use, and what it used where the provider does not say. */
function countingOf(request: SpeechRequest, characters: number, recordings: Recordings): Pick<Work, 'bound' | 'countedBound' | 'estimate'> {
  const texts = [request.input, request.instructions ?? ''];
  const fixedOutputTokens = mostSoundTokens(characters, request.speed ?? 1);
  const mostInputTokens = Buffer.byteLength(JSON.stringify(request)) + AROUND_TOKENS;
  const boundOf = (model: CatalogModel, inputTokens: number) => ({
    ...(isPricedByTokens(model) ? { inputTokens, fixedOutputTokens } : { inputTokens: 0 }),
    ...(isPricedByCharacters(model) && { inputCharacters: characters }),
  });
  return {
    bound: (model) => boundOf(model, mostInputTokens),
    async countedBound(model, tokenizer) {
      if (!model.tokenizer || !isPricedByTokens(model)) return undefined;
      const counted = await tokenizer.count(model.tokenizer, texts.join('\u0000'));
      return counted === undefined ? undefined : boundOf(model, counted + AROUND_TOKENS);
    },
    async estimate(model, delivered, _maxOutputTokens, tokenizer) {
      if (!isPricedByTokens(model)) return { ...NO_USAGE, input_characters: characters };
      const text = (await countText(texts.join('\n'), model, tokenizer)) + AROUND_TOKENS;
      const heard = await soundTokens(delivered, request.response_format ?? 'mp3', recordings);
      return {
        ...NO_USAGE,
        input_tokens: Math.min(text, mostInputTokens),
        output_tokens: Math.min(heard ?? fixedOutputTokens, fixedOutputTokens),
        ...(isPricedByCharacters(model) && { input_characters: characters }),
      };
    },
  };
}

const isPricedByCharacters = ({ meters }: CatalogModel): boolean => meters.has('input_characters');
const isPricedByTokens = ({ meters }: CatalogModel): boolean => meters.has('output_tokens');

const eventForm = (usage: ReceiptUsage): EventForm => ({
  isWatched: (type) => type === 'speech.audio.done',
  isFinal: (type) => type === 'speech.audio.done',
  // The tokens that some models report are not what is charged.
  readUsage: ({ type }) => (type === 'speech.audio.done' ? usage : undefined),
  withCost: (final, { costUsd }) => ({ ...final, usage: { ...(isRecord(final['usage']) ? final['usage'] : {}), cost: costUsd } }),
  textOf: () => '',
});
