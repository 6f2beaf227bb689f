import { chatCapabilitiesOf, imageBoundOf, stemOf, tokenizerOf } from './families.ts';
import { faultOfTerms, type Kind, type Listing, type Terms } from './listing.ts';

/** A source as a shipped file cites it. */
export interface Source {
  readonly list: 'litellm' | 'models.dev';
  /** The name in `sources`: the list's with its version, since a later one may say something else. */
  readonly name: string;
  readonly cited: Readonly<Record<string, string>>;
  readonly day: string;
}

export interface Sourced {
  readonly source: Source;
  readonly listings: readonly Listing[];
}

/** A model as the sources have it today. */
export interface Found extends Omit<Listing, 'key'> {
  readonly id: string;
  readonly aliases: readonly string[];
  readonly variants: readonly string[];
  readonly retired?: string | undefined;
  readonly note?: string | undefined;
  readonly sources: readonly { source: string; key?: string }[];
  readonly disagreements: readonly string[];
  readonly priceSource: Source;
  readonly priceKey: string;
}

interface Merged extends Listing {
  /** As the newest source has them: what the sources make of them together may differ between a name and its dated ones. */
  readonly limits: readonly (number | undefined)[];
  readonly retired?: string | undefined;
  readonly note?: string | undefined;
  readonly sources: Found['sources'];
  readonly disagreements: readonly string[];
  readonly priceSource: Source;
}

/** Cloud providers and some makers announce an end as "not before": from that day on the model may still be served. */
const ENDS_FOR_CERTAIN = new Set(['openai', 'mistral', 'cohere', 'deepseek', 'xai', 'groq', 'together', 'fireworks']);
const DAY_MS = 24 * 60 * 60 * 1_000;
/** So long after its day an end is taken to have come: lists name days that were put off later. */
const GRACE_MS = 180 * DAY_MS;
/** What ended longer ago is not listed. */
const REMEMBERED_MS = 400 * DAY_MS;

const MAKERS = new Set(['openai', 'anthropic', 'google', 'xai', 'deepseek', 'mistral', 'cohere', 'jina']);

/**
 * One model for each name at each provider, the prices and limits those of the newest source; names with the same limits and prices that differ
 * by a date or a region are one model.
 *
 * @param shipped ids that are in the files already: of several names, such a one stays the id
 */
export function merged(sources: readonly Sourced[], shipped: ReadonlySet<string>): Found[] {
  const newestFirst = [...sources].sort((a, b) => b.source.day.localeCompare(a.source.day));
  const byName = new Map<string, { source: Source; listing: Listing }[]>();
  for (const { source, listings } of newestFirst)
    for (const listing of listings) {
      const key = `${listing.provider} ${listing.name.toLowerCase()}`;
      byName.set(key, [...(byName.get(key) ?? []), { source, listing }]);
    }
  const models = [...byName.values()].flatMap((said) => oneOf(said) ?? []);
  return named(grouped(models, shipped));
}

/** Undefined where the worst case of a request could not be held: no limits, or something that it needs has no price. */
function oneOf(said: readonly { source: Source; listing: Listing }[]): Merged | undefined {
  const [first] = said;
  if (!first) return undefined;
  const { listing } = first;
  const isFirstOfSource = ({ source }: (typeof said)[number], at: number) =>
    said.findIndex((one) => one.source.name === source.name) === at;
  const others = said.filter((other, at) => at > 0 && isFirstOfSource(other, at) && other.listing.kind === listing.kind);
  const all = [listing, ...others.map((other) => other.listing)];
  // The larger window: it bounds what a file can cost. Sources differ on whether it counts the tokens out.
  const contextWindow = Math.max(...all.map((one) => one.contextWindow ?? 0)) || undefined;
  const maxOutputTokens = all.find((one) => one.maxOutputTokens !== undefined)?.maxOutputTokens;
  if (listing.kind === 'chat' && (contextWindow === undefined || maxOutputTokens === undefined)) return undefined;
  if (faultOfTerms(listing.kind, listing.terms)) return undefined;
  const end = endOf(listing, first.source, others.length > 0);
  if (!end) return undefined;
  const released = all.find((one) => one.released !== undefined)?.released;
  return {
    ...listing,
    contextWindow,
    maxOutputTokens: maxOutputTokens === undefined ? undefined : Math.min(maxOutputTokens, contextWindow ?? maxOutputTokens),
    ...(released === undefined ? {} : { released }),
    ...end,
    limits: [listing.contextWindow, listing.maxOutputTokens],
    capabilities: united([...all.map((one) => one.capabilities), chatCapabilitiesOf(listing.provider, listing.key)]).sort(),
    inputModalities: united(all.map((one) => one.inputModalities)),
    // Of the first one, the price says in which row.
    sources: [{ source: first.source.name }, ...others.map((one) => ({ source: one.source.name, key: one.listing.key }))],
    disagreements: others.flatMap((other) => disagreementsOf(listing, other.listing, other.source.list)),
    priceSource: first.source,
  };
}

