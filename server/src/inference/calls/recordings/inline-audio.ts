import { Buffer } from 'node:buffer';
import type { Recordings } from './recordings.ts';

/** The most that a maker counts: Google 32 a second, OpenAI 10; and what is around it. */
const TOKENS_PER_SECOND = 32;
const AROUND_TOKENS = 16;

/**
 * The most tokens that audio inside of a request takes.
 * @param audio base64
 * @returns undefined where one of them cannot be read: it may be of any length
 */
export async function inlineAudioTokens(audio: readonly unknown[], recordings: Recordings): Promise<number | undefined> {
  let tokens = 0;
  for (const base64 of audio) {
    if (typeof base64 !== 'string') return undefined;
    async function* bytes() {
      yield Buffer.from(String(base64), 'base64');
    }
    const length = await recordings.lengthOf(bytes);
    if (!length) return undefined;
    tokens += Math.ceil(length.mostSeconds * TOKENS_PER_SECOND) + AROUND_TOKENS;
  }
  return tokens;
}
