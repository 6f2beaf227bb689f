import type { ReceiptUsage, TranscriptionRequest, TranslationRequest } from '@tallygate/contract';
import type { UpstreamEndpoint } from '../../adapters/upstream/port.ts';
import { invalidInput } from '../../kernel/invalid-input.ts';
import { Problem } from '../../kernel/problem.ts';
import { statedUsage } from '../../kernel/stated-usage.ts';
import { writtenJson } from '../../kernel/written-json.ts';
import type { CatalogModel } from '../../money/catalog/index.ts';
import type { AnswerForm, ShownCost } from './answer-form.ts';
import type { Dialect } from './dialect.ts';
import { countText } from './estimate.ts';
import { jsonObjectOf } from './json-answer.ts';
import type { Received, ReceivedFile } from './operation.ts';
import type { Recordings } from './recordings/recordings.ts';
import { TypedEventStream } from './typed-event-stream.ts';
import { isRecord, isSaid, isUsed, NO_USAGE, partIn, readTokens, usageOfAnswer, usedUsage } from './usage.ts';
import type { Work } from './work.ts';

type Json = Readonly<Record<string, unknown>>;

/** @throws Problem `validation_failed` for what is no recording */
export const transcriptionWork = (request: TranscriptionRequest, received: Received, recordings: Recordings): Promise<Work> =>
  workOf({ endpoint: '/v1/audio/transcriptions', request, isStream: request.stream === true, needs: [] }, received, recordings);

/** @throws Problem `validation_failed` for what is no recording */
export const translationWork = (request: TranslationRequest, received: Received, recordings: Recordings): Promise<Work> =>
  workOf(
    { endpoint: '/v1/audio/translations', request, isStream: false, needs: [{ capability: 'translation', param: 'model' }] },
    received,
    recordings,
  );

interface Listening {
  readonly endpoint: Extract<UpstreamEndpoint, '/v1/audio/transcriptions' | '/v1/audio/translations'>;
  readonly request: TranscriptionRequest | TranslationRequest;
  readonly isStream: boolean;
  readonly needs: Work['needs'];
}

/** More than any transcription model takes, where the catalogue says nothing. */
const WINDOW_UNKNOWN = 1_000_000;
/** Of sound, as OpenAI counts it. */
export const TOKENS_PER_SECOND = 10;
/** Of what is said, more than anybody speaks: for recordings that are heard in parts, each of which the model's own bound limits. */
export const MOST_TOKENS_SAID_PER_SECOND = 50;

/** Recordings are paid by the second, or by the tokens of sound and text, as the model is priced. */
async function workOf({ endpoint, request, isStream, needs }: Listening, received: Received, recordings: Recordings): Promise<Work> {
  const file = onlyRecording(received.files);
  const length = await recordings.lengthOf(() => file.open());
  if (!length) throw unreadable();
  const [seconds, mostSeconds] = [length.seconds, length.mostSeconds].map((exact) => Math.max(1, Math.ceil(exact))) as [number, number];
  const format = request.response_format ?? 'json';
  const asked = { endpoint, request, files: [file] };
  const promptBytes = Buffer.byteLength(JSON.stringify(request));
  return {
    endpoint,
    model: request.model,
    fallbackModels: [],
    isStream,
    needs,
    output: null,
    cheaper: 'send a shorter recording as `file`',
    estimatedTokens: Math.ceil(Buffer.byteLength(request.prompt ?? '') / 4),
    dialects: [
      { ...asked, suits: isPricedBySecondsAlone, form: transcriptForm(format, (usage) => secondsAlone(usage, seconds)) } as Dialect,
      { ...asked, suits: isPricedBySeconds, form: transcriptForm(format, (usage) => withSeconds(usage, seconds)) } as Dialect,
      { ...asked, form: transcriptForm(format, withTokens) } as Dialect,
    ],
    bound: (model) => ({
      ...(isPricedBySecondsAlone(model) ? { inputTokens: 0 } : tokensBound(model, request, { promptBytes, mostSeconds })),
      audioSeconds: mostSeconds,
    }),
    async estimate(model, delivered, _maxOutputTokens, tokenizer) {
      if (isPricedBySeconds(model)) return { ...NO_USAGE, audio_seconds: seconds };
      const prompt = await countText(request.prompt ?? '', model, tokenizer);
      const sound = seconds * TOKENS_PER_SECOND;
      const said = Math.ceil((await countText(delivered.text, model, tokenizer)) * delivered.scale);
      return {
        ...NO_USAGE,
        input_tokens: prompt + sound,
        audio_input_tokens: sound,
        output_tokens: Math.min(said, model.maxOutputTokens ?? model.contextWindow ?? WINDOW_UNKNOWN),
      };
    },
    requestSha256: received.sha256,
  };
}

