import { steadyMs } from '../../kernel/clock.ts';
import { maxOf, minOf, type NanoUsd } from '../../kernel/money.ts';
import { capsOf, chargeWithin, costAt, drawOnHold, drawOnQuota, largestThatFits, shareOf, unitsAt } from './lane-arithmetic.ts';
import { LateLanes } from './late-lanes.ts';
import { LoadedLanes } from './loaded-lanes.ts';
import { OnceIds } from './once-ids.ts';
import {
  addUnits,
  type Counter,
  count,
  coverOf,
  type Hold,
  type MoneyCounter,
  type Passage,
  quotaLeft,
  refusalOf,
  spend,
  statesOf,
  without,
} from './passage.ts';
import type {
  Held,
  HoldOutcome,
  HoldRequest,
  InFlight,
  LaneSource,
  LaneStore,
  MoneyLane,
  PartOutcome,
  PartSettlement,
  RateLane,
  RateStatus,
  Refund,
  Settled,
  Settlement,
  Units,
} from './port.ts';
import { RateLanes } from './rate-lanes.ts';
import type { SettlementJournal } from './settlement-journal.ts';

/** What the lanes need of the journal: to write to it, and to know what was taken from it. */
type Journal = Pick<SettlementJournal, 'append' | 'appendCeiling' | 'begin' | 'end' | 'isAcknowledged'>;

const IDLE_LANE_MS = 900_000;

/**
 * Lanes in the memory of the one process of the embedded default. Everything between reading a counter and writing it is synchronous,
 * which is what makes it atomic. Lanes are loaded from their source on first use; what is settled is in the journal before `settle` returns.
 * A hold ends with its process or before: no clock ends it.
 */
export class InProcessLanes implements LaneStore {
  readonly #lanes: LoadedLanes;
  readonly #holds = new Map<string, Hold>();
  readonly #rates = new RateLanes();
  /** Parts and refunds. */
  readonly #once = new OnceIds((position) => this.#journal.isAcknowledged(position));
  readonly #journal: Journal;
  readonly #now: () => number;
  readonly late: LateLanes;

