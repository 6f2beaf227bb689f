import { ConnectionError, errorFromProblem, TallygateError } from '../errors.ts';
import type { Deadline } from './deadline.ts';
import { parseJson, parseProblem } from './read-problem.ts';
import { readServerSentEvents } from './server-sent-events.ts';

/**
 * A streamed answer: iterate it once. Leaving the loop early, or `controller.abort()`, hangs up, and the service bills what was
 * generated until then. An error that the service sends in the stream is thrown as its typed error; a stream that breaks off before
 * its end marker throws `ConnectionError` with code `stream_cut`, so that half an answer is never taken for a whole one.
 */
export class EventStream<T> implements AsyncIterable<T> {
  /** Aborting it ends the iteration quietly. */
  readonly controller: AbortController;
  readonly #response: Response;
  readonly #deadline: Deadline;
  readonly #isLast: (event: T) => boolean;
  #isTaken = false;

  /** @param isLast which event ends the stream, where it has no `[DONE]` */
  constructor(response: Response, deadline: Deadline, isLast: (event: T) => boolean = () => false) {
    this.#isLast = isLast;
    this.controller = deadline.controller;
    this.#response = response;
    this.#deadline = deadline;
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<T, void, undefined> {
    if (this.#isTaken) throw new TypeError('A stream can be iterated only once.');
    this.#isTaken = true;
    let isComplete = false;
    try {
      for await (const { event, data } of readServerSentEvents(this.#pieces())) {
        if (data === '[DONE]') {
          isComplete = true;
          return;
        }
        // What had arrived before the consumer hung up is not wanted either.
        if (this.#isHungUp()) return;
        const parsed = this.#parse(event, data);
        isComplete = this.#isLast(parsed);
        yield parsed;
        if (isComplete) return;
      }
      throw new ConnectionError('The stream broke off before its end.', undefined, 'stream_cut');
    } catch (error) {
      if (this.#isHungUp()) return;
      if (this.controller.signal.aborted) throw this.controller.signal.reason;
      throw error instanceof TallygateError ? error : new ConnectionError('The stream broke off before its end.', error, 'stream_cut');
    } finally {
      this.#deadline.clear();
      if (!isComplete) this.controller.abort();
    }
  }

  /** Only the deadline aborts with an error of ours; anything else is the consumer hanging up. */
  #isHungUp(): boolean {
    const { aborted, reason } = this.controller.signal;
    return aborted && !(reason instanceof TallygateError);
  }

  async *#pieces(): AsyncGenerator<Uint8Array, void, undefined> {
    if (this.#response.body === null) return;
    // Readers, because async iteration of a ReadableStream is missing from Safari.
    const reader = this.#response.body.getReader();
    try {
      for (;;) {
        const { done, value } = await reader.read();
        if (done) return;
        this.#deadline.restart();
        yield value;
      }
    } finally {
      await reader.cancel().catch(() => {});
    }
  }

  #parse(event: string, data: string): T {
    const value = parseJson(data);
    const error = errorIn(value);
    if (error === undefined && event !== 'error' && typeof value === 'object' && value !== null) return value as T;
    const { headers } = this.#response;
    const code = error?.code ?? 'unexpected_response';
    const message = error?.message ?? `The service sent an event that is no JSON object: ${data.slice(0, 200)}`;
    throw errorFromProblem(message, { code, headers, problem: parseProblem(data) });
  }
}

/** OpenAI's forms of an error in a stream: `{ error: { message, code } }`, or the event itself. */
export function errorIn(value: unknown): { message: string; code: string } | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  const { error = 'type' in value && value.type === 'error' ? value : undefined } = value as { error?: unknown };
  if (typeof error !== 'object' || error === null) return undefined;
  const { message, code } = error as { message?: unknown; code?: unknown };
  return {
    message: typeof message === 'string' ? message : JSON.stringify(error),
    code: typeof code === 'string' ? code : 'upstream_failed',
  };
}
