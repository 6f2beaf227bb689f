import type { ReceiptUsage } from '@tallygate/contract';
import { costLines } from '@tallygate/receipts';
import { factorOf } from '../catalog/index.ts';
import type { FocusGroup } from './focus-source.ts';

/** A group of requests under one meter. Amounts are negative where they are given back. */
export interface FocusCharge {
  readonly group: FocusGroup;
  /** One of `costLines`, or `requests` where nothing was metered: of answers from the cache. */
  readonly meter: string;
  readonly units: bigint;
  /** USD a unit, with {@link decimals} decimals: the price in the list, times the factor of a batch. */
  readonly unitPrice: bigint;
  readonly decimals: number;
  /** Nano-USD, as the ledger booked it: at catalogue prices, and of that what was charged beyond the plan's quota. */
  readonly cost: bigint;
  readonly charged: bigint;
}

const PICO_DECIMALS = 12;

/**
 * What a group comes to, meter by meter. A request's cost is rounded up once, so what the ledger booked is divided among the meters by what each
 * costs, and the one that costs most has what is left over: the charges of a group add up to it exactly.
 */
export function focusCharges(group: FocusGroup): FocusCharge[] {
  const sign = group.part === 'refund' || group.part === 'corrected' ? -1n : 1n;
  const lines = pricedLines(group);
  const weights = lines.map(({ units, unitPrice }) => units * unitPrice);
  const [costs, charges] = [divided(BigInt(group.cost_nano), weights), divided(BigInt(group.charged_nano), weights)];
  return lines.map(({ units, ...line }, at) => ({
    ...{ group, ...line, units: sign * units, cost: sign * (costs[at] ?? 0n), charged: sign * (charges[at] ?? 0n) },
  }));
}

function pricedLines({ usage, unit_prices, price_factor, requests }: FocusGroup) {
  const { part, whole } = factorOf(price_factor);
  const decimals = PICO_DECIMALS + String(whole).length - 1;
  const lines = costLines({ usage: usage as ReceiptUsage, unit_prices_pico_usd: unit_prices ?? {} }).map((line) => ({
    ...{ meter: line.meter, units: BigInt(line.units), decimals },
    unitPrice: BigInt(line.unit_price_pico_usd) * (line.has_factor ? part : whole),
  }));
  return lines.length > 0 ? lines : [{ meter: 'requests', units: BigInt(requests), decimals, unitPrice: 0n }];
}

function divided(amount: bigint, weights: readonly bigint[]): bigint[] {
  const sum = weights.reduce((all, weight) => all + weight, 0n);
  const shares = weights.map((weight) => (sum === 0n ? 0n : (amount * weight) / sum));
  const heaviest = weights.reduce((best, weight, at) => (weight > (weights[best] ?? 0n) ? at : best), 0);
  const rest = amount - shares.reduce((all, share) => all + share, 0n);
  return shares.map((share, at) => (at === heaviest ? share + rest : share));
}
