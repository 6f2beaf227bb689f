import { type Model, PriceMeter } from '@tallygate/contract';
import * as z from 'zod';
import type { PicoUsd } from '../kernel/money.ts';
import data from './models.json' with { type: 'json' };
import { metersWithoutPrice } from './needed-meters.ts';
import { supportedParameters } from './supported-parameters.ts';

const PerMillion = z.partialRecord(PriceMeter, z.string().regex(/^\d{1,6}(\.\d{1,6})?$/));

const CatalogEntry = z.object({
  id: z.string(),
  provider: z.string(),
  kind: z.enum(['chat', 'completion', 'embedding', 'image', 'moderation', 'tts', 'stt', 'video']),
  released: z.iso.date().nullable(),
  context_window: z.int().positive().nullable(),
  max_output_tokens: z.int().positive().nullable(),
  input_modalities: z.array(z.string()),
  output_modalities: z.array(z.string()),
  capabilities: z.array(z.string()),
  endpoints: z.array(z.string()),
  ladder: z.array(z.string()).default([]),
  tokenizer: z.enum(['o200k_base', 'cl100k_base']).nullable(),
  image_token_bound: z.int().positive().optional(),
  video_seconds_allowed: z.array(z.string()).min(1).optional(),
  video_extension_seconds_allowed: z.array(z.string()).min(1).optional(),
  video_sizes: z.array(z.string()).min(1).optional(),
  prices: z
    .array(
      z.object({
        version: z.string(),
        effective_from: z.iso.date(),
        usd_per_million: PerMillion,
        tiers: z.array(z.object({ above_input_tokens: z.int().positive(), usd_per_million: PerMillion })),
        batch_factor: z.string().regex(/^0\.\d*[1-9]$/),
      }),
    )
    .min(1),
});
type CatalogEntry = z.infer<typeof CatalogEntry>;

const CatalogFile = z.object({ models: z.array(CatalogEntry), beside: z.array(CatalogEntry).default([]) });

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
  /** UTC day from which it is charged. */
  readonly effectiveFrom: string;
  readonly unit: UnitPrices;
  /** Ascending. */
  readonly tiers: readonly PriceTier[];
  readonly batchFactor: string;
}

export interface CatalogModel {
  readonly id: string;
  readonly provider: string;
  readonly kind: CatalogEntry['kind'];
  readonly contextWindow: number | null;
  readonly maxOutputTokens: number | null;
  readonly capabilities: ReadonlySet<string>;
  readonly endpoints: ReadonlySet<string>;
  /** Models that may stand in for it, the nearest first: none is dearer, in or out. */
  readonly ladder: readonly string[];
  readonly inputModalities: ReadonlySet<string>;
  /** Set where the provider's tokenizer is published, so that counting gives a true upper bound. */
  readonly tokenizer: 'o200k_base' | 'cl100k_base' | null;
  /** The most that one image part can cost, tokens; null where images are not taken. */
  readonly imageTokenBound: number | null;
  /** What a video may be asked for; empty for other kinds of models. */
  readonly videoSeconds: readonly string[];
  /** How much longer a video can be made at a time. */
  readonly videoExtensionSeconds: readonly string[];
  readonly videoSizes: readonly string[];
  /** OpenAI's shape plus limits and the prices of a time (the first ones, before that): the answer of `GET /v1/models/{id}`. */
  wireAt(epochMs: number): Model;
  /** Every price that was, is or will be in force, the newest first. */
  readonly pricings: readonly Model['pricing'][];
  /** The price in force at a time, or undefined before the first one. */
  priceAt(epochMs: number): Price | undefined;
}

