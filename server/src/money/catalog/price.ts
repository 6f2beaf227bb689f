import { type ModelPricing, type PriceMeter, type PriceTerms, ServiceTier } from '@tallygate/contract';
import type { PriceEntry } from '@tallygate/receipts';
import { rfc3339 } from '../../kernel/clock.ts';
import type { PicoUsd } from '../../kernel/money.ts';

/** Pico-USD per single unit, by meter. */
export type UnitPrices = Readonly<Partial<Record<PriceMeter, PicoUsd>>>;

export interface PriceTier {
  /** The tier prices the whole request when its input is above this many tokens. */
  readonly aboveInputTokens: number;
  readonly unit: UnitPrices;
}

/** A price as it was published: frozen into every usage record and receipt under its version. */
export interface Price {
  readonly version: string;
  /** From which it is charged, epoch milliseconds. */
  readonly effectiveFrom: number;
  readonly unit: UnitPrices;
  /** Ascending. */
  readonly tiers: readonly PriceTier[];
  readonly batchFactor: string;
  /** What requests cost at other service tiers: versions of their own. */
  readonly serviceTiers?: Readonly<Partial<Record<ServiceTier, Price>>>;
}

/** A price as it is written down. */
export interface WrittenPrice extends PriceTerms {
  readonly version: string;
  readonly effectiveFrom: number;
  readonly source: string;
  readonly cited: string | null;
  /** In the log of receipts; null where the catalogue has no log. */
  readonly entry?: PriceEntry | null;
  /** The same of its service tiers. */
  readonly tierEntries?: Readonly<Partial<Record<ServiceTier, PriceEntry>>> | null;
}

const MICRO_DIGITS = 6;

/** USD per million units → pico-USD per unit: both are 10⁶ apart, so six decimals are exact. */
function picoPerUnit(usdPerMillion: string): PicoUsd {
  const [whole = '0', fraction = ''] = usdPerMillion.split('.');
  return BigInt(whole + fraction.padEnd(MICRO_DIGITS, '0'));
}

/** Pico-USD per unit → decimal USD per unit, exact. */
export function usdPerUnit(price: PicoUsd): string {
  const digits = price.toString().padStart(13, '0');
  const fraction = digits.slice(-12).replace(/0+$/, '');
  return `${digits.slice(0, -12)}${fraction && `.${fraction}`}`;
}

type PerMeter<T> = Readonly<Partial<Record<PriceMeter, T>>>;

const mapPrices = <T, U>(prices: PerMeter<T>, convert: (price: T) => U): PerMeter<U> =>
  Object.fromEntries(Object.entries(prices).flatMap(([meter, price]) => (price === undefined ? [] : [[meter, convert(price)]])));

export function priceOf(written: WrittenPrice): Price {
  const { version, effectiveFrom, usd_per_million, tiers = [], batch_factor = '1' } = written;
  const ofTiers = pricesOfServiceTiers(written).map(({ tier, price }) => [tier, priceOf(price)] as const);
  return {
    version,
    effectiveFrom,
    unit: mapPrices(usd_per_million, picoPerUnit),
    tiers: tiers
      .map((tier) => ({ aboveInputTokens: tier.above_input_tokens, unit: mapPrices(tier.usd_per_million, picoPerUnit) }))
      .sort((a, b) => a.aboveInputTokens - b.aboveInputTokens),
    batchFactor: batch_factor,
    ...(ofTiers.length > 0 && { serviceTiers: Object.fromEntries(ofTiers) }),
  };
}

/** The versions beside a price, for what is served at other service tiers: batches are at none. */
export const pricesOfServiceTiers = ({
  service_tiers: given = {},
  batch_factor: _,
  tierEntries,
  version,
  entry: __,
  ...rest
}: WrittenPrice) =>
  ServiceTier.options.flatMap((tier): { readonly tier: ServiceTier; readonly price: WrittenPrice }[] => {
    const terms = given[tier];
    return terms
      ? [{ tier, price: { ...rest, tiers: undefined, ...terms, version: `${version}/${tier}`, entry: tierEntries?.[tier] ?? null } }]
      : [];
  });

export const pricingToWire = (
  price: Price,
  { source, cited, entry = null }: Pick<WrittenPrice, 'source' | 'cited' | 'entry'>,
): ModelPricing => ({
  version: price.version,
  effective_from: rfc3339(price.effectiveFrom),
  currency: 'USD',
  prices: mapPrices(price.unit, usdPerUnit),
  tiers: price.tiers.map((tier) => ({ above_input_tokens: tier.aboveInputTokens, prices: mapPrices(tier.unit, usdPerUnit) })),
  batch_factor: price.batchFactor,
  source: source as ModelPricing['source'],
  cited,
  entry,
});

/** All prices of a model. They are read when they are asked for: of a thousand models most never are. */
export class PriceHistory {
  readonly #newestFirst: readonly { readonly written: WrittenPrice; price?: Price }[];

  constructor(prices: readonly WrittenPrice[]) {
    this.#newestFirst = prices.map((written) => ({ written })).sort((a, b) => b.written.effectiveFrom - a.written.effectiveFrom);
  }

  /** The price in force at a time; before the first one, the first. */
  at(epochMs: number): Price | undefined {
    const entry = this.#entryAt(epochMs);
    if (!entry) return undefined;
    entry.price ??= priceOf(entry.written);
    return entry.price;
  }

  pricingAt(epochMs: number): ModelPricing | null {
    const written = this.#entryAt(epochMs)?.written;
    return written ? pricingToWire(priceOf(written), written) : null;
  }

  get startsAt(): number | undefined {
    return this.#newestFirst.at(-1)?.written.effectiveFrom;
  }

  /** The newest first, each before those of its service tiers. */
  get pricings(): readonly ModelPricing[] {
    return this.#newestFirst
      .flatMap(({ written }) => [written, ...pricesOfServiceTiers(written).map(({ price }) => price)])
      .map((written) => pricingToWire(priceOf(written), written));
  }

  #entryAt(epochMs: number) {
    return this.#newestFirst.find(({ written }) => written.effectiveFrom <= epochMs) ?? this.#newestFirst.at(-1);
  }
}

/** One text for terms that charge the same, however their decimals are written. */
export function textOfTerms({ usd_per_million, tiers = [], batch_factor = '1', service_tiers: ofTiers = {} }: PriceTerms): string {
  const inOrder = (prices: PriceTerms['usd_per_million']) =>
    Object.entries(prices)
      .map(([meter, usd]) => `${meter} ${picoPerUnit(usd ?? '0')}`)
      .sort();
  const tierTexts = tiers.map((tier) => `${tier.above_input_tokens}: ${inOrder(tier.usd_per_million)}`).sort();
  const serviceTiers = Object.entries(ofTiers)
    .map(([tier, terms]) => `${tier}: (${textOfTerms(terms)})`)
    .sort();
  return [...inOrder(usd_per_million), ...tierTexts, `× ${batch_factor}`, ...serviceTiers].join('; ');
}