const tokensBound = (
  model: CatalogModel,
  request: Listening['request'],
  { promptBytes, mostSeconds }: { readonly promptBytes: number; readonly mostSeconds: number },
) => ({
  inputTokens: promptBytes + Math.max(model.contextWindow ?? WINDOW_UNKNOWN, mostSeconds * TOKENS_PER_SECOND),
  fixedOutputTokens: Math.max(
    model.maxOutputTokens ?? model.contextWindow ?? WINDOW_UNKNOWN,
    request['chunking_strategy'] ? mostSeconds * MOST_TOKENS_SAID_PER_SECOND : 0,
  ),
});

/** Of what cannot be read nobody knows how long it is, so no cap could hold it. */
const unreadable = (): Problem =>
  invalidInput([
    {
      loc: ['body', 'file'],
      msg: 'cannot be read as a recording: send FLAC, MP3, MP4, M4A, AAC, Ogg (Opus, Vorbis, FLAC, Speex), WAV (uncompressed), WebM or AMR',
      type: 'unreadable',
    },
  ]);

function onlyRecording(files: readonly ReceivedFile[]): ReceivedFile {
  const [file, ...others] = files;
  if (file && others.length === 0 && file.field === 'file' && file.bytes > 0) return file;
  const msg = 'Expected one recording, as a file with content';
  throw new Problem('validation_failed', `\`file\` is missing or wrong: ${msg.toLowerCase()}.`, {
    param: 'file',
    errors: [{ loc: ['body', 'file'], msg, type: 'missing' }],
  });
}

const TEXT_TYPES: Readonly<Record<string, string>> = {
  text: 'text/plain; charset=utf-8',
  srt: 'application/x-subrip; charset=utf-8',
  vtt: 'text/vtt; charset=utf-8',
};

const isPricedBySeconds = ({ meters }: CatalogModel): boolean => meters.has('audio_seconds');

const TOKEN_METERS = ['input_tokens', 'audio_input_tokens', 'output_tokens'] as const;

const isPricedBySecondsAlone = ({ meters }: CatalogModel): boolean =>
  meters.has('audio_seconds') && !TOKEN_METERS.some((meter) => meters.has(meter));

/** Tokens that its provider tells are not what is charged: they would take from a plan's quota what costs nothing. */
const secondsAlone = (usage: ReceiptUsage | undefined, seconds: number): ReceiptUsage | undefined =>
  isUsed(usage) ? { ...NO_USAGE, audio_seconds: usage?.audio_seconds ?? seconds } : usage;

/** What is priced by the second is charged by the length of the recording where its provider counts tokens. */
const withSeconds = (usage: ReceiptUsage | undefined, seconds: number): ReceiptUsage | undefined =>
  isUsed(usage) && usage?.audio_seconds === undefined ? { ...NO_USAGE, ...usage, audio_seconds: seconds } : usage;

/** What is priced by tokens is charged by our count where its provider counts seconds. */
const withTokens = (usage: ReceiptUsage | undefined): ReceiptUsage | undefined =>
  usage?.audio_seconds !== undefined && usage.input_tokens + usage.output_tokens === 0 ? undefined : usage;

