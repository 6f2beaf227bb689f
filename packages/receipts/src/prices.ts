import type { PriceEntry, ReceiptPayload } from './receipt.ts';
import { Refused } from './refusal.ts';

/** Pico-USD (10⁻¹²) per single unit as integer strings, by meter. */
export type UnitPrices = Readonly<Record<string, string>>;

/** What one model costs in one price version. A tier's prices take the place of all base prices. */
export interface PublishedPrice {
  /** From when on it was charged, RFC 3339, or a UTC day, `YYYY-MM-DD`. Where it is known, a request of another version's time must not be charged at it. */
  readonly effective_from?: string;
  readonly unit_prices_pico_usd: UnitPrices;
  /** In the log of receipts. Where it is known, the receipt has to name it. */
  readonly entry?: PriceEntry;
  /** Factor on all prices in batches; without it lines of a batch cost what other requests cost. */
  readonly batch_factor?: string;
  readonly tiers?: readonly { readonly above_input_tokens: number; readonly unit_prices_pico_usd: UnitPrices }[];
}

/** Published prices by model (the one that answered), then by price version. */
export type PublishedPrices = Readonly<Record<string, Readonly<Record<string, PublishedPrice>>>>;

/** Every unit that a price can be in. A receipt that leaves one out has another price applied instead: all of them decide the cost. */
export const PRICE_METERS = [
  'input_tokens',
  'cached_input_tokens',
  'cache_write_tokens',
  'cache_write_1h_tokens',
  'output_tokens',
  'audio_input_tokens',
  'cached_audio_input_tokens',
  'image_input_tokens',
  'cached_image_input_tokens',
  'image_output_tokens',
  'input_characters',
  'audio_seconds',
  'video_seconds',
  'audio_output_tokens',
  'web_searches',
  'web_search_previews',
  'file_searches',
  'container_gigabytes',
  'image_tool_text_input_tokens',
  'image_tool_image_input_tokens',
  'image_tool_text_output_tokens',
  'image_tool_image_output_tokens',
  'search_units',
] as const;

/** Whether the receipt was charged at the published prices, in the right tier and with the right factor. Throws `Refused` where it was not. */
export function checkPrices(payload: ReceiptPayload, published: PublishedPrices): void {
  const price = publishedPrice(payload, published);
  if (price === undefined) {
    refuseCharge(payload);
    return;
  }
  checkInForce(payload, own(published, payload.model_served) ?? {});
  if (price.entry && price.entry.digest !== payload.price_entry?.digest)
    throw new Refused(
      'price_entry_mismatch',
      `The published price is entry ${price.entry.index} of the log, the receipt names another one.`,
    );
  checkTerms(payload, price);
}

/** Whether the receipt has the right tier, factor and unit prices of that price. Throws `Refused` where it has not. */
export function checkTerms(payload: ReceiptPayload, price: PublishedPrice): void {
  const tier = tierOf(price, payload.usage.input_tokens);
  const threshold = tier?.above_input_tokens ?? null;
  if (payload.price_tier_above_input_tokens !== threshold)
    throw new Refused('tier_mismatch', `The tier applied is ${payload.price_tier_above_input_tokens}, the published one ${threshold}.`);
  checkFactor(payload, price);

  const expected = (tier ?? price).unit_prices_pico_usd;
  const stated = payload.unit_prices_pico_usd;
  for (const meter of PRICE_METERS) {
    if (own(stated, meter) !== own(expected, meter))
      throw new Refused(
        'price_mismatch',
        `payload.unit_prices_pico_usd.${meter} is ${own(stated, meter) ?? 'absent'}, published is ${own(expected, meter) ?? 'none'}.`,
      );
  }
}

/**
 * The version of a time is the newest that had begun; before the first of them, the first. Versions whose beginning is not known are left aside. Of
 * several of one moment the last was charged, which replaced the others while they were announced: a copy from before has those as well.
 */
function checkInForce({ price_version: stated, started_at: at }: ReceiptPayload, versions: Readonly<Record<string, PublishedPrice>>): void {
  const begun = Object.entries(versions).flatMap(([version, { effective_from: from }]) =>
    from === undefined ? [] : [{ version, from: Date.parse(from) }],
  );
  if (!begun.some(({ version }) => version === stated)) return;
  begun.sort((a, b) => a.from - b.from);
  const inForce = begun.filter(({ from }) => from <= Date.parse(at)).at(-1) ?? begun[0];
  if (inForce && !begun.some(({ version, from }) => version === stated && from === inForce.from))
    throw new Refused('price_not_in_force', `The price in force at ${at} was version ${inForce.version}, charged was ${stated}.`);
}

/** A line of a batch has the batch factor; what is given back or corrected may have been one. */
function checkFactor({ kind, price_factor: stated }: ReceiptPayload, { batch_factor: batch = '1' }: PublishedPrice): void {
  const allowed = kind === 'batch_line' ? [batch] : kind === 'refund' || kind === 'correction' ? ['1', batch] : ['1'];
  if (!allowed.includes(stated))
    throw new Refused('factor_mismatch', `payload.price_factor is ${stated}, published is ${allowed.join(' or ')}.`);
}

function publishedPrice(
  { model_served: model, price_version: version }: ReceiptPayload,
  published: PublishedPrices,
): PublishedPrice | undefined {
  return own(own(published, model) ?? {}, version);
}

/** Models that cost nothing are in no price list, and need to be in none as long as they cost nothing. */
function refuseCharge({
  model_served: model,
  price_version: version,
  cost_nano_usd: cost,
  unit_prices_pico_usd: prices,
}: ReceiptPayload): void {
  if (cost === '0' && Object.values(prices).every((price) => price === '0')) return;
  throw new Refused('price_unpublished', `No published price of ${JSON.stringify(model)} in version ${JSON.stringify(version)}.`);
}

/** The highest tier that the input exceeds. */
const tierOf = (price: PublishedPrice, inputTokens: number) =>
  (price.tiers ?? [])
    .filter((tier) => inputTokens > tier.above_input_tokens)
    .reduce<NonNullable<PublishedPrice['tiers']>[number] | undefined>(
      (highest, tier) => (highest && highest.above_input_tokens > tier.above_input_tokens ? highest : tier),
      undefined,
    );

/** Model names come from the receipt: "constructor" must not find what every object inherits. */
const own = <T>(values: Readonly<Record<string, T>>, name: string): T | undefined =>
  Object.hasOwn(values, name) ? values[name] : undefined;