/** Undefined for a removed model: its end has passed, and no other source lists it. */
function endOf({ provider, ends }: Listing, source: Source, isListedElsewhere: boolean): { retired?: string; note?: string } | undefined {
  if (ends === undefined) return {};
  const note = { note: `${source.list} says that it ends on ${ends}.` };
  const agoMs = Date.parse(source.day) - Date.parse(ends);
  if (agoMs < GRACE_MS || isListedElsewhere) return note;
  return agoMs < REMEMBERED_MS && ENDS_FOR_CERTAIN.has(provider) ? { retired: ends } : undefined;
}

const united = (lists: readonly (readonly string[])[]): string[] => [...new Set(lists.flat())];

function disagreementsOf(taken: Listing, other: Listing, source: string): string[] {
  const meters = united([
    Object.keys(taken.terms.usd_per_million),
    Object.keys(other.terms.usd_per_million),
  ]) as (keyof Terms['usd_per_million'])[];
  const prices = meters.flatMap((meter) => {
    const said = other.terms.usd_per_million[meter];
    return said === undefined || said === taken.terms.usd_per_million[meter] ? [] : [`${source} ${meter}: ${said}`];
  });
  const tiers = (terms: Terms): string => JSON.stringify((terms.tiers ?? []).map((tier) => tier.above_input_tokens));
  const tiering = tiers(taken.terms) === tiers(other.terms) ? [] : [`${source} tiers above: ${tiers(other.terms)}`];
  return [...prices, ...tiering];
}

/** Same kind, limits, price and stem: one model with variants. */
function grouped(models: readonly Merged[], shipped: ReadonlySet<string>): (Merged & { names: string[] })[] {
  const groups = new Map<string, Merged[]>();
  for (const model of models) {
    const { provider, name, kind, terms, limits, endpoints, retired } = model;
    const key = JSON.stringify([provider, stemOf(provider, name), kind, limits, endpoints, retired, sortedTerms(terms)]);
    groups.set(key, [...(groups.get(key) ?? []), model]);
  }
  return [...groups.values()].flatMap((group) => {
    const canonical = canonicalOf(group, shipped);
    if (!canonical) return [];
    const capabilities = united(group.map((one) => one.capabilities)).sort();
    const names = group.map(({ name }) => name).filter((name) => name !== canonical.name);
    return [{ ...canonical, capabilities, names: names.sort() }];
  });
}

/** The name that is shipped already, then the one without a date, then the newest. */
function canonicalOf(group: readonly Merged[], shipped: ReadonlySet<string>): Merged | undefined {
  const known = group.find((one) => shipped.has(idOf(one)));
  const plain = group.find((one) => one.name === stemOf(one.provider, one.name));
  const dated = group.filter((one) => !one.name.endsWith('latest')).sort((a, b) => b.name.localeCompare(a.name));
  return known ?? plain ?? dated[0] ?? group[0];
}

const sortedTerms = (terms: Terms): unknown => [
  Object.entries(terms.usd_per_million).sort(),
  (terms.tiers ?? []).map((tier) => [tier.above_input_tokens, Object.entries(tier.usd_per_million).sort()]),
  terms.service_tiers ?? {},
];

const idOf = ({ provider, name }: Pick<Listing, 'provider' | 'name'>): string => (MAKERS.has(provider) ? name : `${provider}/${name}`);

/** Their own names say whose they are; "phi-4" or "gemini-2.5-pro" do not say "at Azure". */
const CALLED_BARE = new Set(['bedrock', 'fireworks', 'groq', 'together']);

/**
 * A name that one model alone has, over all providers, is a name of a reseller's model without the reseller's prefix too. Where a maker has
 * it, it is the maker's.
 */
function named(models: readonly (Merged & { names: string[] })[]): Found[] {
  const claims = new Map<string, number>();
  for (const { name, names } of models) for (const one of [name, ...names]) claims.set(one, (claims.get(one) ?? 0) + 1);
  return models.map(({ names, key, limits: _, ...model }) => {
    const { provider, name } = model;
    const isMakers = MAKERS.has(provider);
    const isFree = (one: string): boolean =>
      isMakers || (claims.get(one) === 1 && !MAKERS.has(one.split('/')[0] ?? '') && (CALLED_BARE.has(provider) || one.includes('@')));
    const bare = !isMakers && isFree(name) ? [name] : [];
    const prefixed = names.filter((one) => !isFree(one)).map((one) => `${provider}/${one}`);
    return { ...model, id: idOf(model), variants: names.filter(isFree), aliases: [...bare, ...prefixed].sort(), priceKey: key };
  });
}

/** Facts of families: what is added to a model that is new. */
export function familyFacts({
  provider,
  name,
  kind,
  capabilities,
}: {
  provider: string;
  name: string;
  kind: Kind;
  capabilities: readonly string[];
}) {
  const tokenizer = tokenizerOf(provider, name);
  const bound = kind === 'chat' && capabilities.includes('vision') ? imageBoundOf(provider, name) : undefined;
  return {
    ...(tokenizer ? { tokenizer } : {}),
    ...(bound ? { image_token_bound: bound.tokens, image_token_bound_from: bound.from } : {}),
  };
}
