import type { LaneBooks, LaneSource, Units } from '../../adapters/lanes/port.ts';

export interface Difference {
  readonly laneId: string;
  /** What is counted: `nano_usd`, or a meter of the plan's quota. */
  readonly unit: string;
  readonly inLane: bigint;
  readonly inLedger: bigint;
}

const MONEY = 'nano_usd';

export interface Repaired {
  readonly mended: readonly Difference[];
  readonly left: readonly Difference[];
}

/**
 * Raises every lane that counts less than the ledger knows: it may have spent what it did not know of. One that counts more refuses too early and
 * overspends nothing: it may know of a settlement that was set aside, so it is lowered only where an operator says so.
 */
export async function repairLanes(books: LaneBooks, source: LaneSource, isToLower = false): Promise<Repaired> {
  const [mended, left]: [Difference[], Difference[]] = [[], []];
  for (const difference of await reconcileLanes(books, source)) {
    const { laneId, unit, inLane: from, inLedger: to } = difference;
    const isMended = (to > from || isToLower) && (await books.correct({ laneId, meter: unit === MONEY ? null : unit, from, to }));
    (isMended ? mended : left).push(difference);
  }
  return { mended, left };
}

/**
 * Compares the lanes with the ledger that they are derived from. A lane that moves while it is looked at is left for the next time, so every
 * difference found is real.
 */
export async function reconcileLanes(books: LaneBooks, source: LaneSource): Promise<Difference[]> {
  const differences: Difference[] = [];
  for (const [laneId, inLane] of await writtenCounters(books)) {
    const inLedger = await countsOf(source, laneId);
    for (const unit of new Set([...Object.keys(inLane), ...Object.keys(inLedger)])) {
      const difference = { laneId, unit, inLane: inLane[unit] ?? 0n, inLedger: inLedger[unit] ?? 0n };
      if (difference.inLane !== difference.inLedger) differences.push(difference);
    }
  }
  if (differences.length === 0) return [];
  const after = await writtenCounters(books);
  return differences.filter(({ laneId, unit, inLane }) => {
    const counters = after.get(laneId);
    return counters !== undefined && (counters[unit] ?? 0n) === inLane;
  });
}

/**
 * Sets lanes to what the ledger has, also those that have more.
 * @returns those of which that is not known: something of them is on its way to the ledger
 */
export async function setToLedger(books: LaneBooks, source: LaneSource, laneIds: ReadonlySet<string>): Promise<ReadonlySet<string>> {
  const unclear = new Set<string>();
  for await (const { id: laneId, counts, isWritten } of books.lanes()) {
    if (!laneIds.has(laneId)) continue;
    const inLedger = await countsOf(source, laneId);
    for (const unit of new Set([...Object.keys(counts), ...Object.keys(inLedger)])) {
      const [from, to] = [counts[unit] ?? 0n, inLedger[unit] ?? 0n];
      // Also where nothing is to be corrected: it may have moved since.
      if (!isWritten || !(await books.correct({ laneId, meter: unit === MONEY ? null : unit, from, to }))) unclear.add(laneId);
    }
  }
  return unclear;
}

const countsOf = async (source: LaneSource, laneId: string): Promise<Units> =>
  laneId.startsWith('quota:') ? source.quotaLane(laneId) : { [MONEY]: (await source.moneyLane(laneId)).spent };

async function writtenCounters(books: LaneBooks): Promise<ReadonlyMap<string, Units>> {
  const counters = new Map<string, Units>();
  for await (const { id, counts, isWritten } of books.lanes()) if (isWritten) counters.set(id, counts);
  return counters;
}
