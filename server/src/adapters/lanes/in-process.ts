import type { NanoUsd } from '../../kernel/money.ts';
import { maxOf } from '../../kernel/money.ts';
import { costAt, drawOnQuota, largestThatFits, unitsAt } from './lane-arithmetic.ts';
import type {
  Held,
  HoldOutcome,
  HoldRequest,
  LaneSource,
  LaneState,
  LaneStore,
  MoneyLane,
  QuotaLane,
  Refused,
  Settled,
  Settlement,
  Units,
} from './port.ts';
import { RateLanes, type RateTake } from './rate-lanes.ts';
import type { JournalPosition, SettlementJournal } from './settlement-journal.ts';

interface Counter {
  /** How many holds may still be settled on it, the expired ones included. */
  holds: number;
  /** When a request last named it, epoch milliseconds. */
  touchedAt: number;
  /** Where its newest settlement or ceiling is in the journal. */
  settledAt: JournalPosition | undefined;
}

interface MoneyCounter extends Counter {
  spent: NanoUsd;
  held: NanoUsd;
  cap: NanoUsd | null;
}

interface QuotaCounter extends Counter {
  used: Record<string, bigint>;
  held: Record<string, bigint>;
}

interface Hold {
  readonly request: HoldRequest;
  readonly amount: NanoUsd;
  readonly covered: Units;
  readonly charge: NanoUsd;
  readonly rates: RateTake | undefined;
  expiresAt: number;
  /** Swept: no longer counted as held, but still good for one late settlement. */
  expired: boolean;
}

/** Which lane refuses, and why. */
type Refusal = Omit<Refused, 'lanes' | 'rates'>;

/** What the lanes need of the journal: to write to it, and to know what was taken from it. */
type Journal = Pick<SettlementJournal, 'append' | 'appendCeiling' | 'isAcknowledged'>;

const EXPIRED_KEPT_MS = 3_600_000;
const IDLE_LANE_MS = 900_000;

/**
 * Lanes in the memory of the one process of the embedded default. Everything between reading a counter and writing it is synchronous,
 * which is what makes it atomic. Lanes are loaded from their source on first use; what is settled is in the journal before `settle` returns.
 */
export class InProcessLanes implements LaneStore {
  readonly #money = new Map<string, MoneyCounter>();
  readonly #quota = new Map<string, QuotaCounter>();
  readonly #holds = new Map<string, Hold>();
  readonly #rates = new RateLanes();
  readonly #loading = new Map<string, Promise<void>>();
  readonly #creditedWhileLoading = new Set<string>();
  readonly #source: LaneSource;
  readonly #journal: Journal;

  constructor(source: LaneSource, journal: Journal) {
    this.#source = source;
    this.#journal = journal;
  }

  hold(request: HoldRequest): HoldOutcome | Promise<HoldOutcome> {
    const missing = this.#missing(request);
    return missing.length === 0 ? this.#holdLoaded(request) : this.#loadThenHold(request, missing);
  }

  renew(holdId: string, expiresAt: number): void {
    const hold = this.#holds.get(holdId);
    if (hold && !hold.expired) hold.expiresAt = expiresAt;
  }

