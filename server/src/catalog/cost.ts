import type { ReceiptUsage } from '@tallygate/contract';
import { maxOf, type NanoUsd, type PicoUsd, picoToNano } from '../kernel/money.ts';
import type { Price, UnitPrices } from './catalog.ts';

export interface Cost {
  readonly nanoUsd: NanoUsd;
  /** The unit prices that were applied. */
  readonly unit: UnitPrices;
  /** The long-context tier that was applied, or null. */
  readonly tierAboveInputTokens: number | null;
}

/** The prices for a request of that many input tokens: its tier prices the whole request. */
function pricesFor(price: Price, inputTokens: number): { unit: UnitPrices; tierAboveInputTokens: number | null } {
  const tier = price.tiers.findLast(({ aboveInputTokens }) => inputTokens > aboveInputTokens);
  return tier ? { unit: tier.unit, tierAboveInputTokens: tier.aboveInputTokens } : { unit: price.unit, tierAboveInputTokens: null };
}

/** What the usage costs, rounded up once. Cached and cache-write tokens are parts of the input and cost the input price where they have none of their own. */
export function costOf(price: Price, usage: ReceiptUsage): Cost {
  const { unit, tierAboveInputTokens } = pricesFor(price, usage.input_tokens);
  const input = unit.input_tokens ?? 0n;
  const fresh = usage.input_tokens - usage.cached_input_tokens - usage.cache_write_tokens;
  const pico =
    BigInt(fresh) * input +
    BigInt(usage.cached_input_tokens) * (unit.cached_input_tokens ?? input) +
    BigInt(usage.cache_write_tokens) * (unit.cache_write_tokens ?? input) +
    BigInt(usage.output_tokens) * (unit.output_tokens ?? 0n);
  return { nanoUsd: picoToNano(pico), unit, tierAboveInputTokens };
}

export interface CostBound {
  /** Worst case of the input. */
  readonly fixed: PicoUsd;
  /** Of one token out. */
  readonly perOutputToken: PicoUsd;
}

/** Worst case over every way the provider may count `inputTokensBound`: the dearest input meter, the tier that the bound reaches. */
export function costBound(price: Price, inputTokensBound: number): CostBound {
  const reachable = [price.unit, ...price.tiers.filter((tier) => inputTokensBound > tier.aboveInputTokens).map((tier) => tier.unit)];
  const dearest = (of: (unit: UnitPrices) => PicoUsd) => reachable.map(of).reduce(maxOf, 0n);
  const perInputToken = dearest((unit) =>
    maxOf(unit.input_tokens ?? 0n, maxOf(unit.cached_input_tokens ?? 0n, unit.cache_write_tokens ?? 0n)),
  );
  return { fixed: BigInt(inputTokensBound) * perInputToken, perOutputToken: dearest((unit) => unit.output_tokens ?? 0n) };
}
