import { maxOf, minOf, type NanoUsd, proRata } from '../../kernel/money.ts';
import type { LateSettlement } from './late-settlement.ts';
import type { LoadedLanes } from './loaded-lanes.ts';
import type { OnceIds } from './once-ids.ts';
import { addUnits, type MoneyCounts } from './passage.ts';
import type { JournalEntry } from './port.ts';
import type { SettlementJournal } from './settlement-journal.ts';

/** Settles on the lanes of this process what was settled without them, as far as it fits. */
export class LateLanes {
  readonly #lanes: LoadedLanes;
  readonly #journal: Pick<SettlementJournal, 'append'>;
  readonly #once: OnceIds;

  constructor(lanes: LoadedLanes, journal: Pick<SettlementJournal, 'append'>, once: OnceIds) {
    this.#lanes = lanes;
    this.#journal = journal;
    this.#once = once;
  }

  /** As much of it as every lane has room for, beside what is held; the rest is waived. Once, under its `lateId`. */
  async settle(late: LateSettlement): Promise<JournalEntry> {
    const { lateId, quota, entry } = late;
    for (let missing = this.#lanes.missing(late); missing.length > 0; missing = this.#lanes.missing(late))
      await this.#lanes.load(missing, quota, Number.NEGATIVE_INFINITY);
    // From here on nothing is awaited.
    if (this.#once.has(lateId)) return entry;
    const money = late.lanes.map((id) => this.#lanes.money(id));
    const funds = late.funds === null ? undefined : this.#lanes.money(late.funds);
    const used = quota === null ? undefined : this.#lanes.quota(quota);
    const { fitting, paid } = this.#fitting(late);
    const waived = (entry.waived ?? 0n) + late.cost - fitting;
    const settled = { ...entry, charged: paid, debt: minOf(entry.debt, paid), ...(waived > 0n && { waived }) };
    const settledAt = this.#journal.append(settled);

    this.#once.add(lateId, settledAt);
    for (const counter of money) counter.spent += fitting;
    if (funds) funds.spent += paid;
    if (used) addUnits(used.used, entry.covered, 1n);
    for (const counter of [...money, funds, used]) if (counter) counter.settledAt = settledAt;
    return settled;
  }

  /** What of the cost fits, and what of that is charged. */
  #fitting({ lanes, funds, cost, entry: { charged, caps = {} } }: LateSettlement): { fitting: NanoUsd; paid: NanoUsd } {
    const room = (id: string) => roomOf(this.#lanes.money(id), caps[id]);
    const fitting = lanes.reduce((most, id) => minOf(most, room(id) ?? most), cost);
    const share = fitting < cost ? minOf(charged, proRata(charged, fitting, cost)) : charged;
    const paid = funds === null ? share : minOf(share, room(funds) ?? share);
    return { fitting: fitting - (share - paid), paid };
  }
}

/** Null: no limit. @param given the cap where only requests know it */
function roomOf({ cap, spent, held }: MoneyCounts, given: NanoUsd | undefined): NanoUsd | null {
  const limit = cap ?? given ?? null;
  return limit === null ? null : maxOf(0n, limit - spent - held);
}
