import { isDeepStrictEqual } from 'node:util';
import type { Kind, Terms } from './listing.ts';
import { type Found, familyFacts, type Source } from './merge.ts';

export interface ShippedPrice extends Terms {
  readonly version: string;
  readonly effective_from: string;
  readonly source: string;
  readonly key?: string | undefined;
  readonly day: string;
}

export interface ShippedModel {
  readonly id: string;
  readonly advertised?: boolean;
  readonly aliases?: readonly string[];
  readonly variants?: readonly string[];
  readonly sources: readonly { readonly source: string }[];
  readonly prices: readonly ShippedPrice[];
  readonly [field: string]: unknown;
}

export interface ShippedFile {
  readonly provider: string;
  readonly sources: Readonly<Record<string, Readonly<Record<string, string>>>>;
  /** What the provider's tools cost: written by hand. */
  readonly tools?: readonly { readonly prices: readonly { readonly sources: readonly string[] }[] }[] | undefined;
  readonly models: readonly ShippedModel[];
}

export interface Change {
  readonly id: string;
  readonly what: 'added' | 'price' | 'described' | 'other price at the source' | 'gone from the sources';
  readonly detail?: string;
}

export interface Refreshed {
  readonly file: ShippedFile;
  readonly changes: readonly Change[];
}

/**
 * The file with what the sources say today: models that are new, new descriptions, and for a changed price a further version that is charged
 * from `today` on. A version that is there never changes. A model that was written by hand, such as
 * the advertised ones, keeps everything but its variants; one that the sources have no more keeps everything.
 */
export function refreshed(
  before: ShippedFile,
  found: readonly Found[],
  { today, sources }: { today: string; sources: readonly Source[] },
): Refreshed {
  const changes: Change[] = [];
  const byId = new Map(found.map((model) => [model.id, model]));
  const kept = before.models.map((model) => {
    const now = byId.get(model.id);
    const isOurs = isRefreshed(model, sources);
    if (!now) {
      if (isOurs) changes.push({ id: model.id, what: 'gone from the sources' });
      return model;
    }
    return isOurs ? asListed(model, now, today, changes) : asWritten(model, now, changes);
  });
  const known = new Set(before.models.map(({ id }) => id));
  const added = found.filter(({ id }) => !known.has(id));
  for (const { id } of added) changes.push({ id, what: 'added' });
  const models = [...kept, ...added.map((model) => described(model, [priceOf(model, model.priceSource.day)]))];
  models.sort((a, b) => Number(b.advertised ?? false) - Number(a.advertised ?? false) || (a.advertised ? 0 : compare(a.id, b.id)));
  const { provider, tools } = before;
  return { file: { provider, sources: sourcesOf(before, sources, models), ...(tools && { tools }), models }, changes };
}

const compare = (a: string, b: string): number => (a < b ? -1 : Number(a > b));

/** Written by this script: its price names one of these sources, in any version. */
const isRefreshed = ({ prices }: ShippedModel, sources: readonly Source[]): boolean =>
  sources.some(({ list }) => prices[0]?.source.startsWith(`${list} `));

function asWritten(model: ShippedModel, now: Found, changes: Change[]): ShippedModel {
  const [current] = model.prices;
  if (
    current &&
    Object.entries(current.usd_per_million).some(
      ([meter, price]) => (now.terms.usd_per_million[meter as keyof Terms['usd_per_million']] ?? price) !== price,
    )
  ) {
    const detail = `${JSON.stringify(current.usd_per_million)} here, ${JSON.stringify(now.terms.usd_per_million)} at ${now.priceSource.name}`;
    changes.push({ id: model.id, what: 'other price at the source', detail });
  }
  const variants = united(model.variants, now.variants);
  if (variants.length === (model.variants ?? []).length) return model;
  changes.push({ id: model.id, what: 'described' });
  const { id, advertised, aliases, variants: _, ...rest } = model;
  return { id, ...(advertised ? { advertised } : {}), ...(aliases ? { aliases } : {}), variants, ...rest };
}

