import type { UntoldEnd } from '../journal-lines.ts';
import { capsOf, drawOnHold, type Reserve } from '../lane-arithmetic.ts';
import type { HoldOutcome, HoldRequest, InFlight, JournalEntry, Settled, Settlement } from '../port.ts';
import type { SettlementJournal } from '../settlement-journal.ts';

export type CopyJournal = Pick<SettlementJournal, 'append' | 'appendCeiling' | 'begin' | 'end' | 'endLater'>;

/** A hold of this process, until it is settled. */
export interface OwnHold {
  readonly partition: number;
  readonly request: HoldRequest;
  /** As it was taken. */
  readonly reserve: Reserve;
  /** Tokens out that are held. */
  readonly tokens: number;
  /** What parts have left of it. Absent: none was settled. */
  left?: Reserve;
  inFlight?: InFlight;
  /** The journal has it in flight. */
  isBegun?: true;
  /** The lanes of the epoch that is open do not have it: it is settled at what still fits. */
  isLate?: true;
  /** Redis was asked to settle it at that, and nobody has heard what it answered. */
  asked?: { readonly call: string; readonly at: Settlement };
  /** Redis has settled it, and the journal could not be written. */
  uncopied?: { readonly record: string; readonly settled: Settled };
}

/** Ceilings that are remembered as written; beyond that many they are written again. */
const MOST_CEILINGS = 100_000;

/**
 * The holds of this process, with a copy of what Redis has of them in the journal of this process: what settles a call that is in flight, what
 * it was settled at, and ceilings.
 */
export class OwnHolds {
  readonly #journal: CopyJournal;
  readonly #holds = new Map<string, OwnHold>();
  readonly #ceilings = new Map<string, bigint>();

  constructor(journal: CopyJournal) {
    this.#journal = journal;
  }

  get(holdId: string): OwnHold | undefined {
    return this.#holds.get(holdId);
  }

  /** Ids of the holds in each partition. */
  byPartition(): ReadonlyMap<number, readonly string[]> {
    const ids = new Map<number, string[]>();
    for (const [id, { partition }] of this.#holds) {
      const there = ids.get(partition);
      if (there) there.push(id);
      else ids.set(partition, [id]);
    }
    return ids;
  }

  taken(request: HoldRequest, hold: Pick<OwnHold, 'partition' | 'reserve' | 'tokens'>): void {
    const inFlight = hold.tokens === request.outputTokens.wanted ? request.inFlight : undefined;
    this.#holds.set(request.holdId, { request, ...hold, ...(inFlight && { inFlight }) });
  }

  [Symbol.iterator](): IterableIterator<[holdId: string, own: OwnHold]> {
    return this.#holds.entries();
  }

  /** @throws when the ceiling that a request has set cannot be written */
  tightened({ lanes, at }: HoldRequest, outcome: HoldOutcome): void {
    const states = 'lanes' in outcome ? outcome.lanes : [];
    for (const { id: laneId, cap, capRule } of lanes) {
      if (capRule !== 'tightening' || cap === null || this.#ceilings.get(laneId) === cap) continue;
      if (states.find(({ id }) => id === laneId)?.cap !== cap) continue;
      this.#journal.appendCeiling({ laneId, cap, at });
      if (this.#ceilings.size >= MOST_CEILINGS) this.#ceilings.clear();
      this.#ceilings.set(laneId, cap);
    }
  }

  /** Redis has begun it. @throws when there is no such hold, or the journal cannot be written; then the provider must not be asked */
  begun(inFlight: InFlight): void {
    const { holdId } = inFlight;
    const own = this.#holds.get(holdId);
    if (!own) throw new Error(`There is no hold ${holdId} of this process`);
    this.#journal.begin({ holdId, ...ownEntry(own, inFlight) });
    own.inFlight = inFlight;
    own.isBegun = true;
  }

  /** @throws when the journal cannot be written: then it is to be called again, with what this hold was settled at */
  settled(holdId: string, record: string, settled: Settled): Settled {
    const own = this.#holds.get(holdId);
    if (own) own.uncopied = { record, settled };
    this.#journal.append({ ...entryOf(settled, record), ...(own && capsOf(own.request)) }, holdId);
    this.#holds.delete(holdId);
    return settled;
  }

  /** Nothing is settled by it any more. */
  released(holdId: string): void {
    if (this.#holds.get(holdId)?.isBegun) this.#journal.end(holdId);
    this.#holds.delete(holdId);
  }

  /** Redis could not be told that nothing is settled by it any more, and this process ends. @throws when the journal cannot be written */
  releasedLater(holdId: string, untold: UntoldEnd): void {
    this.#journal.endLater(holdId, untold);
    this.#holds.delete(holdId);
  }

  /** A part is settled out of it. @throws when the journal cannot be written */
  partSettled(holdId: string, record: string, settled: Settled, left: Reserve | undefined): Settled {
    const own = this.#holds.get(holdId);
    if (own && left) own.left = left;
    this.#journal.append({ ...entryOf(settled, record), ...(own && capsOf(own.request)) });
    return settled;
  }

  /** Holds of one request each that no provider was asked for. */
  unbegun(): string[] {
    return [...this.#holds].flatMap(([holdId, { isBegun, request }]) => (isBegun || request.keptUntil !== undefined ? [] : [holdId]));
  }

  hasLate(): boolean {
    for (const { isLate } of this.#holds.values()) if (isLate) return true;
    return false;
  }

  /** Redis has ended it, or others have taken it over. What Redis may have settled unheard is kept until the journal has it. */
  lostTo(holdId: string): void {
    const own = this.#holds.get(holdId);
    if (own && !own.asked && !own.uncopied && !own.isLate) this.forget(holdId);
  }

  /** Redis does not have it: what the journal says of it stands, and the ledger decides at the next start. */
  forget(holdId: string): void {
    this.#holds.delete(holdId);
  }
}

/** What settles it at that cost, as its hold would have. */
export const ownEntry = ({ request, reserve }: OwnHold, use: Pick<InFlight, 'units' | 'cost' | 'record'>): JournalEntry => ({
  ...drawOnHold(reserve, use),
  ...{ record: use.record, ...capsOf(request) },
});

const entryOf = ({ lanes: _, ...paid }: Settled, record: string): JournalEntry => ({ ...paid, record });
