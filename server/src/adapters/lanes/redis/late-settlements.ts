import { randomUUID } from 'node:crypto';
import type { LateSettlement } from '../late-settlement.ts';
import type { JournalEntry, Settled, Settlement } from '../port.ts';
import { insist } from './insist.ts';
import { type LaneLoader, MOST_LOADS } from './lane-loader.ts';
import { SETTLE_LATE } from './late-scripts.ts';
import { type CopyJournal, type OwnHold, type OwnHolds, ownEntry } from './own-holds.ts';
import type { PartitionScripts } from './partition-scripts.ts';
import { partitionOf } from './partitions.ts';
import { exactAmount, writtenAmounts } from './wire.ts';

interface LateSettlementsDeps {
  readonly scripts: PartitionScripts;
  readonly loader: LaneLoader;
  readonly journal: CopyJournal;
  readonly own: OwnHolds;
  readonly onAppend: (partition: number) => void;
}

/** Settles on lanes that were loaded without it. */
export class LateSettlements {
  readonly #deps: LateSettlementsDeps;

  constructor(deps: LateSettlementsDeps) {
    this.#deps = deps;
  }

  /** Whether a call of this process is in flight that is on no lane. */
  hasInFlight(): boolean {
    return this.#deps.own.hasLate();
  }

  /** Settles a call of this process that is on no lane. */
  async settleOwn(own: OwnHold, settlement: Settlement): Promise<Settled> {
    const { record: _, caps: __, ...paid } = await this.settle(lateOf(own, settlement), settlement.holdId);
    this.#deps.own.forget(settlement.holdId);
    return { ...paid, lanes: [] };
  }

  /**
   * Redis does not have the hold of a call of this process any more: this process had missed an epoch meanwhile, or it was settled.
   * @param unheard what Redis was asked before to settle it at, where nobody has heard the answer: its stream may be lost with it
   */
  async settleGone(own: OwnHold, settlement: Settlement, unheard: Settlement | undefined): Promise<Settled | undefined> {
    if (own.isLate) return this.settleOwn(own, settlement);
    // A call is settled under the name that it was begun with, and that is booked once.
    if (unheard && own.isBegun) this.#deps.journal.append(ownEntry(own, unheard), unheard.holdId);
    this.#deps.own.forget(settlement.holdId);
    return undefined;
  }

  /**
   * Settles what no lane has: as much of it as still fits, the rest is waived. Once, under its `lateId`; the journal has it before this resolves.
   * @param holdId of the hold that is settled by it, where that was begun
   * @param under an epoch that is not open yet
   */
  async settle(late: LateSettlement, holdId?: string, under?: string): Promise<JournalEntry> {
    const { lateId, heldAs, accountId, lanes, funds, quota, cost, entry } = late;
    const { scripts, loader } = this.#deps;
    const partition = partitionOf(accountId);
    const { charged, debt, covered, record, waived = 0n, caps = {} } = entry;
    const written = (id: string) => ({ id, cap: caps[id]?.toString() });
    const named = {
      lanes: lanes.map(written),
      funds: funds === null ? undefined : written(funds),
      quota: quota === null ? undefined : { id: quota },
    };
    const amounts = [exactAmount(cost), exactAmount(charged), exactAmount(debt), JSON.stringify(writtenAmounts(covered))];
    for (let loads = 0; loads < MOST_LOADS; loads += 1) {
      const args = [
        `late:${lateId}`,
        heldAs,
        JSON.stringify(named),
        ...amounts,
        record,
        randomUUID(),
        JSON.stringify(writtenAmounts(caps)),
        exactAmount(waived),
      ];
      const answer = (await insist(() => scripts.run(SETTLE_LATE, partition, args, under))) as
        | ['known']
        | ['settled', string, string, string]
        | ['missing', string, string[]];
      if (answer[0] === 'missing') {
        await loader.load(answer[2], quota, {
          partition,
          stamp: answer[1],
          isForUse: true,
          ...(under !== undefined && { epoch: under }),
        });
        continue;
      }
      if (answer[0] === 'known') {
        if (holdId !== undefined) this.#deps.journal.end(holdId);
        return entry;
      }
      this.#deps.onAppend(partition);
      const settled = { charged: BigInt(answer[1]), debt: BigInt(answer[2]), covered, record, waived: BigInt(answer[3]), caps };
      this.#deps.journal.append(settled, holdId);
      return settled;
    }
    throw new Error('The lanes of a late settlement are forgotten faster than they can be loaded');
  }
}

/** The settlement of a hold that no lane has. */
function lateOf(own: OwnHold, settlement: Settlement): LateSettlement {
  const { holdId, cost } = settlement;
  const { accountId, lanes, funds, quota } = own.request;
  const named = { lanes: lanes.map(({ id }) => id), funds: funds?.id ?? null, quota: quota?.id ?? null };
  const entry = ownEntry(own, settlement);
  return { lateId: holdId, heldAs: holdId, accountId, ...named, cost: cost - (entry.waived ?? 0n), entry };
}