export interface Catalog {
  /** Also what is served beside the catalogue's own models. */
  find(id: string): CatalogModel | undefined;
  readonly models: readonly CatalogModel[];
  /** Served without being counted among the models: free, and of use to everybody. */
  readonly beside: readonly CatalogModel[];
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

const mapPrices = <T>(prices: Readonly<Record<string, T | undefined>>, convert: (price: T) => PicoUsd | string) =>
  Object.fromEntries(Object.entries(prices).flatMap(([meter, price]) => (price === undefined ? [] : [[meter, convert(price)]])));

const unitPrices = (prices: z.infer<typeof PerMillion>): UnitPrices => mapPrices(prices, picoPerUnit) as UnitPrices;
const wirePrices = (prices: UnitPrices) => mapPrices(prices, usdPerUnit) as Model['pricing']['prices'];

/** @throws when the catalogue file is not what it has to be: a start with wrong prices is no start */
export function loadCatalog(source: unknown = data): Catalog {
  const file = CatalogFile.parse(source);
  const models = file.models.map(toModel);
  const beside = file.beside.map(toModel);
  const all = [...models, ...beside];
  const byId = new Map(all.map((model) => [model.id, model]));
  if (byId.size < all.length) throw new Error('A model is in the catalogue twice');
  for (const { id, kind, ladder } of all)
    for (const rung of ladder)
      if (rung === id || byId.get(rung)?.kind !== kind) throw new Error(`${rung} cannot stand in for ${id}: it is no other ${kind} model`);
  return { models, beside, find: (id) => byId.get(id) };
}

function toModel(entry: CatalogEntry): CatalogModel {
  const newestFirst = entry.prices.map(toPrice).sort((a, b) => b.effectiveFrom.localeCompare(a.effectiveFrom));
  const starts = newestFirst.map((price) => Date.parse(price.effectiveFrom));
  const first = newestFirst.at(-1);
  if (!first) throw new Error(`${entry.id} has no price`);
  if (new Set(starts).size < starts.length) throw new Error(`${entry.id} has two prices from one day on`);
  for (const price of newestFirst) refuseUnpriced(entry, price);
  const priceAt = (epochMs: number) => newestFirst[starts.findIndex((start) => start <= epochMs)];
  return {
    id: entry.id,
    provider: entry.provider,
    kind: entry.kind,
    contextWindow: entry.context_window,
    maxOutputTokens: entry.max_output_tokens,
    capabilities: new Set(entry.capabilities),
    endpoints: new Set(entry.endpoints),
    ladder: entry.ladder,
    inputModalities: new Set(entry.input_modalities),
    tokenizer: entry.tokenizer,
    imageTokenBound: entry.image_token_bound ?? null,
    videoSeconds: entry.video_seconds_allowed ?? [],
    videoExtensionSeconds: entry.video_extension_seconds_allowed ?? [],
    videoSizes: entry.video_sizes ?? [],
    wireAt: (epochMs) => toWire(entry, priceAt(epochMs) ?? first),
    priceAt,
    pricings: newestFirst.map((price) => toWire(entry, price).pricing),
  };
}

function refuseUnpriced({ id, kind }: CatalogEntry, price: Price): void {
  for (const unit of [price.unit, ...price.tiers.map((tier) => tier.unit)]) {
    const missing = metersWithoutPrice(kind, unit);
    if (missing.length > 0) throw new Error(`${id} has no price for ${missing.join(', ')} in version ${price.version}`);
  }
}

function toPrice(entry: CatalogEntry['prices'][number]): Price {
  return {
    version: entry.version,
    effectiveFrom: entry.effective_from,
    unit: unitPrices(entry.usd_per_million),
    tiers: entry.tiers
      .map((tier) => ({ aboveInputTokens: tier.above_input_tokens, unit: unitPrices(tier.usd_per_million) }))
      .sort((a, b) => a.aboveInputTokens - b.aboveInputTokens),
    batchFactor: entry.batch_factor,
  };
}

/** Unix seconds. Of a model whose release nobody has published, the day from which it has a price. */
const createdAt = ({ released, prices }: CatalogEntry): number =>
  Math.min(...(released === null ? prices.map((price) => price.effective_from) : [released]).map((day) => Date.parse(day))) / 1000;

function toWire(entry: CatalogEntry, price: Price): Model {
  return {
    id: entry.id,
    object: 'model',
    created: createdAt(entry),
    owned_by: entry.provider,
    kind: entry.kind,
    context_length: entry.context_window,
    max_output_tokens: entry.max_output_tokens,
    modalities: { input: entry.input_modalities, output: entry.output_modalities },
    capabilities: entry.capabilities,
    supported_parameters: supportedParameters(entry.kind, entry.capabilities),
    endpoints: entry.endpoints,
    ladder: entry.ladder,
    pricing: {
      version: price.version,
      effective_from: price.effectiveFrom,
      currency: 'USD',
      prices: wirePrices(price.unit),
      tiers: price.tiers.map((tier) => ({ above_input_tokens: tier.aboveInputTokens, prices: wirePrices(tier.unit) })),
      batch_factor: price.batchFactor,
    },
  };
}
