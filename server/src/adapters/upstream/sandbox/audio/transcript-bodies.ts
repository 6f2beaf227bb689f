import type { TranscriptionRequest } from '@tallygate/contract';
import { jsonBody, type PlainBody } from '../composition.ts';
import { logprobsOf } from '../logprobs.ts';
import { tokensOf } from '../tokens.ts';
import { type Stretch, type Transcript, timestamp } from './transcript.ts';

/** A transcription or a translation, in any of OpenAI's formats. */
export interface Told {
  readonly task: 'transcribe' | 'translate';
  readonly transcript: Transcript;
  readonly usage: object | undefined;
  readonly request: TranscriptionRequest;
}

export function transcriptBody(told: Told): PlainBody {
  const { transcript, usage, request } = told;
  const format = request.response_format ?? 'json';
  switch (format) {
    case 'json':
      return jsonBody({ text: transcript.text, logprobs: wantsLogprobs(request) ? transcriptLogprobs(transcript.text) : undefined, usage });
    case 'text':
      return textBody(`${transcript.text}\n`);
    case 'srt':
      return textBody(transcript.segments.map((segment, index) => `${index + 1}\n${times(segment, ',')}\n${segment.text}\n\n`).join(''));
    case 'vtt':
      return textBody(`WEBVTT\n\n${transcript.segments.map((segment) => `${times(segment, '.')}\n${segment.text}\n\n`).join('')}`);
    case 'verbose_json':
      return jsonBody(verbose(told));
    case 'diarized_json':
      return jsonBody({
        task: told.task,
        duration: transcript.seconds,
        text: transcript.text,
        segments: speakers(transcript, request),
        usage,
      });
    default:
      return format satisfies never;
  }
}

const textBody = (text: string): PlainBody => ({ ok: true, contentType: 'text/plain; charset=utf-8', pieces: [text] });

const times = ({ start, end }: Stretch, separator: ',' | '.'): string => `${timestamp(start, separator)} --> ${timestamp(end, separator)}`;

/** Words where they are asked for; segments where they are, or where nothing is. */
function verbose({ task, transcript, usage, request }: Told): object {
  const granularities = request.timestamp_granularities ?? ['segment'];
  return {
    task,
    language: task === 'translate' ? 'english' : (request.language ?? 'english'),
    duration: transcript.seconds,
    text: transcript.text,
    ...(granularities.includes('word') && { words: transcript.words.map(({ text, start, end }) => ({ word: text, start, end })) }),
    ...(granularities.includes('segment') && { segments: transcript.segments.map((segment, id) => verboseSegment(segment, id, request)) }),
    usage,
  };
}

const verboseSegment = ({ text, start, end }: Stretch, id: number, { temperature = 0 }: TranscriptionRequest) => ({
  id,
  seek: Math.round(start * 100),
  start,
  end,
  text: ` ${text}`,
  tokens: tokensOf(` ${text}`).map((token) => 220 + Buffer.from(token).reduce((sum, byte) => (sum * 31 + byte) % 50_000, 0)),
  temperature,
  avg_logprob: -0.1,
  compression_ratio: 1.2,
  no_speech_prob: 0.01,
});

/** Each segment with who said it: the speakers that are known by name, else two of them, by turns. */
export function speakers({ segments }: Transcript, request: TranscriptionRequest) {
  const { known_speaker_names: known } = request;
  const names = Array.isArray(known) && known.length > 0 ? known.map(String) : ['A', 'B'];
  return segments.map(({ text, start, end }, index) => ({
    id: `seg_${String(index).padStart(3, '0')}`,
    type: 'transcript.text.segment' as const,
    start,
    end,
    text: ` ${text}`,
    speaker: names[index % names.length],
  }));
}

export const wantsLogprobs = ({ include }: TranscriptionRequest): boolean => include?.includes('logprobs') ?? false;

export const transcriptLogprobs = (text: string) =>
  logprobsOf(text, 0).content.map(({ token, logprob, bytes }) => ({ token, logprob, bytes }));
