import type { ChatCompletionRequest } from '@tallygate/contract';

/**
 * The sandbox's tokens: up to four UTF-8 bytes, blanks first and then what is no blank, never a part of a character.
 * So a word begins a token, as in a real tokeniser, and a text never has more tokens than bytes.
 */
const BYTES_PER_TOKEN = 4;
/** An image, a sound, a file or a video of any size. Its shortest JSON is longer than this. */
const TOKENS_PER_ATTACHMENT = 16;

const ATTACHMENTS = new Set<unknown>(['image_url', 'input_audio', 'file', 'video_url', 'input_image', 'input_file']);

function endOfToken(text: string, start: number): number {
  let bytes = 0;
  let hasWord = false;
  let at = start;
  while (at < text.length) {
    const codePoint = text.codePointAt(at) ?? 0;
    const isBlank = codePoint === 0x20 || (codePoint >= 0x09 && codePoint <= 0x0d);
    bytes += utf8Length(codePoint);
    if (at > start && (bytes > BYTES_PER_TOKEN || (isBlank && hasWord))) break;
    hasWord ||= !isBlank;
    at += codePoint > 0xffff ? 2 : 1;
  }
  return at;
}

const utf8Length = (codePoint: number): number => (codePoint < 0x80 ? 1 : codePoint < 0x800 ? 2 : codePoint < 0x10000 ? 3 : 4);

/** The tokens of a text in order; together they are the text. */
export function tokensOf(text: string): string[] {
  const tokens: string[] = [];
  for (let start = 0; start < text.length; start += tokens.at(-1)?.length ?? 1) tokens.push(text.slice(start, endOfToken(text, start)));
  return tokens;
}

/** So many characters of a request are counted one by one. Of what is longer four bytes are a token. */
const COUNTED_CHARACTERS = 65_536;

export const countTokens = (text: string): number => countTokensOf([text]);

/** Of texts that belong together. However long they are, they are counted within a few milliseconds. */
export function countTokensOf(texts: readonly string[]): number {
  let count = 0;
  let left = COUNTED_CHARACTERS;
  for (const text of texts) {
    const end = Math.min(text.length, left);
    let start = 0;
    for (; start < end; start = endOfToken(text, start)) count += 1;
    if (start < text.length) count += Math.ceil(Buffer.byteLength(start === 0 ? text : text.slice(start)) / BYTES_PER_TOKEN);
    left = Math.max(0, left - text.length);
  }
  return count;
}

export interface CutText {
  readonly text: string;
  readonly tokens: number;
  /** Whether anything is missing at the end. */
  readonly isCut: boolean;
}

/** `text` as far as `most` tokens reach. */
export function cutToTokens(text: string, most: number): CutText {
  let tokens = 0;
  let end = 0;
  for (; end < text.length && tokens < most; tokens += 1) end = endOfToken(text, end);
  return { text: text.slice(0, end), tokens, isCut: end < text.length };
}

/** A text in words, each with the blanks before it: how it is streamed. Each begins a token. */
export const wordsOf = (text: string): string[] => text.match(/[ \t-\r]*[^ \t-\r]+|[ \t-\r]+$/g) ?? [];

const CHARACTERS_PER_PIECE = 12;

/** Arguments in pieces, none of which ends inside a character: how a call is streamed. */
export const piecesOf = (text: string): string[] => text.match(new RegExp(`.{1,${CHARACTERS_PER_PIECE}}`, 'gsu')) ?? [];

/** How many pieces {@link piecesOf} makes of it, at most. */
export const mostPieces = (text: string): number => Math.ceil(text.length / CHARACTERS_PER_PIECE);

/** Of messages, tools and response format. */
export const promptTokens = ({ messages, tools, response_format }: ChatCompletionRequest): number =>
  tokensWithin([messages, tools, response_format]);

/**
 * Tokens of the values of a request: those of every text and property name, and one for every other value.
 * Never more than the request has bytes as JSON.
 */
export function tokensWithin(values: readonly unknown[]): number {
  let count = 0;
  const texts: string[] = [];
  // No recursion: how deeply a caller nests is up to the caller.
  const open = [...values];
  while (open.length > 0) {
    const value = open.pop();
    if (value === undefined) continue;
    if (typeof value === 'string') texts.push(value);
    else if (typeof value !== 'object' || value === null) count += 1;
    else if (Array.isArray(value)) for (const item of value) open.push(item);
    else if ('type' in value && ATTACHMENTS.has(value.type)) count += TOKENS_PER_ATTACHMENT;
    else {
      for (const [name, member] of Object.entries(value)) {
        texts.push(name);
        open.push(member);
      }
    }
  }
  return count + countTokensOf(texts);
}
