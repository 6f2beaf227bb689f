import { maxOf, minOf, type NanoUsd } from '../../kernel/money.ts';
import type { HoldRequest, MoneyLane, PartSettlement, Refund, Settled, Settlement, Units } from './port.ts';

interface ReferenceHold {
  readonly request: HoldRequest;
  readonly outputTokens: number;
  readonly amount: NanoUsd;
  readonly covered: Units;
  readonly charge: NanoUsd;
  /** What its parts have taken out of it. */
  readonly parts: { readonly amount: NanoUsd; readonly covered: Units; readonly charge: NanoUsd }[];
}

interface Draw {
  readonly covered: Units;
  readonly charge: NanoUsd;
}

type Paid = Omit<Settled, 'lanes'>;

interface Reserved extends Draw {
  readonly amount: NanoUsd;
  readonly units: Units;
}

const PICO_PER_NANO = 1000n;
const ceilDiv = (a: bigint, b: bigint): bigint => a / b + (a % b > 0n ? 1n : 0n);
const sum = (values: readonly bigint[]): bigint => values.reduce((total, value) => total + value, 0n);
const least = (values: readonly bigint[]): bigint => values.reduce(minOf);

/**
 * What a lane store has to do, written for the eye: it keeps every hold and settlement there ever was, adds them up each time it is asked,
 * and finds the largest bound by trying them all. For small numbers only.
 */
export class ReferenceLanes {
  readonly #holds = new Map<string, ReferenceHold>();
  readonly #settled: { request: HoldRequest; cost: NanoUsd; covered: Units; charged: NanoUsd }[] = [];
  readonly #once = new Set<string>();
  readonly #caps: Map<string, NanoUsd | null>;

  /** @param credited what was paid in, by lane */
  constructor(credited: ReadonlyMap<string, NanoUsd>) {
    this.#caps = new Map(credited);
  }

  /** Tokens out and amount that are held, or why nothing is. */
  hold(request: HoldRequest): { held: true; outputTokens: number; amount: NanoUsd } | { held: false; mayFitLater: boolean } {
    for (const lane of this.#lanesOf(request)) this.#setCap(lane);
    for (let tokens = request.outputTokens.wanted; tokens >= request.outputTokens.least; tokens -= 1) {
      if (!this.#fits(request, tokens, { ignoreHeld: false })) continue;
      const amount = costOf(request, tokens);
      const { covered, charge } = this.#draw(request, tokens, { ignoreHeld: false });
      this.#holds.set(request.holdId, {
        request,
        outputTokens: tokens,
        amount,
        covered,
        charge,
        parts: [],
      });
      return { held: true, outputTokens: tokens, amount };
    }
    return { held: false, mayFitLater: this.#fits(request, request.outputTokens.least, { ignoreHeld: true }) };
  }

  settle({ holdId, cost: billed, units }: Settlement): Paid | undefined {
    const hold = this.#holds.get(holdId);
    if (!hold) return undefined;
    this.#holds.delete(holdId);
    const { request } = hold;
    const left = leftOf(hold);
    const paid = this.#pay(request, { units, cost: billed }, { ...left, units: unitsOf(hold) });
    this.#settled.push({ request, ...paid });
    return { covered: paid.covered, charged: paid.charged, debt: maxOf(0n, paid.charged - left.charge), ...waivedOf(billed, paid) };
  }

  settlePart(holdId: string, part: PartSettlement): Paid | 'settled_before' | 'no_hold' {
    if (this.#once.has(part.partId)) return 'settled_before';
    const hold = this.#holds.get(holdId);
    if (!hold) return 'no_hold';
    this.#once.add(part.partId);
    const { request } = hold;
    const left = leftOf(hold);
    const amount = least([part.reserved.amount, left.amount]);
    const held = unitsOf(hold);
    const share = {
      amount,
      charge: hold.amount === 0n ? 0n : least([left.charge, ceilDiv(hold.charge * amount, hold.amount)]),
      covered: Object.fromEntries(
        Object.entries(hold.covered).map(([m, covered]) => {
          const whole = held[m] ?? 0n;
          const units = least([part.reserved.units[m] ?? 0n, whole]);
          return [m, whole === 0n ? 0n : least([left.covered[m] ?? 0n, ceilDiv(covered * units, whole)])];
        }),
      ),
    };
    // With its share taken out of the hold, that share is left again.
    hold.parts.push(share);
    const most = share.charge + part.reserved.amount - amount;
    const { cost, covered, charged: drawn } = this.#pay(request, part, { ...share, ...part.reserved, charge: most });
    const charged = least([drawn, share.charge + maxOf(0n, cost - amount)]);
    this.#settled.push({ request, cost, covered, charged });
    return { covered, charged, debt: maxOf(0n, charged - share.charge), ...waivedOf(part.cost, { cost }) };
  }

  /** To be asked once what was reserved is out of the hold: then it is left again, even where others have used more than there was. */
  #pay(request: HoldRequest, { units, cost: billed }: Pick<Settlement, 'units' | 'cost'>, held: Reserved) {
    const isOver = billed > held.amount;
    const cost = isOver ? held.amount : billed;
    if (!request.quota) return { cost, covered: {}, charged: isOver ? least([cost, held.charge]) : cost };
    const free = this.#quotaLeft(request, { ignoreHeld: false });
    const left = (m: string) => maxOf(free[m] ?? 0n, held.covered[m] ?? 0n);
    const cover = (m: string) => (isOver ? least([left(m), held.units[m] ?? 0n]) : left(m));
    const { covered, charge } = drawOn(units, Object.fromEntries(Object.keys(free).map((m) => [m, cover(m)])), cost);
    return { cost, covered, charged: isOver ? least([charge, held.charge]) : charge };
  }

  release(holdId: string): void {
    this.#holds.delete(holdId);
  }

  /** @param of the request whose lanes it is given back to */
  refund({ refundId, cost, charged, covered }: Refund, of: HoldRequest): boolean {
    if (this.#once.has(refundId)) return false;
    this.#once.add(refundId);
    const negative = Object.fromEntries(Object.entries(covered).map(([m, units]) => [m, -units]));
    this.#settled.push({ request: of, cost: -cost, charged: -charged, covered: negative });
    return true;
  }

  credit(laneId: string, amount: NanoUsd): void {
    this.#caps.set(laneId, (this.#caps.get(laneId) ?? 0n) + amount);
  }

  counters(laneId: string): { spent: NanoUsd; held: NanoUsd; cap: NanoUsd | null } {
    return { spent: this.#spent(laneId), held: this.#held(laneId), cap: this.#caps.get(laneId) ?? null };
  }

  #lanesOf = (request: HoldRequest): readonly MoneyLane[] => (request.funds ? [...request.lanes, request.funds] : request.lanes);

  #setCap({ id, cap, capRule }: MoneyLane): void {
    const known = this.#caps.get(id) ?? null;
    if (capRule === 'given') this.#caps.set(id, cap);
    if (capRule === 'tightening') this.#caps.set(id, known === null || cap === null ? (known ?? cap) : least([known, cap]));
  }

  #spent = (laneId: string): NanoUsd =>
    sum(
      this.#settled.flatMap(({ request, cost, charged }) => [
        ...request.lanes.filter(({ id }) => id === laneId).map(() => cost),
        request.funds?.id === laneId ? charged : 0n,
      ]),
    );

