import { AbortError, TimeoutError } from '../errors.ts';

/** 24.8 days. Timers with a longer delay fire at once, in Node and in browsers alike. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;

/** A timeout in the range of a timer; `Infinity` means none. @throws TypeError if not above 0 */
export function checkedTimeoutMs(timeoutMs: number): number {
  if (timeoutMs > 0) return Math.min(timeoutMs, LONGEST_TIMER_MS);
  throw new TypeError(`timeoutMs must be a number above 0, not ${timeoutMs}.`);
}

/**
 * Ends one attempt: when the caller's signal aborts, or when nothing arrives for `timeoutMs`.
 * Built on plain controllers because `AbortSignal.any` is missing from many runtimes that have `fetch`.
 */
export class Deadline {
  readonly controller = new AbortController();
  readonly #timeoutMs: number;
  readonly #callerSignal: AbortSignal | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(timeoutMs: number, callerSignal: AbortSignal | undefined) {
    this.#timeoutMs = checkedTimeoutMs(timeoutMs);
    this.#callerSignal = callerSignal;
    if (callerSignal?.aborted) this.#onCallerAbort();
    else callerSignal?.addEventListener('abort', this.#onCallerAbort, { once: true });
    this.restart();
  }

  get signal(): AbortSignal {
    return this.controller.signal;
  }

  /** Gives the service another `timeoutMs`: called for every piece that arrives. */
  restart(): void {
    clearTimeout(this.#timer);
    if (this.signal.aborted) return;
    this.#timer = setTimeout(() => this.controller.abort(new TimeoutError(this.#timeoutMs)), this.#timeoutMs);
  }

  /** Nothing more is awaited: leaves no timer and no listener behind. */
  clear(): void {
    clearTimeout(this.#timer);
    this.#callerSignal?.removeEventListener('abort', this.#onCallerAbort);
  }

  readonly #onCallerAbort = (): void => this.controller.abort(new AbortError(this.#callerSignal?.reason));
}

/** Waits; ends early with an `AbortError` when the caller's signal aborts. */
export function sleep(delayMs: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const onAbort = () => {
      clearTimeout(timer);
      reject(new AbortError(signal?.reason));
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', onAbort);
      resolve();
    }, delayMs);
    if (signal?.aborted) onAbort();
    else signal?.addEventListener('abort', onAbort, { once: true });
  });
}
