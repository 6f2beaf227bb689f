import { maxOf, minOf, type NanoUsd } from '../../kernel/money.ts';
import type { HoldRequest, MoneyLane, Settlement, Units } from './port.ts';

interface ReferenceHold {
  readonly request: HoldRequest;
  readonly amount: NanoUsd;
  readonly covered: Units;
  readonly charge: NanoUsd;
  expiresAt: number;
  isRunning: boolean;
}

interface Draw {
  readonly covered: Units;
  readonly charge: NanoUsd;
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
      this.#holds.set(request.holdId, { request, amount, covered, charge, expiresAt: request.expiresAt, isRunning: true });
      return { held: true, outputTokens: tokens, amount };
    }
    return { held: false, mayFitLater: this.#fits(request, request.outputTokens.least, { ignoreHeld: true }) };
  }

  renew(holdId: string, expiresAt: number): void {
    const hold = this.#holds.get(holdId);
    if (hold?.isRunning) hold.expiresAt = expiresAt;
  }

  settle({ holdId, cost, units }: Settlement): { covered: Units; charged: NanoUsd; debt: NanoUsd } | undefined {
    const hold = this.#holds.get(holdId);
    if (!hold) return undefined;
    this.#holds.delete(holdId);
    const { request } = hold;
    let drawn: Draw = { covered: {}, charge: cost };
    if (request.quota) {
      // The hold is gone, so what it had reserved is left again; after an expiry somebody else may have it by now.
      const left = this.#quotaLeft(request, { ignoreHeld: false });
      drawn = drawOn(units, Object.fromEntries(Object.keys(left).map((m) => [m, maxOf(left[m] ?? 0n, hold.covered[m] ?? 0n)])), cost);
    }
    this.#settled.push({ request, cost, covered: drawn.covered, charged: drawn.charge });
    return { covered: drawn.covered, charged: drawn.charge, debt: maxOf(0n, drawn.charge - hold.charge) };
  }

  credit(laneId: string, amount: NanoUsd): void {
    this.#caps.set(laneId, (this.#caps.get(laneId) ?? 0n) + amount);
  }

  sweep(now: number): number {
    const expired = [...this.#holds.values()].filter((hold) => hold.isRunning && hold.expiresAt <= now);
    for (const hold of expired) hold.isRunning = false;
    return expired.length;
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
      [...this.#holds.values()]
        .filter(({ isRunning }) => isRunning)
        .flatMap(({ request, amount, charge }) => [
          ...request.lanes.filter(({ id }) => id === laneId).map(() => amount),
          request.funds?.id === laneId ? charge : 0n,
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
    const units = { ...request.units, tokens: (request.units['tokens'] ?? 0n) + BigInt(tokens) };
    return drawOn(units, this.#quotaLeft(request, options), costOf(request, tokens));
  }

  #quotaLeft({ quota }: HoldRequest, { ignoreHeld }: { ignoreHeld: boolean }): Units {
    const used = (meter: string) =>
      this.#settled.map(({ request, covered }) => (request.quota?.id === quota?.id ? (covered[meter] ?? 0n) : 0n));
    const held = (meter: string) =>
      [...this.#holds.values()].map((hold) =>
        hold.isRunning && !ignoreHeld && hold.request.quota?.id === quota?.id ? (hold.covered[meter] ?? 0n) : 0n,
      );
    return Object.fromEntries(Object.entries(quota?.caps ?? {}).map(([m, cap]) => [m, cap - sum(used(m)) - sum(held(m))]));
  }
}

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
