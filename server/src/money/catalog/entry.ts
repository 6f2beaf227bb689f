import {
  type ModelDefinition,
  ModelId,
  type ModelKind,
  modelFields,
  OUTPUT_TOO_LONG,
  outputFitsContext,
  PriceInput,
  PriceTerms,
} from '@tallygate/contract';
import * as z from 'zod';
import { TOOL_METERS } from './cost.ts';
import { metersWithoutPrice } from './needed-meters.ts';

/** What a price has to say besides its terms when it is handed in. */
export interface GivenPrice extends PriceTerms {
  /** Undefined: made when it is written down. */
  readonly version?: string | undefined;
  /** A day or a moment; undefined: now. */
  readonly effective_from?: string | undefined;
  /** Where the figures are from, in words or as an address. */
  readonly cited: string | null;
}

/** A model as a list has it. */
export interface ListedModel {
  readonly id: string;
  readonly definition: ModelDefinition;
  /** Undefined: the list knows the model, not what it costs. The oldest first. */
  readonly prices: readonly GivenPrice[];
}

/** As an administrator sets one; in a file, days will do for moments. */
const OwnPrice = PriceInput.extend({ effective_from: z.union([z.iso.date(), z.iso.datetime()]).optional() });

/** The file that `MODELS_FILE` names. */
const ModelsFile = z.strictObject({
  models: z
    .array(z.strictObject({ id: ModelId, ...modelFields, price: OwnPrice.optional() }).refine(outputFitsContext, OUTPUT_TOO_LONG))
    .max(10_000),
});

export function modelsOfFile(content: unknown): ListedModel[] {
  return uniquely(
    ModelsFile.parse(content).models.map(({ id, price, ...definition }) => {
      if (!price) return { id, definition, prices: [] };
      const { source, ...terms } = price;
      return { id, definition, prices: [{ ...terms, cited: source ?? null }] };
    }),
  );
}

const Source = z.strictObject({
  url: z.url().optional(),
  repo: z.string().optional(),
  package: z.string().optional(),
  commit: z.string().optional(),
  release: z.string().optional(),
  path: z.string().optional(),
  license: z.string().optional(),
  day: z.iso.date(),
});

const ShippedPrice = PriceTerms.extend({
  version: z.string().min(1).max(60),
  effective_from: z.iso.date(),
  source: z.string(),
  key: z.string().optional(),
  /** On which the source said so. */
  day: z.iso.date(),
  /** Where the prices of service tiers are from, where that is another source. */
  service_tiers_from: z.string().optional(),
});

/** What the provider's own tools cost, beside the prices of its chat models that have tools: one list for all of them. */
const ShippedTools = z.strictObject({
  /** Only of models that have this capability, or do not have it. */
  with: z.string().optional(),
  without: z.string().optional(),
  prices: z
    .array(
      ShippedPrice.omit({ tiers: true, batch_factor: true, service_tiers: true, service_tiers_from: true, source: true, key: true }).extend(
        {
          sources: z.array(z.string()).min(1),
        },
      ),
    )
    .min(1),
  note: z.string().optional(),
});

/** A file of the shipped list: all models of a provider. */
const ShippedFile = z.strictObject({
  provider: z.string(),
  sources: z.record(z.string(), Source),
  tools: z.array(ShippedTools).default([]),
  models: z.array(
    z
      .strictObject({
        id: ModelId,
        ...modelFields,
        image_token_bound_from: z.string().optional(),
        sources: z.array(z.strictObject({ source: z.string(), key: z.string().optional(), path: z.string().optional() })).min(1),
        disagreements: z.array(z.string()).optional(),
        prices: z.array(ShippedPrice).min(1),
      })
      .refine(outputFitsContext, OUTPUT_TOO_LONG),
  ),
});

/** @throws where an entry has no source, or a price no source and no day */
export function modelsOfShippedFile(content: unknown): ListedModel[] {
  const { provider, sources, models, tools } = ShippedFile.parse(content);
  const wordsOf = (name: string, id: string): string => {
    const source = Object.hasOwn(sources, name) ? sources[name] : undefined;
    if (!source) throw new Error(`${id} names the source ${name}, which the file does not have`);
    const at = source.url ?? [source.repo ?? source.package, source.commit ?? source.release, source.path].filter((part) => part).join(' ');
    if (at === '') throw new Error(`The source ${name} does not say where it is`);
    return at;
  };
  return models.map(({ id, sources: named, disagreements: _, image_token_bound_from: _why, prices, ...definition }) => {
    for (const { source } of named) wordsOf(source, id);
    const given = prices.map(({ source, day, key, service_tiers_from: other, ...price }) => {
      const fault = faultOfTerms(definition.kind, price);
      if (fault !== undefined) throw new Error(`${id}, version ${price.version}: ${fault}`);
      const ofTiers = other === undefined ? '' : `; service tiers: ${wordsOf(other, id)} (${sources[other]?.day})`;
      return { ...price, cited: `${wordsOf(source, id)}${key === undefined ? '' : ` ${key}`} (${day})${ofTiers}` };
    });
    given.sort((a, b) => (a.effective_from < b.effective_from ? -1 : 1));
    const ofTools = tools
      .filter((list) => haveTools(definition, list))
      .flatMap(({ prices: dated }) =>
        dated.map((price) => ({ ...price, cited: `${price.sources.map((name) => wordsOf(name, id)).join(', ')} (${price.day})` })),
      );
    return {
      id,
      definition: { ...definition, advertised: definition.advertised ?? false, provider },
      prices: withPricesOfTools(given, ofTools),
    };
  });
}

