import { maxOf, type NanoUsd } from '../../kernel/money.ts';
import { type Charge, costAt, drawOnQuota, type HeldUnits, type Reserve, unitsAt } from './lane-arithmetic.ts';
import type { HoldRequest, InFlight, LaneState, MeterState, MoneyLane, Refused, Units } from './port.ts';
import type { RateTake } from './rate-lanes.ts';
import type { JournalPosition } from './settlement-journal.ts';

export interface Counter {
  /** How many holds may still be settled on it. */
  holds: number;
  /** When a request last named it, on the clock of the lanes. */
  touchedAt: number;
  /** Where its newest settlement or ceiling is in the journal. */
  settledAt: JournalPosition | undefined;
}

export interface MoneyCounts {
  spent: NanoUsd;
  held: NanoUsd;
  cap: NanoUsd | null;
}

export interface QuotaCounts {
  used: Record<string, bigint>;
  held: Record<string, bigint>;
}

export interface MoneyCounter extends Counter, MoneyCounts {
  /** How many credits the cap is the sum of. */
  credits: number;
}

export interface QuotaCounter extends Counter, QuotaCounts {}

/** A request with what is counted on its lanes at one moment, wherever that is kept. */
export interface Standing {
  readonly request: HoldRequest;
  /** Of `request.lanes`, in their order. */
  readonly money: readonly MoneyCounts[];
  readonly funds: MoneyCounts | undefined;
  readonly quota: QuotaCounts | undefined;
}

/** A request with the counters of its lanes, looked up once: a counter is not dropped while a hold on it may be settled. */
export interface Passage extends Standing {
  readonly money: readonly MoneyCounter[];
  readonly funds: MoneyCounter | undefined;
  readonly quota: QuotaCounter | undefined;
  /** Each of them. */
  readonly all: readonly Counter[];
}

/** Which lane refuses, and why. */
type Refusal = Omit<Refused, 'lanes' | 'rates'>;

/** The lane that refuses so many tokens, one that waiting cannot cure before one that it can; undefined when all agree. */
export function refusalOf(passage: Standing, tokens: number, left: Units | null): Refusal | undefined {
  const { request, money } = passage;
  const amount = costAt(request.cost, tokens);
  if (request.isForDebt && amount === 0n) return undefined;
  let inFlight: Refusal | undefined;
  for (let index = 0; index < money.length; index += 1) {
    const counter = money[index];
    const lane = request.lanes[index];
    if (!counter || !lane || counter.cap === null || counter.spent + counter.held + amount <= counter.cap) continue;
    const mayFitLater = counter.spent + amount <= counter.cap;
    const refusal: Refusal = { held: false, lane: stateOf(lane, counter), required: amount, resetsAt: lane.resetsAt, mayFitLater };
    if (!mayFitLater) return refusal;
    inFlight ??= refusal;
  }
  const account = accountRefusal(passage, tokens, left);
  return account && !account.mayFitLater ? account : (inFlight ?? account);
}

function accountRefusal(passage: Standing, tokens: number, left: Units | null): Refusal | undefined {
  const { request, funds } = passage;
  const amount = costAt(request.cost, tokens);
  const units = unitsAt(request, tokens);
  const { charge } = drawOnQuota(units, left, amount);
  if (charge === 0n) return undefined;
  const state = request.funds && funds ? stateOf(request.funds, funds) : nothingBeyond(request);
  if (state.cap === null || state.spent + state.held + charge <= state.cap) return undefined;
  const later = drawOnQuota(units, quotaLeft(passage, units, { ignoreHeld: true }), amount).charge;
  const resetsAt = request.funds?.resetsAt ?? request.quota?.resetsAt ?? null;
  const mayFitLater = later === 0n || state.spent + later <= state.cap;
  const meter = request.funds === null ? scarcestOf(passage, units) : undefined;
  return { held: false, lane: state, required: charge, resetsAt, mayFitLater, ...(meter && { meter }) };
}