  #held = (laneId: string): NanoUsd =>
    sum(
      [...this.#holds.values()].flatMap((hold) => [
        ...hold.request.lanes.filter(({ id }) => id === laneId).map(() => leftOf(hold).amount),
        hold.request.funds?.id === laneId ? leftOf(hold).charge : 0n,
      ]),
    );

  #fits(request: HoldRequest, tokens: number, options: { ignoreHeld: boolean }): boolean {
    const room = (lane: MoneyLane, amount: NanoUsd) => {
      const cap = this.#caps.get(lane.id) ?? null;
      const held = options.ignoreHeld ? 0n : this.#held(lane.id);
      return cap === null || this.#spent(lane.id) + held + amount <= cap;
    };
    const { charge } = this.#draw(request, tokens, options);
    const isPaid = charge === 0n || (request.funds !== null && room(request.funds, charge));
    return isPaid && request.lanes.every((lane) => room(lane, costOf(request, tokens)));
  }

  #draw(request: HoldRequest, tokens: number, options: { ignoreHeld: boolean }): Draw {
    if (!request.quota) return { covered: {}, charge: costOf(request, tokens) };
    return drawOn(unitsOf({ request, outputTokens: tokens }), this.#quotaLeft(request, options), costOf(request, tokens));
  }

  #quotaLeft({ quota }: HoldRequest, { ignoreHeld }: { ignoreHeld: boolean }): Units {
    const used = (meter: string) =>
      this.#settled.map(({ request, covered }) => (request.quota?.id === quota?.id ? (covered[meter] ?? 0n) : 0n));
    const held = (meter: string) =>
      [...this.#holds.values()].map((hold) =>
        !ignoreHeld && hold.request.quota?.id === quota?.id ? (leftOf(hold).covered[meter] ?? 0n) : 0n,
      );
    return Object.fromEntries(Object.entries(quota?.caps ?? {}).map(([m, cap]) => [m, cap - sum(used(m)) - sum(held(m))]));
  }
}

/** What no part has taken out of the hold yet. */
function leftOf({ amount, covered, charge, parts }: ReferenceHold): { amount: NanoUsd; covered: Units; charge: NanoUsd } {
  return {
    amount: amount - sum(parts.map((part) => part.amount)),
    charge: charge - sum(parts.map((part) => part.charge)),
    covered: Object.fromEntries(Object.entries(covered).map(([m, units]) => [m, units - sum(parts.map((part) => part.covered[m] ?? 0n))])),
  };
}

const unitsOf = ({ request, outputTokens }: Pick<ReferenceHold, 'request' | 'outputTokens'>): Units => ({
  ...request.units,
  tokens: (request.units['tokens'] ?? 0n) + BigInt(outputTokens) * BigInt(request.unitsPerOutputToken ?? 1),
});

const waivedOf = (billed: NanoUsd, { cost }: { readonly cost: NanoUsd }) => (billed > cost ? { waived: billed - cost } : {});

const costOf = ({ cost }: HoldRequest, tokens: number): NanoUsd =>
  ceilDiv(cost.fixed + cost.perOutputToken * BigInt(tokens), PICO_PER_NANO);

/** Over one common denominator: the covered share is the smallest over the meters that are used. */
function drawOn(use: Units, left: Units, cost: NanoUsd): Draw {
  const meters = Object.entries(use).filter(([, amount]) => amount > 0n);
  const whole = meters.reduce((product, [, amount]) => product * amount, 1n);
  const shares = meters.map(([meter, amount]) => least([whole, (maxOf(0n, left[meter] ?? 0n) * whole) / amount]));
  const share = shares.length === 0 ? whole : least(shares);
  return {
    covered: Object.fromEntries(meters.map(([meter, amount]) => [meter, ceilDiv(amount * share, whole)])),
    charge: ceilDiv(cost * (whole - share), whole),
  };
}
