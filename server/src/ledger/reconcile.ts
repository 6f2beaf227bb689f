import type { LaneSource } from '../adapters/lanes/port.ts';
import type { NanoUsd } from '../kernel/money.ts';

interface LoadedLane {
  readonly id: string;
  readonly spent: NanoUsd;
}

interface Books {
  /** The lanes in memory, as they are now. */
  loaded(): Iterable<LoadedLane>;
  /** Whether everything that was settled is written. */
  isDrained(): boolean;
}

export interface Difference {
  readonly laneId: string;
  /** Nano-USD. */
  readonly inLane: NanoUsd;
  readonly inLedger: NanoUsd;
}

/**
 * Compares the lanes with the ledger that they are derived from. A lane that moves while it is looked at is left for the next time, so every
 * difference found is real. Balances are compared by what they are credited, which the ledger changes too: they are not compared here.
 */
export async function reconcileLanes(books: Books, source: LaneSource): Promise<Difference[]> {
  if (!books.isDrained()) return [];
  const before = new Map([...books.loaded()].map(({ id, spent }) => [id, spent]));
  const differences: Difference[] = [];
  for (const [laneId, inLane] of before) {
    if (laneId.startsWith('balance:')) continue;
    const { spent: inLedger } = await source.moneyLane(laneId);
    if (inLedger !== inLane) differences.push({ laneId, inLane, inLedger });
  }
  if (!books.isDrained()) return [];
  const after = new Map([...books.loaded()].map(({ id, spent }) => [id, spent]));
  return differences.filter(({ laneId, inLane }) => after.get(laneId) === inLane);
}
