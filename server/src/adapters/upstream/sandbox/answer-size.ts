import { type Rejection, rejection } from './rejection.ts';

/** Of one answer. Whoever asks for more with a few hundred bytes wants to see the gateway at its limits, not an answer. */
const MOST_BYTES = 2 * 1024 * 1024;
const TOKEN_BYTES = 4;
/** What the frame of a choice takes. */
const CHOICE_BYTES = 200;
/** One entry of `logprobs`, of the token itself or of one that could have stood there. */
const LOGPROB_BYTES = 70;

export interface AnswerSize {
  readonly choices: number;
  /** Of all choices together. */
  readonly tokens: number;
  /** Entries of `logprobs` for each token: none, or one and the alternatives. */
  readonly logprobs: number;
}

/** What an answer with several choices, or with log probabilities, comes to is known before it is made. */
export function tooLarge({ choices, tokens, logprobs }: AnswerSize): Rejection | undefined {
  if (choices === 1 && logprobs === 0) return undefined;
  const bytes = choices * CHOICE_BYTES + tokens * (TOKEN_BYTES + logprobs * LOGPROB_BYTES);
  if (bytes <= MOST_BYTES) return undefined;
  const message = `The sandbox answers with at most ${MOST_BYTES} bytes, and this would take about ${bytes}: lower n or logprobs, or send fewer prompts.`;
  return rejection(message, { param: choices > 1 ? 'n' : 'logprobs', code: 'answer_too_large' });
}
