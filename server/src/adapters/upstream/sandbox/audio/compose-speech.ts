import type { SpeechRequest } from '@tallygate/contract';
import { billed } from '../billing.ts';
import { type Composer, dataEvent, type Piece } from '../composition.ts';
import { made } from '../delivery.ts';
import { countTokens } from '../tokens.ts';
import { pcm, type Speech, wav } from './containers.ts';
import { flac } from './flac.ts';
import { melodyOf, SAMPLE_RATE, UNIT_SAMPLES, unitsOf } from './melody.ts';
import { mp3 } from './mp3.ts';
import { aac, opus } from './silent.ts';

type Format = NonNullable<SpeechRequest['response_format']>;

const FORMATS: { readonly [F in Format]: { readonly contentType: string; readonly encode: (speech: Speech) => Piece[] } } = {
  mp3: { contentType: 'audio/mpeg', encode: mp3 },
  opus: { contentType: 'audio/ogg', encode: opus },
  aac: { contentType: 'audio/aac', encode: aac },
  flac: { contentType: 'audio/flac', encode: flac },
  wav: { contentType: 'audio/wav', encode: wav },
  pcm: { contentType: 'audio/pcm', encode: pcm },
};
/** As gpt-4o-mini-tts bills its sound. */
const TOKENS_PER_SECOND = 20;

/** A soft tone for every word, as long as a voice would take. */
export const composeSpeech: Composer<'/v1/audio/speech'> = ({ request }, { fault }) => {
  const { input, voice } = request;
  const melody = melodyOf(input, typeof voice === 'string' ? voice : voice.id, request.speed ?? 1);
  const { contentType, encode } = FORMATS[request.response_format ?? 'mp3'];
  const pieces = encode({ text: input, melody });
  // Plain audio is a stream as well, of bytes: the format alone decides.
  if (request.stream_format !== 'sse') return { ok: true, contentType, pieces };
  const seconds = (unitsOf(melody) * UNIT_SAMPLES) / SAMPLE_RATE;
  const input_tokens = countTokens(input);
  const usage = billed(usageOf(input_tokens, Math.ceil(seconds * TOKENS_PER_SECOND)), fault, ({ output_tokens }) =>
    usageOf(input_tokens, 2 * output_tokens + 16),
  );
  const deltas = pieces.map((piece) => () => dataEvent({ type: 'speech.audio.delta', audio: made(piece).toString('base64') }));
  return {
    ok: true,
    events: [
      ...deltas.map((text) => ({ part: 'content', text }) as const),
      { part: 'closing', text: dataEvent({ type: 'speech.audio.done', usage }) },
    ],
    failure: (error) => dataEvent({ type: 'error', error }),
  };
};

const usageOf = (input_tokens: number, output_tokens: number) => ({
  input_tokens,
  output_tokens,
  total_tokens: input_tokens + output_tokens,
});
