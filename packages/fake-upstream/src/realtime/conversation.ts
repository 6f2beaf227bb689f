import { type Fields, isFields } from '../fields.ts';
import { NO_TOKENS, plus, type Tokens } from './response-step.ts';

const BYTES_PER_TEXT_TOKEN = 4;
/** 100 ms of 16-bit sound at 24 kHz. */
const BYTES_PER_AUDIO_TOKEN = 4_800;

export const textTokens = (text: unknown): number =>
  typeof text === 'string' ? Math.ceil(Buffer.byteLength(text) / BYTES_PER_TEXT_TOKEN) : 0;

export const audioTokens = (bytes: number): number => Math.ceil(bytes / BYTES_PER_AUDIO_TOKEN);

/** What an item counts as, when a response reads it. */
export function tokensOf(item: unknown): Tokens {
  if (!isFields(item)) return NO_TOKENS;
  const content: unknown[] = Array.isArray(item['content']) ? item['content'] : [];
  const parts = content.map((part): Tokens => {
    const { text, transcript, audio }: Fields = isFields(part) ? part : {};
    const bytes = typeof audio === 'string' ? Buffer.from(audio, 'base64').length : 0;
    return { text: textTokens(text) + textTokens(transcript), audio: audioTokens(bytes) };
  });
  const called = textTokens(item['output']) + textTokens(item['arguments']);
  return parts.reduce(plus, { text: called, audio: 0 });
}
