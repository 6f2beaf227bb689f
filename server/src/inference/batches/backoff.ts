import type { Clock } from '../../kernel/clock.ts';

const FIRST_MS = 1_000;
const LONGEST_MS = 30_000;

/** Batches that could not go on, and are left alone for a while: longer and longer. */
export class Backoff {
  readonly #clock: Clock;
  readonly #byBatch = new Map<string, { readonly untilMs: number; readonly forMs: number }>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  isResting(batchId: string): boolean {
    return (this.#byBatch.get(batchId)?.untilMs ?? 0) > this.#clock.now();
  }

  /** Returns for how long, milliseconds. */
  begin(batchId: string): number {
    const before = this.#byBatch.get(batchId)?.forMs;
    const forMs = before === undefined ? FIRST_MS : Math.min(LONGEST_MS, 2 * before);
    this.#byBatch.set(batchId, { untilMs: this.#clock.now() + forMs, forMs });
    return forMs;
  }

  forget(batchId: string): void {
    this.#byBatch.delete(batchId);
  }
}
