import type { Encoding } from './tokenizer.ts';

const LONGEST_RUN = 512;
const LONG_RUN = /\s{513,}|\S{513,}/gu;

const vocabularies = {
  o200k_base: () => import('gpt-tokenizer/encoding/o200k_base'),
  cl100k_base: () => import('gpt-tokenizer/encoding/cl100k_base'),
};

/** Resolves once texts can be counted; at once where it was loaded before. */
export const loadVocabulary = (encoding: Encoding) => vocabularies[encoding]();

/**
 * Byte-pair encoding is quadratic in a run without a natural boundary (openai/tiktoken#195): 200,000 times "a" takes 20 seconds.
 * So runs are cut at 512 characters first. A cut can only add tokens, which an upper bound may do; it also may not split a surrogate pair,
 * which the `u` flag and the slicing by code points see to.
 */
export async function countTokensGuarded(encoding: Encoding, text: string): Promise<number> {
  const { countTokens } = await loadVocabulary(encoding);
  // A prompt that spells a control token (`<|endoftext|>`) is text here; the library would throw.
  const options = { disallowedSpecial: new Set<string>() };
  let tokens = 0;
  let from = 0;
  for (const match of text.matchAll(LONG_RUN)) {
    tokens += countTokens(text.slice(from, match.index), options) + countRun(match[0], (piece) => countTokens(piece, options));
    from = match.index + match[0].length;
  }
  return tokens + countTokens(text.slice(from), options);
}

function countRun(run: string, count: (piece: string) => number): number {
  const points = [...run];
  let tokens = 0;
  for (let at = 0; at < points.length; at += LONGEST_RUN) tokens += count(points.slice(at, at + LONGEST_RUN).join(''));
  return tokens;
}