function asListed(model: ShippedModel, now: Found, today: string, changes: Change[]): ShippedModel {
  const [current] = model.prices;
  const isChanged = !current || !sameTerms(current, now.terms);
  const prices = isChanged ? [priceOf(now, today), ...model.prices] : model.prices;
  if (isChanged && model.prices.some(({ version }) => version === today)) throw new Error(`${model.id} has a price of ${today} already`);
  const next = described({ ...now, aliases: united(model.aliases, now.aliases), variants: united(model.variants, now.variants) }, prices);
  if (isChanged) {
    const detail = `${JSON.stringify(current?.usd_per_million)} → ${JSON.stringify(now.terms.usd_per_million)}`;
    changes.push({ id: model.id, what: 'price', detail });
    return next;
  }
  // That a newer version of a list says the same is no change.
  if (isDeepStrictEqual(asJson({ ...next, sources: [] }), asJson({ ...model, sources: [] }))) return model;
  changes.push({ id: model.id, what: 'described' });
  return next;
}

/** Without what is undefined: as it is in a file. */
const asJson = (value: unknown): unknown => JSON.parse(JSON.stringify(value));

/** A name that callers may write stays one. */
const united = (before: readonly string[] = [], now: readonly string[]): string[] => [...new Set([...before, ...now])].sort();

/** By value: the order of fields says nothing, nor does a factor that both leave out. */
function sameTerms(a: Terms, b: Terms): boolean {
  const plain = ({ usd_per_million, tiers = [], batch_factor = '1', service_tiers = {} }: Terms) => ({
    ...{ usd_per_million, tiers, batch_factor, service_tiers },
  });
  return isDeepStrictEqual(asJson(plain(a)), asJson(plain(b)));
}

function priceOf({ terms, priceSource, priceKey }: Found, from: string): ShippedPrice {
  return { version: from, effective_from: from, source: priceSource.name, key: priceKey, day: priceSource.day, ...terms };
}

function described(model: Found, prices: readonly ShippedPrice[]): ShippedModel {
  const { id, aliases, variants, kind, endpoints, disagreements } = model;
  return {
    id,
    ...(aliases.length > 0 ? { aliases } : {}),
    ...(variants.length > 0 ? { variants } : {}),
    kind,
    ...(model.released ? { released: model.released } : {}),
    ...(model.retired ? { retired: model.retired } : {}),
    ...(model.contextWindow ? { context_window: model.contextWindow } : {}),
    ...(model.maxOutputTokens && kind !== 'embedding' && kind !== 'rerank' ? { max_output_tokens: model.maxOutputTokens } : {}),
    ...modalitiesOf(model),
    capabilities: model.capabilities,
    ...(endpoints ? { endpoints } : {}),
    ...familyFacts(model),
    ...(model.embeddingDimensions ? { embedding_dimensions: model.embeddingDimensions } : {}),
    sources: model.sources,
    ...(disagreements.length > 0 ? { disagreements } : {}),
    ...(model.note ? { note: model.note } : {}),
    prices,
  };
}

const USUAL: Readonly<Partial<Record<Kind, readonly [string, string]>>> = {
  chat: ['text', 'text'],
  completion: ['text', 'text'],
  embedding: ['text', 'embedding'],
  rerank: ['text', 'text'],
};

/** Left out where they are what the catalogue takes them to be anyway. */
function modalitiesOf({ kind, inputModalities, outputModalities }: Found): {
  input_modalities?: readonly string[];
  output_modalities?: readonly string[];
} {
  const [takes, gives] = USUAL[kind] ?? [];
  return {
    ...(inputModalities.join() === takes ? {} : { input_modalities: inputModalities }),
    ...(outputModalities.join() === gives ? {} : { output_modalities: outputModalities }),
  };
}

/** Those that the models and prices name. */
function sourcesOf(before: ShippedFile, sources: readonly Source[], models: readonly ShippedModel[]): ShippedFile['sources'] {
  const ofTools = (before.tools ?? []).flatMap(({ prices }) => prices.flatMap((price) => price.sources));
  const named = new Set([...ofTools, ...models.flatMap((model) => [...model.sources, ...model.prices].map(({ source }) => source))]);
  const today = sources.map(({ name, cited, day }) => [name, { ...cited, day }] as const);
  return Object.fromEntries(
    Object.entries({ ...before.sources, ...Object.fromEntries(today) })
      .filter(([name]) => named.has(name))
      .sort(([a], [b]) => compare(a, b)),
  );
}
