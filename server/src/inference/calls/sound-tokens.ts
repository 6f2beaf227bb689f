import { Buffer } from 'node:buffer';
import type { SpeechRequest } from '@tallygate/contract';
import type { Delivered } from './answer-form.ts';
import type { Recordings } from './recordings/recordings.ts';

export type SpeechFormat = NonNullable<SpeechRequest['response_format']>;

/** 12 USD a million tokens of sound, and about 0.015 USD a minute (OpenAI on gpt-4o-mini-tts): 1,250 a minute, 20 a second and a little. */
const TOKENS_PER_MINUTE = 1_250;
/** OpenAI's samples without a container: 24 kHz, 16 bits, one channel. */
const PCM_BYTES_PER_SECOND = 48_000;

/**
 * More than anybody takes for a character: English has some fifteen a second, Chinese four, and figures that are read out one by one two. What
 * is more than that is slow reading and pauses.
 */
const MOST_SECONDS_PER_CHARACTER = 1;
/** Silence, breath and laughter around the text. */
const AROUND_SECONDS = 10;

/** The most tokens of sound for a text. A model that takes no notice of `speed` is never quicker than it asks for, so that lowers nothing. */
export function mostSoundTokens(characters: number, speed: number): number {
  const seconds = AROUND_SECONDS + (characters * MOST_SECONDS_PER_CHARACTER) / Math.min(1, speed);
  return tokensOf(seconds);
}

const tokensOf = (seconds: number): number => Math.ceil((seconds * TOKENS_PER_MINUTE) / 60);

/** Sound as it is kept for an estimate: pieces of base64, one a line. */
export const keptSound = (sound: Buffer): string => keptText(sound.toString('base64'));

/** The same of sound that is in base64 already. */
export const keptText = (base64: string): string => (base64 === '' ? '' : `${base64.replaceAll('\n', '')}\n`);

/** The tokens of the sound that was delivered, by how long it lasts; undefined where that cannot be read. */
export async function soundTokens({ text, scale }: Delivered, format: SpeechFormat, recordings: Recordings): Promise<number | undefined> {
  const sound = Buffer.concat(text.split('\n').map((piece) => Buffer.from(piece, 'base64')));
  if (sound.length === 0) return 0;
  if (format === 'pcm') return tokensOf((sound.length / PCM_BYTES_PER_SECOND) * scale);
  async function* bytes() {
    yield sound;
  }
  const length = await recordings.lengthOf(bytes);
  return length && tokensOf(length.mostSeconds * scale);
}
