import { setTimeout as delay } from 'node:timers/promises';
import { UpstreamCut } from '../port.ts';

/** Node runs a timer that is set for longer than this at once. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;

/** The one way in which a call ends early: the caller's signal, the reader of the answer, or the provider's close. */
export class Cancellation {
  readonly #controller = new AbortController();
  readonly #onCallerAbort = () => this.cancel();
  readonly #caller: AbortSignal;
  readonly #open: Set<Cancellation>;

  /** @param open the calls of the provider that have not ended; this one is in it until {@link release} */
  constructor(caller: AbortSignal, open: Set<Cancellation>) {
    this.#caller = caller;
    this.#open = open;
    open.add(this);
    if (caller.aborted) this.cancel();
    else caller.addEventListener('abort', this.#onCallerAbort, { once: true });
  }

  get isCancelled(): boolean {
    return this.#controller.signal.aborted;
  }

  /** Harmless when it comes twice, or after the end. */
  cancel(): void {
    this.#controller.abort(new UpstreamCut('aborted'));
    this.release();
  }

  /** The call has ended: no listener is told any more. */
  release(): void {
    this.#caller.removeEventListener('abort', this.#onCallerAbort);
    this.#open.delete(this);
  }

  throwIfCancelled(): void {
    this.#controller.signal.throwIfAborted();
  }

  /** Resolves after `ms` (0: the next turn of the event loop); its timer is gone as soon as the call is cancelled. */
  async pause(ms: number): Promise<void> {
    if (ms > 0) await delay(Math.min(ms, LONGEST_TIMER_MS), undefined, { signal: this.#controller.signal }).catch(() => undefined);
    else await new Promise((resolve) => setImmediate(resolve));
    this.throwIfCancelled();
  }

  /** Waits for `work`, but no longer than until the call is cancelled. */
  async during(work: Promise<void>): Promise<void> {
    const { signal } = this.#controller;
    const { promise: cancelled, reject } = Promise.withResolvers<never>();
    const onAbort = () => reject(signal.reason);
    if (signal.aborted) onAbort();
    else signal.addEventListener('abort', onAbort, { once: true });
    try {
      await Promise.race([work, cancelled]);
    } finally {
      signal.removeEventListener('abort', onAbort);
    }
  }
}
