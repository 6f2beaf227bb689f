import type { Model, ModelDefinition, ModelKind, PriceMeter } from '@tallygate/contract';
import { metersWithoutPrice } from './needed-meters.ts';
import { type Price, PriceHistory, type WrittenPrice } from './price.ts';
import { supportedParameters } from './supported-parameters.ts';

/** Who said that a model is there. Where several do, the first of these holds, and its price. */
export const SOURCES = ['admin', 'file', 'shipped', 'discovery'] as const;
export type Source = (typeof SOURCES)[number];

export interface CatalogModel {
  readonly id: string;
  /** `own` where nobody has said whose it is. */
  readonly provider: string;
  /** The provider's own name for it. */
  readonly providerModel: string;
  readonly source: Source;
  /** Everybody who said something of it, the highest first. */
  readonly sources: readonly [Source, ...Source[]];
  readonly kind: ModelKind;
  readonly isAdvertised: boolean;
  readonly aliases: readonly string[];
  readonly variants: readonly string[];
  /** From when on its provider does not serve it any more, epoch milliseconds. */
  readonly retiredFrom: number | null;
  readonly contextWindow: number | null;
  readonly maxOutputTokens: number | null;
  /** What it thinks at most beside `maxOutputTokens`; 0 where thought counts within that. */
  readonly thinkingTokens: number;
  readonly capabilities: ReadonlySet<string>;
  readonly endpoints: ReadonlySet<string>;
  /** Models that may answer instead, the most similar first: none has a higher price, in or out. */
  readonly ladder: readonly string[];
  readonly inputModalities: ReadonlySet<string>;
  /** Set where the provider's tokenizer is published, so that counting gives a true upper bound. */
  readonly tokenizer: 'o200k_base' | 'cl100k_base' | null;
  /** The most that one image part can cost, tokens; null where images are not taken, or nobody knows. */
  readonly imageTokenBound: number | null;
  /** What a video may be asked for; empty for other kinds of models. */
  readonly videoSeconds: readonly string[];
  /** How much longer a video can be made at a time. */
  readonly videoExtensionSeconds: readonly string[];
  readonly videoSizes: readonly string[];
  /** OpenAI's shape plus limits and the prices of a time: the answer of `GET /v1/models/{id}`. */
  wireAt(epochMs: number): Model;
  /** The meters that any of its prices names. */
  readonly meters: ReadonlySet<PriceMeter>;
  /** Every price that was, is or will be in force. */
  readonly history: PriceHistory;
  /** The price in force at a time; before the first one, the first. Undefined where there is none, or where a meter of its kind would be free. */
  priceAt(epochMs: number): Price | undefined;
}

export interface ModelRecord {
  readonly id: string;
  readonly sources: readonly [Source, ...Source[]];
  readonly definition: ModelDefinition;
  readonly prices: readonly WrittenPrice[];
}

/** Whose a model is that nobody has filed under a provider. */
export const OWN = 'own';

const CHAT = ['/v1/chat/completions', '/v1/batches'];

/** What a model of a kind is taken to be where its definition does not say. */
const BY_KIND: Readonly<
  Record<ModelKind, { takes: string; gives: string; endpoints: readonly string[]; capabilities: readonly string[] }>
> = {
  // What every server of models can do by now; one that cannot says so itself.
  chat: {
    ...{ takes: 'text', gives: 'text', endpoints: CHAT },
    capabilities: ['json_schema', 'parallel_tools', 'streaming', 'system_messages', 'tools'],
  },
  completion: { takes: 'text', gives: 'text', endpoints: ['/v1/completions'], capabilities: ['streaming'] },
  embedding: { takes: 'text', gives: 'embedding', endpoints: ['/v1/embeddings', '/v1/batches'], capabilities: [] },
  image: { takes: 'text', gives: 'image', endpoints: ['/v1/images/generations'], capabilities: [] },
  realtime: { takes: 'audio', gives: 'audio', endpoints: ['/v1/realtime'], capabilities: ['tools'] },
  rerank: { takes: 'text', gives: 'text', endpoints: ['/v1/rerank'], capabilities: [] },
  moderation: { takes: 'text', gives: 'text', endpoints: ['/v1/moderations'], capabilities: [] },
  tts: { takes: 'text', gives: 'audio', endpoints: ['/v1/audio/speech'], capabilities: [] },
  stt: { takes: 'audio', gives: 'text', endpoints: ['/v1/audio/transcriptions'], capabilities: [] },
  video: { takes: 'text', gives: 'video', endpoints: ['/v1/videos'], capabilities: [] },
};

/** Endpoints that come with a capability. */
const BY_CAPABILITY: Readonly<Record<string, string>> = { edits: '/v1/images/edits', translation: '/v1/audio/translations' };

