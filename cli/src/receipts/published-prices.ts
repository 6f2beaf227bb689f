import type { PriceEntry, PublishedPrice, PublishedPrices, UnitPrices } from '@tallygate/receipts';

type Json = Readonly<Record<string, unknown>>;

/**
 * Published prices by model and version, out of the answer of `GET /v1/models` (USD per unit), or out of an object whose member `prices`
 * holds them in pico-USD per unit, as this program keeps them.
 *
 * Models may repeat with other versions, so that saved answers of several days can be put together.
 *
 * @throws Error naming the member that is not what it has to be
 */
export function publishedPrices(value: unknown): PublishedPrices {
  const file = objectAt(value, 'the file');
  if (Array.isArray(file['data'])) return firstOfEach(file['data'].flatMap(priceOfModel));
  if (file['prices'] === undefined) throw new Error('there is neither a list of models in "data" nor "prices"');
  return mapValues(file['prices'], 'prices', (versions, path) => mapValues(versions, path, keptPrice));
}

/** Both together. A version has one price permanently, so of two prices the earlier one is used: a later one must not rewrite it. */
export function firstPublished(earlier: PublishedPrices, later: PublishedPrices): PublishedPrices {
  const models = Object.entries(later).map(([model, versions]) => {
    const kept = own(earlier, model) ?? {};
    const all = Object.entries({ ...versions, ...kept }).map(([version, price]) => [version, { ...own(versions, version), ...price }]);
    return [model, Object.fromEntries(all)];
  });
  return { ...earlier, ...Object.fromEntries(models) };
}

/** What a model costs in one version, or `undefined`. */
export const priceIn = (prices: PublishedPrices, model: string, version: string): PublishedPrice | undefined =>
  own(own(prices, model) ?? {}, version);

type Priced = readonly [model: string, version: string, price: PublishedPrice];

/** As `firstPublished` puts them together, one by one. */
function firstOfEach(listed: readonly Priced[]): PublishedPrices {
  const byModel = new Map<string, Map<string, PublishedPrice>>();
  for (const [model, version, price] of listed) {
    const versions = byModel.get(model) ?? new Map<string, PublishedPrice>();
    byModel.set(model, versions.set(version, { ...price, ...versions.get(version) }));
  }
  return Object.fromEntries([...byModel].map(([model, versions]) => [model, Object.fromEntries(versions)]));
}

function priceOfModel(value: unknown, index: number): Priced[] {
  const path = `data[${index}]`;
  const { id, pricing } = objectAt(value, path);
  // A model that has no price was never charged.
  if (pricing === null) return [];
  const { version, currency, prices, tiers, batch_factor: factor, effective_from: from, entry } = objectAt(pricing, `${path}.pricing`);
  if (typeof id !== 'string' || typeof version !== 'string') throw new Error(`${path} has no id or no price version`);
  if (currency !== 'USD') throw new Error(`${path}.pricing.currency is not USD`);
  const price = {
    ...effectiveFrom(from, `${path}.pricing`),
    ...batchFactor(factor, `${path}.pricing`),
    ...entryAt(entry, `${path}.pricing.entry`),
    unit_prices_pico_usd: mapValues(prices, `${path}.pricing.prices`, picoUsd),
    tiers: tiersAt(tiers, `${path}.pricing.tiers`, (tier, tierPath) => mapValues(tier['prices'], `${tierPath}.prices`, picoUsd)),
  };
  return [[id, version, price]];
}

function keptPrice(value: unknown, path: string): PublishedPrice {
  const { unit_prices_pico_usd: base, tiers = [], batch_factor: factor, effective_from: from, entry } = objectAt(value, path);
  const unitPrices = (prices: unknown, at: string) => mapValues(prices, `${at}.unit_prices_pico_usd`, integerText);
  return {
    ...effectiveFrom(from, path),
    ...batchFactor(factor, path),
    ...entryAt(entry, `${path}.entry`),
    unit_prices_pico_usd: unitPrices(base, path),
    tiers: tiersAt(tiers, `${path}.tiers`, (tier, tierPath) => unitPrices(tier['unit_prices_pico_usd'], tierPath)),
  };
}

const tiersAt = (value: unknown, path: string, unitPrices: (tier: Json, path: string) => UnitPrices) =>
  arrayAt(value, path).map((item, index) => {
    const tier = objectAt(item, `${path}[${index}]`);
    const threshold = tier['above_input_tokens'];
    if (typeof threshold !== 'number' || !Number.isSafeInteger(threshold))
      throw new Error(`${path}[${index}].above_input_tokens is not an integer`);
    return { above_input_tokens: threshold, unit_prices_pico_usd: unitPrices(tier, `${path}[${index}]`) };
  });

function effectiveFrom(value: unknown, path: string): { effective_from?: string } {
  if (value === undefined) return {};
  if (typeof value !== 'string' || !/^\d{4}-\d{2}-\d{2}(T\d{2}:\d{2}:\d{2}(\.\d{1,9})?Z)?$/.test(value))
    throw new Error(`${path}.effective_from is neither a day nor a time in UTC`);
  return { effective_from: value };
}

function batchFactor(value: unknown, path: string): { batch_factor?: string } {
  if (value === undefined) return {};
  if (typeof value !== 'string' || !/^\d{1,4}(?:\.\d{1,18})?$/.test(value))
    throw new Error(`${path}.batch_factor is not a decimal in a string`);
  return { batch_factor: value };
}

function entryAt(value: unknown, path: string): { entry?: PriceEntry } {
  if (value === undefined || value === null) return {};
  const { index, digest } = objectAt(value, path);
  if (typeof index !== 'number' || !Number.isSafeInteger(index)) throw new Error(`${path}.index is not an integer`);
  if (typeof digest !== 'string' || !/^[0-9a-f]{64}$/.test(digest)) throw new Error(`${path}.digest is not 64 hex digits`);
  return { entry: { index, digest } };
}

const PICO_DIGITS = 12;
const DECIMAL_USD = /^\d{1,12}(?:\.\d{1,12})?$/;

/** USD as pico-USD, by moving the decimal point in the text: a float would round. */
function picoUsd(value: unknown, path: string): string {
  if (typeof value !== 'string' || !DECIMAL_USD.test(value)) throw new Error(`${path} is not decimal USD of at most 12 places`);
  const [whole = '', fraction = ''] = value.split('.');
  return BigInt(`${whole}${fraction.padEnd(PICO_DIGITS, '0')}`).toString();
}

function integerText(value: unknown, path: string): string {
  if (typeof value !== 'string' || !/^(?:0|[1-9]\d{0,23})$/.test(value)) throw new Error(`${path} is not an integer in a string`);
  return value;
}

function objectAt(value: unknown, path: string): Json {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw new Error(`${path} is not an object`);
  return value as Json;
}

function arrayAt(value: unknown, path: string): readonly unknown[] {
  if (!Array.isArray(value)) throw new Error(`${path} is not an array`);
  return value;
}

/** `Object.fromEntries` makes own members also of names such as `__proto__`. */
const mapValues = <T>(value: unknown, path: string, convert: (member: unknown, path: string) => T): Readonly<Record<string, T>> =>
  Object.fromEntries(Object.entries(objectAt(value, path)).map(([name, member]) => [name, convert(member, `${path}.${name}`)]));

const own = <T>(values: Readonly<Record<string, T>>, name: string): T | undefined =>
  Object.hasOwn(values, name) ? values[name] : undefined;
