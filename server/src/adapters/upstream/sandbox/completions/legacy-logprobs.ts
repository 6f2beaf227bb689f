import { logprobsOf } from '../logprobs.ts';

/** The `logprobs` of OpenAI's older completions: lists of one length, with the place of each token in the text. */
export interface LegacyLogprobs {
  readonly tokens: readonly string[];
  /** Natural logarithms. */
  readonly token_logprobs: readonly number[];
  readonly top_logprobs: readonly Readonly<Record<string, number>>[] | null;
  /** Counted in UTF-16 units, as JavaScript does. */
  readonly text_offset: readonly number[];
}

/** @param offset where in the choice the text begins */
export function legacyLogprobs(text: string, alternatives: number, offset: number): LegacyLogprobs {
  const { content } = logprobsOf(text, alternatives);
  let at = offset;
  const text_offset = content.map(({ token }) => {
    const start = at;
    at += token.length;
    return start;
  });
  return {
    tokens: content.map(({ token }) => token),
    token_logprobs: content.map(({ logprob }) => logprob),
    top_logprobs:
      alternatives === 0
        ? null
        : content.map(({ top_logprobs }) => Object.fromEntries(top_logprobs.map(({ token, logprob }) => [token, logprob]))),
    text_offset,
  };
}
