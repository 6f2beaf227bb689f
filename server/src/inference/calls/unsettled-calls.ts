import type { Log } from '../../kernel/log.ts';

const RETRY_MS = 1_000;

/**
 * Calls that are over and whose holds could not be ended, since what ends them could not be written: it is tried again until it can. So what a
 * provider has billed is charged, and nothing stays held for a call that is over. What is still here when the process dies is settled at what
 * it was begun with, by its next start or by another gateway.
 */
export class UnsettledCalls {
  readonly #log: Log;
  readonly #ends = new Map<string, () => unknown>();
  #timer: NodeJS.Timeout | undefined;
  #isTrying = false;

  constructor(log: Log) {
    this.#log = log;
  }

  get size(): number {
    return this.#ends.size;
  }

  has(holdId: string): boolean {
    return this.#ends.has(holdId);
  }

  /** @param end settles the hold or releases it; once that is done, to ask for it again changes nothing */
  add(holdId: string, end: () => unknown): void {
    this.#ends.set(holdId, end);
    this.#timer ??= setInterval(() => void this.tryAgain(), RETRY_MS).unref();
  }

  /** Never rejects. */
  async tryAgain(): Promise<void> {
    if (this.#isTrying) return;
    this.#isTrying = true;
    for (const [holdId, end] of this.#ends) {
      try {
        await end();
        this.#ends.delete(holdId);
        this.#log.info({ receiptId: holdId }, 'a call was settled late');
      } catch (error) {
        this.#log.debug({ err: error, receiptId: holdId }, 'a call cannot be settled yet');
      }
    }
    this.#isTrying = false;
    if (this.#ends.size === 0) this.#stop();
  }

  /** The process is about to end: nothing is tried again. */
  close(): void {
    this.#ends.clear();
    this.#stop();
  }

  #stop(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
  }
}
