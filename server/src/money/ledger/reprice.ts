import type { ReceiptUsage } from '@tallygate/contract';
import { costLines, quotaUnits, Refused, recomputeCost } from '@tallygate/receipts';
import { maxOf, type NanoUsd, proRata } from '../../kernel/money.ts';
import { costOf, type Price } from '../catalog/index.ts';
import type { PricedRow, UsageRecordRow } from './usage-row.ts';

/** What other usage of a settled request comes to. */
export interface Reckoned {
  readonly cost: NanoUsd;
  readonly priceTier: number | null;
  /** Pico-USD per unit, by meter. */
  readonly unitPrices: Readonly<Record<string, string>>;
}

export type Repricing =
  | ({ readonly repriced: true } & Reckoned)
  /** One sentence that says what is wrong with the usage. */
  | { readonly repriced: false; readonly reason: string };

/**
 * At the prices that the request was settled at: the published ones of that version where they are at hand, since other usage may fall
 * under another tier; otherwise those that were frozen with it.
 */
export function reprice(settled: PricedRow, usage: ReceiptUsage, published: Price | undefined): Repricing {
  const { price_tier: tier, unit_prices: frozen, price_factor: factor } = settled;
  const contradiction = contradictionIn(usage);
  if (contradiction !== undefined) return { repriced: false, reason: contradiction };
  const price = [published, ...Object.values(published?.serviceTiers ?? {})].find((one) => one?.version === settled.price_version);
  if (price) {
    const { nanoUsd, unit, tierAboveInputTokens } = costOf(price, usage, factor);
    const unitPrices = Object.fromEntries(Object.entries(unit).map(([meter, price]) => [meter, price.toString()]));
    return { repriced: true, cost: nanoUsd, priceTier: tierAboveInputTokens, unitPrices };
  }
  const input = BigInt(usage.input_tokens);
  if (input > settled.input_tokens || (tier !== null && input <= tier))
    return {
      repriced: false,
      reason: `The prices of version ${settled.price_version} are no longer at hand for other tiers: the input tokens may not be more than ${settled.input_tokens}${tier === null ? '' : `, and have to be more than ${tier}`}.`,
    };
  const cost = recomputeCost({ usage, unit_prices_pico_usd: { ...frozen }, price_factor: factor });
  return { repriced: true, cost, priceTier: tier, unitPrices: frozen };
}

/** Where a part is more than its whole. */
function contradictionIn(usage: ReceiptUsage): string | undefined {
  try {
    costLines({ usage, unit_prices_pico_usd: {} });
    return undefined;
  } catch (error) {
    if (error instanceof Refused) return error.message;
    throw error;
  }
}

/** How the account pays. */
export interface Payment {
  readonly charged: NanoUsd;
  readonly debt: NanoUsd;
  readonly covered: Readonly<Record<string, bigint>>;
}

/**
 * Quota and money share the other cost as they had shared the settled one, the quota's share rounded in the customer's favour; what is charged
 * beyond what had been paid is debt. Who may not go beyond the quota never does.
 */
export function paymentOf(settled: UsageRecordRow, cost: NanoUsd, usage: ReceiptUsage): Payment {
  const { funding, charged_nano: charged, debt_nano: debt } = settled;
  if (funding === 'test') return { charged: 0n, debt: 0n, covered: {} };
  const { part, whole } = shareOfMoney(settled);
  const now = (cost * part) / whole;
  const units = Object.entries(quotaUnits(usage));
  const covered = units.map(([meter, amount]) => [meter, proRata(amount, whole - part, whole)] as const);
  return {
    charged: now,
    debt: maxOf(0n, now - (charged - debt)),
    covered: Object.fromEntries(covered.filter(([, amount]) => amount > 0n)),
  };
}

function shareOfMoney({ funding, covered, cost_nano: cost, charged_nano: charged }: UsageRecordRow): { part: bigint; whole: bigint } {
  if (funding === 'none') return { part: 0n, whole: 1n };
  if (cost > 0n) return { part: charged, whole: cost };
  // It cost nothing: who had paid for it is who had been asked first.
  return { part: Object.values(covered).some((units) => BigInt(units) > 0n) ? 0n : 1n, whole: 1n };
}
