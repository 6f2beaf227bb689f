import { maxOf, minOf, type NanoUsd, picoToNano, proRata } from '../../kernel/money.ts';
import type { HoldRequest, InFlight, JournalEntry, Settled, Units } from './port.ts';

/** Worst-case cost with that many tokens out. */
export const costAt = (cost: HoldRequest['cost'], outputTokens: number): NanoUsd =>
  picoToNano(cost.fixed + BigInt(outputTokens) * cost.perOutputToken);

/** Worst-case units with that many tokens out. */
export const unitsAt = (
  { units, unitsPerOutputToken = 1 }: Pick<HoldRequest, 'units' | 'unitsPerOutputToken'>,
  outputTokens: number,
): Units => ({
  ...units,
  tokens: (units['tokens'] ?? 0n) + BigInt(outputTokens) * BigInt(unitsPerOutputToken),
});

/**
 * What a quota covers of a use, and the money that is left to pay. The scarcest meter decides: a request is covered as far as every one
 * of its meters is, and the rest of its cost is charged pro rata, rounded up. Covered units are rounded up too, so that the request which
 * crosses the line counts as a request. Without any quota nothing is covered.
 *
 * For a use within the held one, covered by the held cover, the charge is never more than the held charge: the cost shrinks and the covered
 * share of it grows.
 */
export function drawOnQuota(use: Units, left: Units | null, cost: NanoUsd): { covered: Units; charge: NanoUsd } {
  if (!left) return { covered: {}, charge: cost };
  // The covered share as a fraction, kept exact: the smallest of left/amount over all meters, at most 1.
  let part = 1n;
  let whole = 1n;
  for (const meter in use) {
    const amount = use[meter] ?? 0n;
    if (amount <= 0n) continue;
    const available = maxOf(0n, minOf(left[meter] ?? 0n, amount));
    if (available * whole < part * amount) [part, whole] = [available, amount];
  }
  const covered: Record<string, bigint> = {};
  for (const meter in use) {
    const amount = use[meter] ?? 0n;
    if (amount > 0n) covered[meter] = part === whole ? amount : proRata(amount, part, whole);
  }
  return { covered, charge: part === whole ? 0n : proRata(cost, whole - part, whole) };
}

/** A hold, or what of it is reserved for one part. */
export interface Reserve {
  readonly amount: NanoUsd;
  readonly covered: Units;
  readonly charge: NanoUsd;
}

/** With the units that it was taken for. */
export type HeldUnits = Reserve & { readonly units: Units };

/**
 * What a part has of a hold: at most what is left of it, and of cover and charge the like share, rounded up. So the parts never free more
 * than was held, whatever they claim, and the last ones may have a nano-dollar less.
 */
export function shareOf(whole: HeldUnits, left: Reserve, part: { readonly amount: NanoUsd; readonly units: Units }): Reserve {
  const amount = minOf(part.amount, left.amount);
  const covered: Record<string, bigint> = {};
  for (const meter in whole.covered) {
    const units = whole.units[meter] ?? 0n;
    const share = units > 0n ? proRata(whole.covered[meter] ?? 0n, minOf(part.units[meter] ?? 0n, units), units) : 0n;
    covered[meter] = minOf(share, left.covered[meter] ?? 0n);
  }
  const charge = whole.amount > 0n ? minOf(proRata(whole.charge, amount, whole.amount), left.charge) : 0n;
  return { amount, covered, charge };
}

/** What a use comes to: what its account pays, and what of the provider's bill is waived. */
export interface Charge extends Omit<Settled, 'lanes'> {
  /** The bill without what is waived: what money lanes count. */
  readonly cost: NanoUsd;
}

/**
 * What an account pays of a use: never more than was held for it, which is what the answer's promise names. Where the provider bills more, the
 * quota covers no more units than were held, the charge is at most the held one, and the rest of the bill is waived.
 *
 * @param held with the units that it was taken for
 * @param cover what the quota has for it by now; null: no quota
 */
export function chargeWithin(held: HeldUnits, { units, cost }: Pick<InFlight, 'units' | 'cost'>, cover: Units | null): Charge {
  if (cost <= held.amount) {
    const { covered, charge } = drawOnQuota(units, cover, cost);
    return { cost, covered, charged: charge, debt: maxOf(0n, charge - held.charge) };
  }
  const { covered, charge } = drawOnQuota(units, cover && atMost(cover, held.units), held.amount);
  return { cost: held.amount, covered, charged: minOf(charge, held.charge), debt: 0n, waived: cost - held.amount };
}

const atMost = (cover: Units, most: Units): Units =>
  Object.fromEntries(Object.entries(cover).map(([meter, units]) => [meter, minOf(units, most[meter] ?? 0n)]));

/** The largest value in [least, most] for which `fits` holds, given that it holds for `least` and is monotonic. */
export function largestThatFits(least: number, most: number, fits: (value: number) => boolean): number {
  let low = least;
  let high = most;
  while (low < high) {
    const middle = low + Math.ceil((high - low) / 2);
    if (fits(middle)) low = middle;
    else high = middle - 1;
  }
  return low;
}

function isEmpty(units: Units): boolean {
  for (const _meter in units) return false;
  return true;
}

/**
 * What a use comes to that is settled by what was held for it and nothing else, as where its process died. By the rule of every settlement, so
 * that its receipt shows how cover and charge follow from each other.
 */
export function drawOnHold(held: Reserve, use: Pick<InFlight, 'units' | 'cost'>): Omit<Charge, 'cost'> {
  // Where nothing of a quota was reserved, nothing is covered, whatever is used.
  const cover = isEmpty(held.covered) ? null : held.covered;
  const { cost: _, covered, ...paid } = chargeWithin({ ...held, units: held.covered }, use, cover);
  const some: Record<string, bigint> = {};
  for (const meter in covered) {
    const amount = covered[meter] ?? 0n;
    if (amount > 0n) some[meter] = amount;
  }
  return { covered: some, ...paid };
}

/** The caps of a request that no source of lanes has. */
export function capsOf({ lanes, funds }: Pick<HoldRequest, 'lanes' | 'funds'>): Pick<JournalEntry, 'caps'> {
  let caps: Record<string, bigint> | undefined;
  for (const { id, cap, capRule } of funds ? [...lanes, funds] : lanes) {
    if (capRule !== 'given' || cap === null) continue;
    caps ??= {};
    caps[id] = cap;
  }
  return caps ? { caps } : {};
}
