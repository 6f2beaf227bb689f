/** Why no further line of a batch is begun. */
export type StopReason = 'cancelled' | 'expired' | 'ended' | 'gone' | 'cap_lowered' | 'shutdown';

/** What tells the lines of a batch to stop. The first reason counts. */
export class Stop {
  #reason: StopReason | undefined;
  readonly #noMore = new AbortController();
  readonly #abandon = new AbortController();

  get reason(): StopReason | undefined {
    return this.#reason;
  }

  /** Aborted when no line may begin, nor wait for another try. */
  get noMore(): AbortSignal {
    return this.#noMore.signal;
  }

  /** Aborted when those that run are to be given up. */
  get abandon(): AbortSignal {
    return this.#abandon.signal;
  }

  /** Lines that run may end. */
  begin(reason: StopReason): void {
    this.#reason ??= reason;
    this.#noMore.abort();
  }

  /** Lines that run are given up: they are settled in no way, and asked again should the batch go on. */
  now(reason: StopReason): void {
    this.begin(reason);
    this.#abandon.abort();
  }

  /** Resolves after so many milliseconds, or when no line may begin any more. */
  async pause(milliseconds: number): Promise<void> {
    if (this.noMore.aborted) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    const timer = setTimeout(resolve, milliseconds);
    this.noMore.addEventListener('abort', () => resolve(), { once: true });
    await promise;
    clearTimeout(timer);
  }
}