type DatedPrice = GivenPrice & { readonly version: string; readonly effective_from: string };
type DatedTools = Pick<DatedPrice, 'version' | 'effective_from' | 'usd_per_million' | 'cited'>;

function haveTools({ kind = 'chat', capabilities = [] }: ModelDefinition, { with: has, without }: z.infer<typeof ShippedTools>): boolean {
  const isMeant = (has === undefined || capabilities.includes(has)) && (without === undefined || !capabilities.includes(without));
  return kind === 'chat' && capabilities.includes('tools') && isMeant;
}

/**
 * From each day on which one of them changes, the price of the model with that of the tools: under the name of the newer, which says both.
 * @param given in order of their days
 */
function withPricesOfTools(given: readonly DatedPrice[], tools: readonly DatedTools[]): DatedPrice[] {
  const days = [...new Set([...given, ...tools].map(({ effective_from: day }) => day))].sort();
  return days.flatMap((day) => {
    const own = given.findLast(({ effective_from: from }) => from <= day);
    const ofTools = tools.filter(({ effective_from: from }) => from <= day);
    if (!own || ofTools.length === 0) return own ?? [];
    const meters = Object.assign({}, ...ofTools.map(({ usd_per_million: prices }) => prices)) as DatedPrice['usd_per_million'];
    return {
      ...own,
      effective_from: day,
      version:
        [own, ...ofTools]
          .map(({ version }) => version)
          .sort()
          .at(-1) ?? own.version,
      cited: [own, ...ofTools].map(({ cited }) => cited).join('; tools: '),
      ...withMeters(own, meters),
      ...(own.service_tiers && { service_tiers: tiersWithMeters(own.service_tiers, meters) }),
    };
  });
}

type Requests = Pick<PriceTerms, 'usd_per_million' | 'tiers'>;

const withMeters = ({ usd_per_million, tiers }: Requests, meters: PriceTerms['usd_per_million']): Requests => ({
  usd_per_million: { ...usd_per_million, ...meters },
  tiers: tiers?.map((tier) => ({ ...tier, usd_per_million: { ...tier.usd_per_million, ...meters } })),
});

/** Tools cost the same at every service tier. */
const tiersWithMeters = (
  ofTiers: NonNullable<PriceTerms['service_tiers']>,
  meters: PriceTerms['usd_per_million'],
): PriceTerms['service_tiers'] => Object.fromEntries(Object.entries(ofTiers).map(([tier, terms]) => [tier, withMeters(terms, meters)]));

/** @throws where a model is listed twice */
export function uniquely(models: ListedModel[]): ListedModel[] {
  const ids = new Set<string>();
  for (const { id } of models) {
    if (ids.has(id)) throw new Error(`The model ${id} is listed twice`);
    ids.add(id);
  }
  return models;
}

/** What is missing in a price: a meter that the kind is charged by and that has no price would be free. */
export function faultOfTerms(kind: ModelKind | undefined = 'chat', terms: PriceTerms): string | undefined {
  const { usd_per_million, tiers = [], service_tiers: ofTiers = {} } = terms;
  for (const [tier, { usd_per_million: ofTier, tiers: long = [] }] of Object.entries(ofTiers)) {
    const unpriced = Object.keys(usd_per_million).find((meter) =>
      [ofTier, ...long.map((one) => one.usd_per_million)].some((prices) => !(meter in prices)),
    );
    if (unpriced !== undefined)
      return `Expected a price of ${unpriced} in the service tier ${tier}: it takes the place of all other prices`;
    if (
      long.length !== tiers.length ||
      !tiers.every(({ above_input_tokens: limit }) => long.some((one) => one.above_input_tokens === limit))
    )
      return `Expected the same long inputs in the service tier ${tier}: it takes the place of all other prices`;
  }
  for (const meter of TOOL_METERS)
    if (usd_per_million[meter] !== undefined && tiers.some((tier) => tier.usd_per_million[meter] === undefined))
      return `Expected a price of ${meter} in every tier: a tier takes the place of all other prices`;
  for (const prices of [usd_per_million, ...tiers.map((tier) => tier.usd_per_million)]) {
    const missing = metersWithoutPrice(kind, prices);
    if (missing.length > 0) return `Expected a price of ${missing.join(', ')}, by which a model of kind ${kind} is charged`;
  }
  return undefined;
}
