import type { TranscriptionRequest } from '@tallygate/contract';
import type { UpstreamCallOf } from '../../port.ts';
import { billed } from '../billing.ts';
import { type Circumstances, type Composition, dataEvent, type EventStream, type StreamEvent } from '../composition.ts';
import type { SandboxFault } from '../faults.ts';
import { endsOf } from '../files.ts';
import { type Rejection, rejection } from '../rejection.ts';
import { countTokens, cutToTokens, wordsOf } from '../tokens.ts';
import { carriedText } from './carried-text.ts';
import { durationOf } from './duration.ts';
import { type Transcript, transcriptOf } from './transcript.ts';
import { speakers, type Told, transcriptBody, transcriptLogprobs, wantsLogprobs } from './transcript-bodies.ts';

type Call = UpstreamCallOf<'/v1/audio/transcriptions'> | UpstreamCallOf<'/v1/audio/translations'>;

/** As gpt-4o-transcribe bills what it hears, how much of it it hears at most, and how much it says. */
const TOKENS_PER_SECOND = 10;
const MOST_AUDIO_TOKENS = 16_000;
const MOST_TOKENS = 2000;

/** What a recording that the sandbox itself has spoken says, or how long another one is. */
export async function composeTranscription(call: Call, { fault }: Circumstances): Promise<Composition | Rejection> {
  const file = call.files?.find(({ field }) => field === 'file');
  if (!file || file.bytes === 0) return rejection('Expected a recording in `file`.', { param: 'file', code: 'invalid_file' });
  const ends = await endsOf(file);
  const seconds = durationOf(ends, file.bytes);
  const text = carriedText(ends.head) ?? description(file.filename, seconds);
  const transcript = transcriptOf(cutToTokens(text, MOST_TOKENS).text, seconds);
  const told: Told = {
    task: call.endpoint === '/v1/audio/translations' ? 'translate' : 'transcribe',
    transcript,
    usage: usageOf(call, transcript, fault),
    request: call.request,
  };
  return call.stream ? streamed(told) : transcriptBody(told);
}

const description = (filename: string, seconds: number): string =>
  `This is what Tallygate's sandbox makes of ${filename.slice(0, 80)}: ${seconds} seconds of sound. Nobody has listened to it. Speech that the sandbox itself has made is given back word by word.`;

/** Whisper is billed by the second, every other model by tokens of sound. */
function usageOf({ model, request }: Call, { text, seconds }: Transcript, fault: SandboxFault | undefined): object | undefined {
  const byDuration = (length: number) => ({ type: 'duration', seconds: length });
  if (/whisper/i.test(model)) return billed(byDuration(Math.ceil(seconds)), fault, (usage) => byDuration(2 * usage.seconds + 16));
  const byTokens = (output_tokens: number) => {
    const details = {
      text_tokens: countTokens(request.prompt ?? ''),
      audio_tokens: Math.min(MOST_AUDIO_TOKENS, Math.ceil(seconds * TOKENS_PER_SECOND)),
    };
    const input_tokens = details.text_tokens + details.audio_tokens;
    return { type: 'tokens', input_tokens, input_token_details: details, output_tokens, total_tokens: input_tokens + output_tokens };
  };
  return billed(byTokens(countTokens(text)), fault, (usage) => byTokens(2 * usage.output_tokens + 16));
}

/** Words as they are heard, then the whole; segments in between where speakers are asked for. */
function streamed({ transcript, usage, request }: Told): EventStream {
  const events: StreamEvent[] = isDiarized(request)
    ? speakers(transcript, request).flatMap((segment) => [...deltas(segment.text, request, segment.id), event('opening', segment)])
    : deltas(transcript.text, request);
  const { text } = transcript;
  const logprobs = wantsLogprobs(request) ? transcriptLogprobs(text) : undefined;
  return {
    ok: true,
    events: [...events, event('closing', { type: 'transcript.text.done', text, logprobs, usage })],
    failure: (error) => dataEvent({ type: 'error', error }),
  };
}

const isDiarized = ({ response_format: format }: TranscriptionRequest): boolean => format === 'diarized_json';

const event = (part: StreamEvent['part'], data: object): StreamEvent => ({ part, text: dataEvent(data) });

const deltas = (text: string, request: TranscriptionRequest, segment_id?: string): StreamEvent[] =>
  wordsOf(text).map((delta) =>
    event('content', {
      type: 'transcript.text.delta',
      delta,
      segment_id,
      logprobs: wantsLogprobs(request) ? transcriptLogprobs(delta) : undefined,
    }),
  );
