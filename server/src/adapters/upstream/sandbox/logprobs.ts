import { tokensOf } from './tokens.ts';

interface TokenLogprob {
  readonly token: string;
  /** Natural logarithm of the token's probability. */
  readonly logprob: number;
  readonly bytes: readonly number[];
}

export interface Logprobs {
  readonly content: readonly (TokenLogprob & { readonly top_logprobs: readonly TokenLogprob[] })[];
  readonly refusal: null;
}

/** Tokens that might have stood there instead, as far as a sandbox can tell. */
const OTHERS = [
  ' the',
  ' a',
  ' I',
  '.',
  ',',
  ' to',
  ' and',
  ' of',
  ' it',
  ' is',
  ' you',
  ' in',
  ' that',
  ' for',
  '!',
  '?',
  ' on',
  ' so',
  ' as',
  ' we',
];

const entry = (token: string, probability: number): TokenLogprob => ({
  token,
  logprob: Math.log(probability),
  bytes: [...Buffer.from(token)],
});

/**
 * OpenAI's `logprobs` of a text: every token with a probability between 0.9 and 0.99, and `alternatives` tokens that could have
 * stood there, itself first, whose probabilities together stay below 1.
 */
export function logprobsOf(text: string, alternatives: number): Logprobs {
  const content = tokensOf(text).map((token) => {
    const own = entry(token, 0.9 + (token.length % 4) * 0.03);
    const others = OTHERS.filter((other) => other !== token).slice(0, Math.max(0, alternatives - 1));
    const ranked = others.map((other, index) => entry(other, 0.01 / 2 ** (index + 1)));
    return { ...own, top_logprobs: alternatives > 0 ? [own, ...ranked] : [] };
  });
  return { content, refusal: null };
}
