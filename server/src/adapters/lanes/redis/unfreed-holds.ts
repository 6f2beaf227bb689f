import { setTimeout as delay } from 'node:timers/promises';
import type { OwnHolds } from './own-holds.ts';
import type { PartitionScripts } from './partition-scripts.ts';
import { RELEASE } from './scripts.ts';
import type { TakenHolds } from './taken-holds.ts';

interface UnfreedHoldsDeps {
  readonly scripts: PartitionScripts;
  readonly own: OwnHolds;
  readonly taken: TakenHolds;
}

/** Longer than a recovery of the lanes takes where all gateways live. */
const WITHIN_MS = 3_000;
const RETRY_MS = 50;

/** Holds of which nothing came, and which Redis could not be told to free yet. */
export class UnfreedHolds {
  readonly #deps: UnfreedHoldsDeps;
  readonly #released = new Set<string>();

  constructor(deps: UnfreedHoldsDeps) {
    this.#deps = deps;
  }

  /** @throws when Redis cannot be told: then it is told later, where the hold is of this process */
  async release(holdId: string, partitions: readonly number[]): Promise<void> {
    const { own, scripts } = this.#deps;
    try {
      await Promise.all(partitions.map((partition) => scripts.run(RELEASE, partition, [holdId])));
      own.released(holdId);
    } catch (error) {
      // It may have been begun, and would then be settled in the end.
      if (own.get(holdId)) this.#released.add(holdId);
      throw error;
    }
    this.#released.delete(holdId);
  }

  /** @throws while Redis cannot be told */
  async retry(): Promise<void> {
    const { own, taken } = this.#deps;
    for (const holdId of this.#released) {
      const hold = own.get(holdId);
      if (hold) await this.release(holdId, [hold.partition]);
      else this.#released.delete(holdId);
    }
    await taken.cancelLost();
  }

  /**
   * This process ends, and nobody will be asked any more: what it has not begun is freed as well. What Redis cannot be told in time is in the journal:
   * it holds that as begun, and would settle it in the end, so the next process tells it.
   */
  async end(withinMs = WITHIN_MS): Promise<void> {
    const { own, taken } = this.#deps;
    for (const holdId of own.unbegun()) this.#released.add(holdId);
    for (const lateTick = performance.now() + withinMs; ; await delay(RETRY_MS)) {
      try {
        return await this.retry();
      } catch {
        if (performance.now() >= lateTick) break;
      }
    }
    const unfreed = new Map(taken.lost());
    for (const holdId of this.#released) {
      const hold = own.get(holdId);
      // Who takes over what was kept for many ends it.
      if (hold && hold.request.keptUntil === undefined) unfreed.set(holdId, hold.partition);
    }
    for (const [holdId, partition] of unfreed) own.releasedLater(holdId, partition);
  }
}
