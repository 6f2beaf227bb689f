import { type Rejection, rejection } from './rejection.ts';

/** Of one answer that is made of words, whole or as a stream. A request of a few hundred bytes can ask for many times as much. */
const MOST_BYTES = 2 * 1024 * 1024;
/** What the frame of a choice takes in an answer that is no stream. */
const CHOICE_BYTES = 200;
/** One entry of `logprobs`, of the token itself or of one that could have stood there. */
const LOGPROB_BYTES = 85;

export interface AnswerForm {
  /** What one event of the stream takes besides the text in it; undefined where the answer is no stream. */
  readonly eventBytes: number | undefined;
  /** How often the text of a choice stands in the answer. */
  readonly copies: number;
  /** Entries of `logprobs` for each token: none, or one and the alternatives. */
  readonly logprobs: number;
  /** What to send less of, as it ends the refusal: `lower n`. */
  readonly advice: string;
  /** OpenAI's `error.param`. */
  readonly param: string | null;
}

export interface ChoiceSize {
  /** Of what it says, as JSON. */
  readonly bytes: number;
  readonly tokens: number;
  /** In a stream. */
  readonly events: number;
}

/** Adds up what an answer comes to while its choices are made, before any of it is written. */
export class AnswerSize {
  readonly #form: AnswerForm;
  #bytes = 0;

  constructor(form: AnswerForm) {
    this.#form = form;
  }

  /** Bytes that stand in the answer beside the choices. */
  addBytes(bytes: number): Rejection | undefined {
    this.#bytes += bytes;
    if (this.#bytes <= MOST_BYTES) return undefined;
    const message = `The sandbox answers with at most ${MOST_BYTES} bytes, and this would take more: ${this.#form.advice}.`;
    return rejection(message, { param: this.#form.param, code: 'answer_too_large' });
  }

  /** @returns the refusal as soon as the answer is too large */
  addChoice({ bytes, tokens, events }: ChoiceSize): Rejection | undefined {
    const { eventBytes, copies, logprobs } = this.#form;
    const frames = eventBytes === undefined ? CHOICE_BYTES : events * eventBytes;
    return this.addBytes(frames + copies * (bytes + tokens * logprobs * LOGPROB_BYTES));
  }
}

/** Of a text as JSON; of one that is too large in any case at least so many. */
export const textBytes = (text: string): number => (text.length > MOST_BYTES ? text.length : Buffer.byteLength(JSON.stringify(text)));