/** The meter of which the smallest share of the request is left. */
function scarcestOf({ request, quota }: Standing, use: Units): MeterState | undefined {
  let scarcest: MeterState | undefined;
  for (const meter in use) {
    const [cap, required] = [request.quota?.caps[meter] ?? 0n, use[meter] ?? 0n];
    if (required <= 0n) continue;
    const one = { meter, cap, required, used: quota?.used[meter] ?? 0n, held: quota?.held[meter] ?? 0n };
    if (!scarcest || leftOf(one) * scarcest.required < leftOf(scarcest) * required) scarcest = one;
  }
  return scarcest;
}

const leftOf = ({ cap, held, used }: MeterState): bigint => maxOf(0n, cap - used - held);

/** What is left of the quota, of the meters in use alone; null without a quota. A meter that the plan does not name has nothing. */
export function quotaLeft({ request, quota }: Standing, use: Units, { ignoreHeld = false } = {}): Units | null {
  if (!quota || !request.quota) return null;
  const { caps } = request.quota;
  const left: Record<string, bigint> = {};
  for (const meter in use) {
    const cap = caps[meter];
    if (cap !== undefined) left[meter] = cap - (quota.used[meter] ?? 0n) - (ignoreHeld ? 0n : (quota.held[meter] ?? 0n));
  }
  return left;
}

/** The lanes that take the whole cost, as they stand. */
export function statesOf({ request, money }: Pick<Standing, 'request' | 'money'>): LaneState[] {
  const states: LaneState[] = [];
  for (let index = 0; index < money.length; index += 1) {
    const counter = money[index];
    const lane = request.lanes[index];
    if (counter && lane) states.push(stateOf(lane, counter));
  }
  return states;
}

const stateOf = ({ id, source }: MoneyLane, { cap, spent, held }: MoneyCounts): LaneState => ({ id, source, cap, spent, held });

/** The account may not go beyond its quota at all. */
const nothingBeyond = ({ quota }: HoldRequest): LaneState => ({
  id: quota?.id ?? '',
  source: 'plan_quota',
  cap: 0n,
  spent: 0n,
  held: 0n,
});

export function addUnits(counters: Record<string, bigint>, units: Units, sign: 1n | -1n): void {
  for (const meter in units) counters[meter] = (counters[meter] ?? 0n) + sign * (units[meter] ?? 0n);
}

/** What is left of a hold without a share of it. */
export const without = (left: Reserve, share: Reserve): Reserve => ({
  amount: left.amount - share.amount,
  charge: left.charge - share.charge,
  covered: Object.fromEntries(Object.entries(left.covered).map(([meter, units]) => [meter, units - (share.covered[meter] ?? 0n)])),
});

/** Puts a hold's amounts on its lanes, or takes them off. */
export function count({ money, funds, quota }: Passage, { amount, covered, charge }: Reserve, sign: 1n | -1n): void {
  for (const counter of money) counter.held += sign * amount;
  if (funds) funds.held += sign * charge;
  if (quota) addUnits(quota.held, covered, sign);
}

/** Puts on its lanes what a settlement comes to. */
export function spend(
  { money, funds, quota, all }: Passage,
  { cost, charged, covered }: Pick<Charge, 'cost' | 'charged' | 'covered'>,
  settledAt: JournalPosition,
): void {
  for (const counter of money) counter.spent += cost;
  if (funds) funds.spent += charged;
  if (quota) addUnits(quota.used, covered, 1n);
  for (const counter of all) counter.settledAt = settledAt;
}

/**
 * What the quota gives a hold at its settlement: what it has reserved, and what others have left since. Usage inside the quota costs
 * nothing, even where the worst case would not have fitted.
 */
export function coverOf({ passage }: { readonly passage: Passage }, covered: Units, use: Units): Units | null {
  const left = quotaLeft(passage, use);
  if (!left) return null;
  const cover: Record<string, bigint> = {};
  for (const meter in left) {
    const free = left[meter] ?? 0n;
    const reserved = covered[meter] ?? 0n;
    cover[meter] = maxOf(free, 0n) + reserved;
  }
  return cover;
}

/** A hold in the memory of its process. */
export interface Hold {
  readonly passage: Passage;
  /** As it was taken, with the units it was taken for. */
  readonly whole: HeldUnits;
  /** What its parts have left of it. */
  left: Reserve;
  readonly rates: RateTake | undefined;
  /** What settles it should nobody ever say what came of it: its provider was asked. */
  inFlight: InFlight | undefined;
}
