import type { ReceiptPayload } from './receipt.ts';
import { Refused } from './refusal.ts';

type Priced = Pick<ReceiptPayload, 'usage' | 'unit_prices_pico_usd'>;

const PICO_PER_NANO = 1000n;

/**
 * The cost in nano-USD (10⁻⁹) that follows from usage and unit prices.
 *
 * Cached and cache-write tokens are parts of the input: each costs its own price, or that of the input where it has none.
 * Reasoning tokens are a part of the output and cost the same. The sum is exact in pico-USD (10⁻¹²) and rounded up once,
 * so that no order of adding can change it.
 *
 * Throws `Refused` with `usage_inconsistent` or `price_missing`.
 */
export function recomputeCost({ usage, unit_prices_pico_usd: prices }: Priced): bigint {
  const fresh = usage.input_tokens - usage.cached_input_tokens - usage.cache_write_tokens;
  if (fresh < 0) throw new Refused('usage_inconsistent', 'payload.usage: cached and cache-write tokens are more than the input tokens.');
  if (usage.reasoning_tokens > usage.output_tokens)
    throw new Refused('usage_inconsistent', 'payload.usage: reasoning tokens are more than the output tokens.');

  const input = prices['input_tokens'];
  const pico =
    charge('input_tokens', fresh, input) +
    charge('cached_input_tokens', usage.cached_input_tokens, prices['cached_input_tokens'] ?? input) +
    charge('cache_write_tokens', usage.cache_write_tokens, prices['cache_write_tokens'] ?? input) +
    charge('output_tokens', usage.output_tokens, prices['output_tokens']);
  return (pico + PICO_PER_NANO - 1n) / PICO_PER_NANO;
}

/** A price that is not stated is fine as long as nothing was charged at it. */
function charge(meter: string, units: number, price: string | undefined): bigint {
  if (units === 0) return 0n;
  if (price === undefined) throw new Refused('price_missing', `payload.unit_prices_pico_usd has no price for ${units} ${meter}.`);
  return BigInt(units) * BigInt(price);
}

/** Whether the receipt's own figures agree with each other. Throws `Refused` where they do not. */
export function checkCost(payload: ReceiptPayload): void {
  checkUnchargedFailure(payload);
  checkTierReached(payload);
  const cost = recomputeCost(payload);
  if (payload.cost_nano_usd !== cost.toString())
    throw new Refused('cost_mismatch', `payload.cost_nano_usd is ${payload.cost_nano_usd}, usage × unit prices is ${cost}.`);
}

function checkUnchargedFailure({ outcome, usage, cost_nano_usd: cost }: ReceiptPayload): void {
  if (outcome !== 'failed') return;
  if (cost !== '0' || Object.values(usage).some((units) => units !== 0))
    throw new Refused('charged_failure', 'payload.outcome is failed, yet usage or cost is not zero.');
}

/** The dearer prices of long contexts are due only when the input is longer than the tier's threshold. */
function checkTierReached({ price_tier_above_input_tokens: threshold, usage }: ReceiptPayload): void {
  if (threshold !== null && usage.input_tokens <= threshold)
    throw new Refused('tier_mismatch', `The tier above ${threshold} input tokens was applied to ${usage.input_tokens}.`);
}