export function modelOf(record: ModelRecord): CatalogModel {
  const { id, sources, definition, prices } = record;
  const { provider = OWN, kind = 'chat', aliases = [], variants = [], ladder = [] } = definition;
  const { capabilities, endpoints, inputModalities } = abilitiesOf(definition);
  const history = new PriceHistory(prices);
  const priceAt = wholePrices(history, kind);
  return {
    id,
    provider,
    providerModel: definition.provider_model ?? (id.startsWith(`${provider}/`) ? id.slice(provider.length + 1) : id),
    source: sources[0],
    sources,
    kind,
    isAdvertised: definition.advertised ?? true,
    aliases,
    variants,
    retiredFrom: definition.retired === undefined ? null : Date.parse(definition.retired),
    contextWindow: definition.context_window ?? null,
    maxOutputTokens: definition.max_output_tokens ?? null,
    thinkingTokens: definition.thinking_tokens ?? 0,
    capabilities: new Set(capabilities),
    endpoints: new Set(endpoints),
    ladder,
    inputModalities: new Set(inputModalities),
    tokenizer: definition.tokenizer ?? null,
    imageTokenBound: definition.image_token_bound ?? null,
    videoSeconds: definition.video_seconds_allowed ?? [],
    videoExtensionSeconds: definition.video_extension_seconds_allowed ?? [],
    videoSizes: definition.video_sizes ?? [],
    wireAt: (epochMs) => toWire(record, history, priceAt(epochMs) && history.pricingAt(epochMs)),
    meters: metersOf(prices),
    priceAt,
    history,
  };
}

/** What a model takes, gives and can do; where the definition does not say it, as models of its kind. */
function abilitiesOf(definition: ModelRecord['definition']) {
  const { kind = 'chat' } = definition;
  const facts = BY_KIND[kind];
  const capabilities = definition.capabilities ?? facts.capabilities;
  return {
    capabilities,
    endpoints: endpointsOf(kind, definition.endpoints ?? [...facts.endpoints, ...extraEndpoints(kind, capabilities)]),
    inputModalities: definition.input_modalities ?? [facts.takes],
    outputModalities: definition.output_modalities ?? [facts.gives],
  };
}

/** The price of a moment, where it has all that models of the kind are charged by. */
function wholePrices(history: PriceHistory, kind: ModelKind): CatalogModel['priceAt'] {
  let knownWhole: Price | undefined;
  return (epochMs) => {
    const price = history.at(epochMs);
    if (!price || price === knownWhole) return price;
    if (!isWhole(price, kind)) return undefined;
    knownWhole = price;
    return price;
  };
}

function toWire({ id, definition }: ModelRecord, history: PriceHistory, pricing: Model['pricing'] | undefined): Model {
  const { provider = OWN, kind = 'chat', aliases = [], variants = [], ladder = [] } = definition;
  const { capabilities, endpoints, inputModalities, outputModalities } = abilitiesOf(definition);
  return {
    id,
    object: 'model',
    created: createdAt(definition, history.startsAt),
    owned_by: provider,
    kind,
    context_length: definition.context_window ?? null,
    max_output_tokens: definition.max_output_tokens ?? null,
    modalities: { input: inputModalities, output: outputModalities },
    capabilities: [...capabilities],
    supported_parameters: supportedParameters(kind, capabilities, definition),
    endpoints: [...endpoints],
    aliases: [...variants, ...aliases],
    ladder: [...ladder],
    deprecated: definition.deprecated ?? null,
    retired: definition.retired ?? null,
    pricing: pricing ?? null,
  };
}

const metersOf = (prices: readonly WrittenPrice[]): ReadonlySet<PriceMeter> =>
  new Set(prices.flatMap(({ usd_per_million }) => Object.keys(usd_per_million) as PriceMeter[]));

/** A model whose kind was changed may have a price of before. */
const isWhole = ({ unit, tiers }: Price, kind: ModelKind): boolean =>
  [unit, ...tiers.map((tier) => tier.unit)].every((prices) => metersWithoutPrice(kind, prices).length === 0);

/** What serves chats serves these too: they are translated where the provider has none. */
const CHAT_SURFACES = ['/v1/chat/completions', '/v1/responses', '/v1/messages', '/v1beta/models:generateContent'];

const EMBEDDING_SURFACES = ['/v1/embeddings', '/v1beta/models:embedContent'];
const SURFACES_OF: Readonly<Partial<Record<ModelKind, readonly string[]>>> = { chat: CHAT_SURFACES, embedding: EMBEDDING_SURFACES };

const endpointsOf = (kind: ModelKind, endpoints: readonly string[]): readonly string[] => [
  ...new Set([...(SURFACES_OF[kind] ?? []), ...endpoints]),
];

const extraEndpoints = (kind: ModelKind, capabilities: readonly string[]): string[] =>
  kind === 'image' || kind === 'stt' ? capabilities.flatMap((capability) => BY_CAPABILITY[capability] ?? []) : [];

/** Unix seconds. Of a model whose release nobody has published, the moment from which it has a price. */
const createdAt = ({ released }: ModelDefinition, pricedFrom = 0): number =>
  Math.floor((released ? Date.parse(released) : pricedFrom) / 1000);