  /** @param now milliseconds, as `steadyMs` */
  constructor(source: LaneSource, journal: Journal, now: () => number = steadyMs) {
    this.#journal = journal;
    this.#now = now;
    this.#lanes = new LoadedLanes(source, (position) => journal.isAcknowledged(position));
    this.late = new LateLanes(this.#lanes, journal, this.#once);
  }

  get books(): LoadedLanes {
    return this.#lanes;
  }

  hold(request: HoldRequest): HoldOutcome | Promise<HoldOutcome> {
    const missing = this.#lanes.missingOf(request);
    return missing.length === 0
      ? this.#holdLoaded(request)
      : this.#lanes.load(missing, request.quota?.id, this.#now()).then(() => this.hold(request));
  }

  begin(inFlight: InFlight): void {
    const { holdId, record } = inFlight;
    const hold = this.#holds.get(holdId);
    if (!hold) throw new Error(`There is no hold ${holdId}`);
    this.#journal.begin({ holdId, ...drawOnHold(hold.left, inFlight), record, ...capsOf(hold.passage.request) });
    hold.inFlight = inFlight;
  }

  settle({ holdId, cost, units, record, rateTokens }: Settlement): Settled | undefined {
    const hold = this.#holds.get(holdId);
    if (!hold) return undefined;
    const { passage } = hold;
    const { cost: counted, ...paid } = chargeWithin(
      { ...hold.left, units: hold.whole.units },
      { units, cost },
      coverOf(hold, hold.left.covered, units),
    );
    // The journal first: if it cannot be written, nothing has happened and the hold stands.
    const settledAt = this.#journal.append({ ...paid, record, ...capsOf(passage.request) }, hold.inFlight && holdId);

    this.#end(holdId, hold);
    if (hold.rates && rateTokens !== undefined) this.#rates.correct(hold.rates, rateTokens, this.#now());
    spend(passage, { cost: counted, ...paid }, settledAt);
    return { ...paid, lanes: statesOf(passage) };
  }

  settlePart(holdId: string, { partId, reserved, cost, units, record }: PartSettlement): PartOutcome {
    if (this.#once.has(partId)) return 'settled_before';
    const hold = this.#holds.get(holdId);
    if (!hold) return 'no_hold';
    const { passage, whole, left } = hold;
    const share = shareOf(whole, left, reserved);
    const within = { ...share, ...reserved, charge: share.charge + reserved.amount - share.amount };
    const drawn = chargeWithin(within, { units, cost }, coverOf(hold, share.covered, units));
    // Units do not divide as finely as money: a line whose share of a request rounds to nothing is charged as it was held all the same.
    const charged = minOf(drawn.charged, share.charge + maxOf(0n, drawn.cost - share.amount));
    const { cost: counted, ...paid } = { ...drawn, charged, debt: maxOf(0n, charged - share.charge) };
    const settledAt = this.#journal.append({ ...paid, record, ...capsOf(passage.request) });

    this.#once.add(partId, settledAt);
    count(passage, share, -1n);
    hold.left = without(left, share);
    spend(passage, { cost: counted, ...paid }, settledAt);
    return { ...paid, lanes: statesOf(passage) };
  }

  release(holdId: string): void {
    const hold = this.#holds.get(holdId);
    if (!hold) return;
    if (hold.inFlight) this.#journal.end(holdId);
    this.#end(holdId, hold);
  }

  abandon(holdId: string): boolean {
    const inFlight = this.#holds.get(holdId)?.inFlight;
    if (inFlight) this.settle(inFlight);
    else this.release(holdId);
    return inFlight !== undefined;
  }

  refund(refund: Refund): boolean | Promise<boolean> {
    const missing = this.#lanes.missing(refund);
    // Of a past month mostly: nobody else has touched it, and nobody needs it for long.
    return missing.length === 0
      ? this.#refundLoaded(refund)
      : this.#lanes.load(missing, refund.quota, Number.NEGATIVE_INFINITY).then(() => this.refund(refund));
  }

  #refundLoaded(refund: Refund): boolean {
    const { refundId, cost, charged, covered, record } = refund;
    if (this.#once.has(refundId)) return false;
    const money = refund.lanes.map((id) => this.#lanes.money(id));
    const funds = refund.funds === null ? undefined : this.#lanes.money(refund.funds);
    const quota = refund.quota === null ? undefined : this.#lanes.quota(refund.quota);
    const settledAt = this.#journal.append({ charged, debt: 0n, covered, record });

    this.#once.add(refundId, settledAt);
    for (const counter of money) counter.spent -= cost;
    if (funds) funds.spent -= charged;
    if (quota) addUnits(quota.used, covered, -1n);
    for (const counter of [...money, funds, quota]) if (counter) counter.settledAt = settledAt;
    return true;
  }

  rates(_accountId: string, lanes: readonly RateLane[]): RateStatus {
    return this.#rates.glance(lanes, this.#now());
  }

  countRefused(_accountId: string, lanes: readonly RateLane[]): RateStatus {
    return this.#rates.takeRefused(lanes, this.#now());
  }

  refreshCredit(laneId: string): Promise<void> {
    return this.#lanes.refreshCredit(laneId);
  }

  /** There is no other process: nothing is freed, whatever the clock says. */
  sweep(): number {
    const now = this.#now();
    this.#lanes.forgetIdle(now - IDLE_LANE_MS);
    this.#rates.forgetIdle(now - IDLE_LANE_MS);
    this.#once.forget(now);
    return 0;
  }

  inspect(laneIds: readonly string[]): Promise<ReadonlyMap<string, { spent: NanoUsd; held: NanoUsd; cap: NanoUsd | null }>> {
    return this.#lanes.inspect(laneIds);
  }

  #holdLoaded(request: HoldRequest): HoldOutcome {
    if (this.#holds.has(request.holdId)) throw new Error(`There is a hold ${request.holdId} already`);
    const passage = this.#passage(request);
    const now = this.#now();
    for (const counter of passage.all) counter.touchedAt = now;
    const tooFast = request.rates && this.#rates.refusal(request.rates, now);
    if (tooFast) return tooFast;
    for (const lane of request.lanes) this.#applyCap(this.#lanes.money(lane.id), lane, request.at);
    if (request.funds) this.#applyCap(this.#lanes.money(request.funds.id), request.funds, request.at);

    const { wanted, least } = request.outputTokens;
    const left = quotaLeft(passage, unitsAt(request, wanted));
    if (!refusalOf(passage, wanted, left)) return this.#take(passage, wanted, left);
    const refusal = refusalOf(passage, least, left);
    if (refusal) {
      return { ...refusal, lanes: statesOf(passage), ...(request.rates && { rates: this.#rates.status(request.rates.lanes) }) };
    }
    const tokens = largestThatFits(least, wanted, (count) => !refusalOf(passage, count, left));
    return this.#take(passage, tokens, left);
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

  #take(passage: Passage, tokens: number, quota: Units | null): Held {
    const { request } = passage;
    const amount = costAt(request.cost, tokens);
    const { covered, charge } = drawOnQuota(unitsAt(request, tokens), quota, amount);
    const rates = request.rates && this.#rates.take(request.rates);
    const left = { amount, covered, charge };
    const whole = { ...left, units: unitsAt(request, tokens) };
    this.#holds.set(request.holdId, { passage, whole, left, rates, inFlight: undefined });
    count(passage, left, 1n);
    for (const counter of passage.all) counter.holds += 1;
    const taken = { held: true, outputTokens: tokens, amount, lanes: statesOf(passage) } as const;
    return request.rates ? { ...taken, rates: this.#rates.status(request.rates.lanes) } : taken;
  }

  /** It counts no longer, and cannot be settled any more. */
  #end(holdId: string, { passage, left, rates }: Hold): void {
    count(passage, left, -1n);
    if (rates) this.#rates.release(rates);
    this.#holds.delete(holdId);
    for (const counter of passage.all) counter.holds -= 1;
  }

  #passage(request: HoldRequest): Passage {
    const money = request.lanes.map(({ id }) => this.#lanes.money(id));
    const funds = request.funds ? this.#lanes.money(request.funds.id) : undefined;
    const quota = request.quota ? this.#lanes.quota(request.quota.id) : undefined;
    const all: Counter[] = [...money];
    if (funds) all.push(funds);
    if (quota) all.push(quota);
    return { request, money, funds, quota, all };
  }
}