type Charged = (usage: ReceiptUsage | undefined) => ReceiptUsage | undefined;

const transcriptForm = (format: string, charged: Charged): AnswerForm => ({
  async read(bytes, contentType) {
    const textType = TEXT_TYPES[format];
    if (textType !== undefined) {
      if (bytes.length === 0 || /^text\/html/i.test(contentType ?? '')) return undefined;
      // Plain text has no place for usage: it is estimated by the length of the recording.
      const delivered = { text: bytes.toString('utf8'), scale: 1 };
      return { contentType: textType, usage: undefined, delivered, value: undefined, toBytes: () => bytes };
    }
    const value = await jsonObjectOf(bytes);
    const text = value?.['text'];
    if (!value || typeof text !== 'string') return undefined;
    const { usage, usageSaid } = usageOfAnswer(readTranscriptUsage(statedUsage(value), value['duration']), () => text !== '');
    return {
      contentType: 'application/json',
      usage: charged(usage),
      usageSaid: charged(usageSaid),
      delivered: { text, scale: 1 },
      value,
      toBytes: (cost) => writtenJson({ ...value, usage: shownUsage(value['usage'], cost) }),
    };
  },
  usageIn: (usage) => charged(usedUsage(readTranscriptUsage(usage, undefined))),
  openStream: () =>
    new TypedEventStream({
      isWatched: (type) => type === 'transcript.text.done',
      isFinal: (type) => type === 'transcript.text.done',
      readUsage: (event) => charged(readTranscriptUsage(statedUsage(event), undefined)),
      withCost: (final, cost) => ({ ...final, usage: shownUsage(final['usage'], cost) }),
      textOf: ({ delta }) => (typeof delta === 'string' ? delta : ''),
      wholeTextOf: ({ text }) => (typeof text === 'string' ? text : ''),
    }),
});

/** What is charged for a transcript by the usage that its provider told with it. @param seconds of what was heard */
export function transcriptUsage(usage: unknown, model: CatalogModel, seconds: number): ReceiptUsage | undefined {
  const said = usedUsage(readTranscriptUsage(usage, undefined));
  if (isPricedBySecondsAlone(model)) return secondsAlone(said, seconds);
  return isPricedBySeconds(model) ? withSeconds(said, seconds) : withTokens(said);
}

/** OpenAI's two kinds of usage, by the second and by tokens; `verbose_json` of older servers has a duration at its top. */
function readTranscriptUsage(usage: unknown, duration: unknown): ReceiptUsage | undefined {
  if (isRecord(usage) && usage['type'] !== 'duration') {
    const tokens = readTokens(usage);
    if (!tokens) return undefined;
    const { input, output, inputDetails } = tokens;
    const sound = partIn(inputDetails, 'audio_tokens', input) ?? 0;
    return { ...NO_USAGE, input_tokens: input, output_tokens: output, ...(sound > 0 && { audio_input_tokens: sound }) };
  }
  const told = isRecord(usage) ? usage['seconds'] : duration;
  const seconds = typeof told === 'string' && told.trim() !== '' ? Number(told) : told;
  return typeof seconds === 'number' && Number.isFinite(seconds) && seconds >= 0 && seconds < LONGEST_SECONDS
    ? { ...NO_USAGE, ...(seconds > 0 && { audio_seconds: Math.ceil(seconds) }) }
    : undefined;
}

const LONGEST_SECONDS = 10_000_000;

const countedUsage = ({ audio_seconds, input_tokens, output_tokens }: ReceiptUsage): Json =>
  audio_seconds === undefined && input_tokens > 0
    ? { type: 'tokens', input_tokens, output_tokens, total_tokens: input_tokens + output_tokens }
    : { type: 'duration', seconds: audio_seconds ?? 0 };

const shownUsage = (reported: unknown, { usage, costUsd }: ShownCost): Json => ({
  ...(isRecord(reported) && isSaid(readTranscriptUsage(reported, undefined), usage) ? reported : countedUsage(usage)),
  cost: costUsd,
});
