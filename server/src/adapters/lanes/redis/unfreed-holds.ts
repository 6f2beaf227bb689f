import { setTimeout as delay } from 'node:timers/promises';
import type { UntoldEnd } from '../journal-lines.ts';
import { inTurn, together } from './despite-failures.ts';
import type { OwnHolds } from './own-holds.ts';
import type { PartitionScripts } from './partition-scripts.ts';
import { ALL_PARTITIONS } from './partitions.ts';
import { RELEASE } from './release-scripts.ts';
import type { TakenHolds } from './taken-holds.ts';
import type { UnfreedNotes } from './unfreed-record.ts';

interface UnfreedHoldsDeps {
  readonly scripts: PartitionScripts;
  readonly own: OwnHolds;
  readonly taken: TakenHolds;
  /** What this process is known by. */
  readonly gateway: string;
  readonly notes: UnfreedNotes;
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
  async release(holdId: string): Promise<void> {
    const { own, scripts, gateway } = this.#deps;
    const held = own.get(holdId);
    try {
      if (held) await scripts.run(RELEASE, held.partition, [holdId, gateway]);
      else await together(ALL_PARTITIONS.map((partition) => scripts.run(RELEASE, partition, [holdId, ''])));
      own.released(holdId);
    } catch (error) {
      // It may have been begun, and would then be settled in the end.
      if (own.get(holdId)) this.#released.add(holdId);
      throw error;
    }
    this.#released.delete(holdId);
  }

  /** @throws while Redis cannot be told of all of them */
  async retry(): Promise<void> {
    const { own, taken } = this.#deps;
    for (const holdId of this.#released) if (!own.get(holdId)) this.#released.delete(holdId);
    const byPartition = Map.groupBy(this.#released, (holdId) => own.get(holdId)?.partition);
    await inTurn([
      async () => void (await together([...byPartition.values()].map((holdIds) => this.#releaseAll(holdIds)))),
      () => taken.cancelLost(),
    ]);
  }

  async #releaseAll(holdIds: readonly string[]): Promise<void> {
    for (const holdId of holdIds) await this.release(holdId);
  }

  /**
   * This process ends, and nobody will be asked any more: what it has not begun is freed as well. What Redis cannot be told in time is in the journal:
   * it holds that as begun, and would settle it in the end, so the next process tells it; and noted for others, should there be no next one.
   */
  async end(withinMs = WITHIN_MS): Promise<void> {
    const { own, taken, notes, gateway: owner } = this.#deps;
    for (const holdId of own.unbegun()) this.#released.add(holdId);
    for (const lateTick = performance.now() + withinMs; ; await delay(RETRY_MS)) {
      try {
        return await this.retry();
      } catch {
        if (performance.now() >= lateTick) break;
      }
    }
    const unfreed = new Map<string, UntoldEnd>();
    for (const [holdId, partition] of taken.lost()) {
      // Taken again under its name, and a provider is at work.
      if (!own.get(holdId)?.isBegun) unfreed.set(holdId, { partition, owner });
    }
    for (const holdId of this.#released) {
      const hold = own.get(holdId);
      // Who takes over what was kept for many ends it.
      if (hold && hold.request.keptUntil === undefined) unfreed.set(holdId, { partition: hold.partition, owner });
    }
    for (const [holdId, untold] of unfreed) own.releasedLater(holdId, untold);
    // Where that fails too, nobody else can know.
    await notes.add(unfreed);
  }

  /**
   * What an earlier process could not free is free.
   * @param under an epoch that is not open yet
   */
  async freeLeft(holdId: string, { partition, owner }: UntoldEnd, under?: string): Promise<void> {
    const { scripts, notes } = this.#deps;
    await scripts.run(RELEASE, partition, [holdId, owner], under);
    await notes.forget([holdId]);
  }
}
