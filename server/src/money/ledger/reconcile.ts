import type { LaneSource, Units } from '../../adapters/lanes/port.ts';
import type { NanoUsd } from '../../kernel/money.ts';

/** The lanes that are loaded, as they are now. `isWritten`: the ledger has all that was settled on the lane. */
interface Books {
  loaded(): Listed<{ readonly id: string; readonly spent: NanoUsd; readonly isWritten: boolean }>;
  loadedQuotas(): Listed<{ readonly id: string; readonly used: Units; readonly isWritten: boolean }>;
}

/** At once, where the lanes are in this process. */
type Listed<T> = Iterable<T> | AsyncIterable<T>;

export interface Difference {
  readonly laneId: string;
  /** What is counted: `nano_usd`, or a meter of the plan's quota. */
  readonly unit: string;
  readonly inLane: bigint;
  readonly inLedger: bigint;
}

const MONEY = 'nano_usd';

/**
 * Compares the lanes with the ledger that they are derived from. A lane that moves while it is looked at is left for the next time, so every
 * difference found is real.
 */
export async function reconcileLanes(books: Books, source: LaneSource): Promise<Difference[]> {
  const differences: Difference[] = [];
  for (const [laneId, inLane] of await writtenCounters(books)) {
    const inLedger = laneId.startsWith('quota:') ? await source.quotaLane(laneId) : { [MONEY]: (await source.moneyLane(laneId)).spent };
    for (const unit of new Set([...Object.keys(inLane), ...Object.keys(inLedger)])) {
      const difference = { laneId, unit, inLane: inLane[unit] ?? 0n, inLedger: inLedger[unit] ?? 0n };
      if (difference.inLane !== difference.inLedger) differences.push(difference);
    }
  }
  const after = await writtenCounters(books);
  return differences.filter(({ laneId, unit, inLane }) => {
    const counters = after.get(laneId);
    return counters !== undefined && (counters[unit] ?? 0n) === inLane;
  });
}

async function writtenCounters(books: Books): Promise<ReadonlyMap<string, Units>> {
  const counters = new Map<string, Units>();
  for await (const { id, spent, isWritten } of books.loaded()) if (isWritten) counters.set(id, { [MONEY]: spent });
  for await (const { id, used, isWritten } of books.loadedQuotas()) if (isWritten) counters.set(id, used);
  return counters;
}