  settle({ holdId, cost, units, record, rates }: Settlement): Settled | undefined {
    const hold = this.#holds.get(holdId);
    if (!hold) return undefined;
    const { request } = hold;
    const drawn = drawOnQuota(units, request.quota && this.#coverOf(hold, request.quota), cost);
    const debt = maxOf(0n, drawn.charge - hold.charge);
    // The journal first: if it cannot be written, nothing has happened and the hold stands.
    const settledAt = this.#journal.append({ charged: drawn.charge, debt, covered: drawn.covered, record });

    if (!hold.expired) this.#release(hold);
    this.#forget(holdId, hold);
    if (hold.rates && rates) this.#rates.correct(hold.rates, rates.tokens, rates.at);
    for (const lane of request.lanes) this.#counter(lane.id).spent += cost;
    if (request.funds) this.#counter(request.funds.id).spent += drawn.charge;
    if (request.quota) add(this.#quotaCounter(request.quota.id).used, drawn.covered, 1n);
    for (const counter of this.#countersOf(request)) counter.settledAt = settledAt;
    return { covered: drawn.covered, charged: drawn.charge, debt, lanes: request.lanes.map((lane) => this.#state(lane)) };
  }

  async credit(laneId: string, amount: NanoUsd): Promise<void> {
    const counter = this.#money.get(laneId);
    if (counter) counter.cap = (counter.cap ?? 0n) + amount;
    else if (this.#loading.has(laneId)) this.#creditedWhileLoading.add(laneId);
  }

  sweep(now: number): number {
    let freed = 0;
    for (const [id, hold] of this.#holds) {
      if (hold.expiresAt > now) continue;
      if (!hold.expired) {
        hold.expired = true;
        this.#release(hold);
        freed += 1;
      } else if (hold.expiresAt + EXPIRED_KEPT_MS <= now) this.#forget(id, hold);
    }
    // An idle lane may be forgotten once its source knows everything that was settled on it.
    for (const lanes of [this.#money, this.#quota]) {
      for (const [id, counter] of lanes) {
        if (counter.holds === 0 && counter.touchedAt + IDLE_LANE_MS < now && this.#isWritten(counter)) lanes.delete(id);
      }
    }
    this.#rates.forgetIdle(now - IDLE_LANE_MS);
    return freed;
  }

  async inspect(laneIds: readonly string[]): Promise<ReadonlyMap<string, { spent: NanoUsd; held: NanoUsd; cap: NanoUsd | null }>> {
    const states = await Promise.all(
      laneIds.map(async (id) => {
        const { spent, held, cap } = this.#money.get(id) ?? { ...(await this.#source.moneyLane(id)), held: 0n };
        return [id, { spent, held, cap }] as const;
      }),
    );
    return new Map(states);
  }

  /** Every loaded money lane, for the reconciler. `isWritten`: the ledger has all that was settled on it. */
  *loaded(): Iterable<{ id: string; spent: NanoUsd; isWritten: boolean }> {
    for (const [id, counter] of this.#money) yield { id, spent: counter.spent, isWritten: this.#isWritten(counter) };
  }

  /** Every loaded quota lane, likewise. */
  *loadedQuotas(): Iterable<{ id: string; used: Units; isWritten: boolean }> {
    for (const [id, counter] of this.#quota) yield { id, used: { ...counter.used }, isWritten: this.#isWritten(counter) };
  }

  #holdLoaded(request: HoldRequest): HoldOutcome {
    if (this.#holds.has(request.holdId)) throw new Error(`There is a hold ${request.holdId} already`);
    for (const counter of this.#countersOf(request)) counter.touchedAt = Math.max(counter.touchedAt, request.at);
    const tooFast = request.rates && this.#rates.refusal(request.rates, request.at);
    if (tooFast) return tooFast;
    for (const lane of moneyLanes(request)) this.#applyCap(this.#counter(lane.id), lane, request.at);
    const quotaLeft = request.quota ? this.#quotaLeft(request.quota) : null;
    const { wanted, least } = request.outputTokens;
    const fits = (tokens: number) => this.#refusal(request, tokens, quotaLeft) === undefined;

    let tokens = wanted;
    if (!fits(wanted)) {
      const refusal = this.#refusal(request, least, quotaLeft);
      if (refusal) {
        const lanes = request.lanes.map((lane) => this.#state(lane));
        return { ...refusal, lanes, ...(request.rates && { rates: this.#rates.status(request.rates.lanes) }) };
      }
      tokens = largestThatFits(least, wanted, fits);
    }
    return this.#take(request, tokens, quotaLeft);
  }

  /** A ceiling that is set or tightened is in the journal before it is asked: a restart or an idle hour must not lift it. */
  #applyCap(counter: MoneyCounter, { id, cap, capRule }: MoneyLane, at: number): void {
    switch (capRule) {
      case 'given':
        counter.cap = cap;
        return;
      case 'tightening':
        if (cap === null || (counter.cap !== null && counter.cap <= cap)) return;
        counter.settledAt = this.#journal.appendCeiling({ laneId: id, cap, at });
        counter.cap = cap;
        return;
      case 'credited':
        return;
      default:
        capRule satisfies never;
    }
  }

  /** The lane that refuses so many tokens, one that waiting cannot cure before one that it can; undefined when all agree. */
  #refusal(request: HoldRequest, tokens: number, quotaLeft: Units | null): Refusal | undefined {
    const amount = costAt(request.cost, tokens);
    let inFlight: Refusal | undefined;
    for (const lane of request.lanes) {
      const state = this.#state(lane);
      if (state.cap === null || state.spent + state.held + amount <= state.cap) continue;
      const mayFitLater = state.spent + amount <= state.cap;
      const refusal: Refusal = { held: false, lane: state, required: amount, resetsAt: lane.resetsAt, mayFitLater };
      if (!mayFitLater) return refusal;
      inFlight ??= refusal;
    }
    const account = this.#accountRefusal(request, tokens, amount, quotaLeft);
    return account && !account.mayFitLater ? account : (inFlight ?? account);
  }

  #accountRefusal(request: HoldRequest, tokens: number, amount: NanoUsd, quotaLeft: Units | null): Refusal | undefined {
    const units = unitsAt(request.units, tokens);
    const { charge } = drawOnQuota(units, quotaLeft, amount);
    if (charge === 0n) return undefined;
    const state = request.funds ? this.#state(request.funds) : nothingBeyond(request.quota);
    if (state.cap === null || state.spent + state.held + charge <= state.cap) return undefined;
    const quotaUnheld = request.quota ? this.#quotaLeft(request.quota, { ignoreHeld: true }) : null;
    const later = drawOnQuota(units, quotaUnheld, amount).charge;
    const resetsAt = request.funds?.resetsAt ?? request.quota?.resetsAt ?? null;
    return { held: false, lane: state, required: charge, resetsAt, mayFitLater: later === 0n || state.spent + later <= state.cap };
  }

  #take(request: HoldRequest, tokens: number, quotaLeft: Units | null): Held {
    const amount = costAt(request.cost, tokens);
    const { covered, charge } = drawOnQuota(unitsAt(request.units, tokens), quotaLeft, amount);
    const rates = request.rates && this.#rates.take(request.rates);
    const hold: Hold = { request, amount, covered, charge, rates, expiresAt: request.expiresAt, expired: false };
    this.#holds.set(request.holdId, hold);
    this.#count(hold, 1n);
    for (const counter of this.#countersOf(request)) counter.holds += 1;
    const taken = { held: true, outputTokens: tokens, amount, lanes: request.lanes.map((lane) => this.#state(lane)) } as const;
    return request.rates ? { ...taken, rates: this.#rates.status(request.rates.lanes) } : taken;
  }

  /** Puts the hold's amounts on its lanes, or takes them off. */
  #count({ request, amount, covered, charge }: Hold, sign: 1n | -1n): void {
    for (const lane of request.lanes) this.#counter(lane.id).held += sign * amount;
    if (request.funds) this.#counter(request.funds.id).held += sign * charge;
    if (request.quota) add(this.#quotaCounter(request.quota.id).held, covered, sign);
  }

  /** It counts as running no longer, though it may still be settled. */
  #release(hold: Hold): void {
    this.#count(hold, -1n);
    if (hold.rates) this.#rates.release(hold.rates);
  }

  /** From now on it cannot be settled. */
  #forget(holdId: string, { request }: Hold): void {
    this.#holds.delete(holdId);
    for (const counter of this.#countersOf(request)) counter.holds -= 1;
  }

  /**
   * What the quota gives a hold at its settlement: what it has reserved, and what others have left since. Usage inside the quota costs
   * nothing, even where the worst case would not have fitted. An expired hold keeps its word too.
   */
  #coverOf({ covered, expired }: Hold, quota: QuotaLane): Units {
    const cover = (meter: string, left: bigint) => {
      const reserved = covered[meter] ?? 0n;
      return expired ? maxOf(left, reserved) : maxOf(left, 0n) + reserved;
    };
    return Object.fromEntries(Object.entries(this.#quotaLeft(quota)).map(([meter, left]) => [meter, cover(meter, left)]));
  }

  #isWritten({ settledAt }: Counter): boolean {
    return settledAt === undefined || this.#journal.isAcknowledged(settledAt);
  }

  #state(lane: MoneyLane): LaneState {
    const { cap, spent, held } = this.#counter(lane.id);
    return { id: lane.id, source: lane.source, cap, spent, held };
  }

  #quotaLeft(quota: QuotaLane, { ignoreHeld = false } = {}): Units {
    const { used, held } = this.#quotaCounter(quota.id);
    const left = (meter: string, cap: bigint) => cap - (used[meter] ?? 0n) - (ignoreHeld ? 0n : (held[meter] ?? 0n));
    return Object.fromEntries(Object.entries(quota.caps).map(([meter, cap]) => [meter, left(meter, cap)]));
  }

  *#countersOf(request: HoldRequest): Iterable<Counter> {
    for (const lane of moneyLanes(request)) yield this.#counter(lane.id);
    if (request.quota) yield this.#quotaCounter(request.quota.id);
  }

  #counter(id: string): MoneyCounter {
    const counter = this.#money.get(id);
    if (!counter) throw new Error(`Lane ${id} is not loaded`);
    return counter;
  }

  #quotaCounter(id: string): QuotaCounter {
    const counter = this.#quota.get(id);
    if (!counter) throw new Error(`Quota lane ${id} is not loaded`);
    return counter;
  }

  #missing(request: HoldRequest): string[] {
    const missing: string[] = [];
    for (const lane of request.lanes) if (!this.#money.has(lane.id)) missing.push(lane.id);
    if (request.funds && !this.#money.has(request.funds.id)) missing.push(request.funds.id);
    if (request.quota && !this.#quota.has(request.quota.id)) missing.push(request.quota.id);
    return missing;
  }

  async #loadThenHold(request: HoldRequest, missing: readonly string[]): Promise<HoldOutcome> {
    const at = request.at;
    await Promise.all(
      missing.map((id) =>
        id === request.quota?.id ? this.#load(id, () => this.#loadQuota(id, at)) : this.#load(id, () => this.#loadMoney(id, at)),
      ),
    );
    return this.hold(request);
  }

  /** One read per lane, however many requests wait for it. */
  #load(id: string, read: () => Promise<void>): Promise<void> {
    const loading = this.#loading.get(id) ?? read().finally(() => this.#loading.delete(id));
    this.#loading.set(id, loading);
    return loading;
  }

  async #loadMoney(id: string, at: number): Promise<void> {
    const { spent, cap } = await this.#source.moneyLane(id);
    // A credit that arrived meanwhile may or may not be in what was read.
    if (this.#creditedWhileLoading.delete(id)) return this.#loadMoney(id, at);
    this.#money.set(id, { spent, cap, held: 0n, holds: 0, touchedAt: at, settledAt: undefined });
  }

  async #loadQuota(id: string, at: number): Promise<void> {
    this.#quota.set(id, { used: { ...(await this.#source.quotaLane(id)) }, held: {}, holds: 0, touchedAt: at, settledAt: undefined });
  }
}

const moneyLanes = (request: HoldRequest): readonly MoneyLane[] => (request.funds ? [...request.lanes, request.funds] : request.lanes);

/** The account may not go beyond its quota at all. */
const nothingBeyond = (quota: QuotaLane | null): LaneState => ({ id: quota?.id ?? '', source: 'plan_quota', cap: 0n, spent: 0n, held: 0n });

function add(counters: Record<string, bigint>, units: Units, sign: 1n | -1n): void {
  for (const [meter, amount] of Object.entries(units)) counters[meter] = (counters[meter] ?? 0n) + sign * amount;
}
