import { factorBetween, perMillion } from './decimal.ts';
import { canBePriced, endpointsOfImages, soundCapabilities } from './families.ts';
import { type Kind, type Listing, type Rates, type Read, readRows, type Terms, type TermsOfRequests, Unfit } from './listing.ts';
import { dayAt, limitAt, numberAt, type Row, rowsOf, textAt, wordsAt } from './row.ts';

const PROVIDERS: Readonly<Record<string, string>> = {
  openai: 'openai',
  'text-completion-openai': 'openai',
  anthropic: 'anthropic',
  gemini: 'google',
  xai: 'xai',
  deepseek: 'deepseek',
  mistral: 'mistral',
  cohere: 'cohere',
  cohere_chat: 'cohere',
  jina_ai: 'jina',
  groq: 'groq',
  together_ai: 'together',
  fireworks_ai: 'fireworks',
  azure: 'azure',
  azure_ai: 'azure',
  bedrock: 'bedrock',
  bedrock_converse: 'bedrock',
  bedrock_mantle: 'bedrock',
};
const ROW_PREFIX =
  /^(openai|anthropic|gemini|xai|deepseek|mistral|cohere|groq|together_ai|fireworks_ai|azure|azure_ai|bedrock|bedrock_mantle|vertex_ai)\//;

const KINDS: Readonly<Record<string, Kind>> = {
  chat: 'chat',
  responses: 'chat',
  completion: 'completion',
  embedding: 'embedding',
  rerank: 'rerank',
  image_generation: 'image',
  moderation: 'moderation',
  audio_speech: 'tts',
  audio_transcription: 'stt',
};

const CAPABILITIES = {
  supports_function_calling: 'tools',
  supports_parallel_function_calling: 'parallel_tools',
  supports_response_schema: 'json_schema',
  supports_vision: 'vision',
  supports_pdf_input: 'pdf',
  supports_prompt_caching: 'prompt_caching',
  supports_reasoning: 'reasoning',
  supports_audio_input: 'audio_input',
  supports_video_input: 'video_input',
} as const;

/** Charged beside the tokens, so that no cap could hold it. */
const CHARGED_BESIDE = [
  'input_cost_per_request',
  'citation_cost_per_token',
  'output_cost_per_audio_token',
  'output_cost_per_image',
  'output_cost_per_image_token',
  'output_cost_per_video_token',
  'input_cost_per_image',
  'input_cost_per_video_per_second',
  'input_cost_per_audio_per_second',
];

/** The rows of `model_prices_and_context_window.json` that the catalogue can price. */
export const readLitellm = (content: unknown): Read => readRows(rowsOf(content), listingOf);

function listingOf(key: string, row: Row): Listing | undefined {
  const provider = providerOf(row);
  if (!provider) return undefined;
  const mode = textAt(row, 'mode') ?? '';
  const kind = KINDS[mode];
  if (!kind) throw new Unfit(mode === '' ? 'no model' : `of mode ${mode}`);
  const name = key.replace(ROW_PREFIX, '');
  canBePriced(provider, name, kind);
  if (name.includes('/') && (provider === 'azure' || provider === 'bedrock')) throw new Unfit('one region, size or commitment');
  if (provider === 'fireworks' && kind === 'chat' && row.supports_function_calling !== true) throw new Unfit('on dedicated machines only');
  const capabilities = capabilitiesOf(kind, name, row);
  return {
    provider,
    name,
    kind,
    contextWindow: limitAt(row, 'max_input_tokens'),
    maxOutputTokens: limitAt(row, 'max_output_tokens'),
    ...modalitiesOf(kind, capabilities),
    capabilities,
    endpoints: endpointsOf(kind, row, capabilities),
    ends: dayAt(row, 'deprecation_date'),
    embeddingDimensions: kind === 'embedding' ? limitAt(row, 'output_vector_size') : undefined,
    terms: { ...termsOf(kind, row), ...(kind === 'chat' && NAME_TIERS.has(provider) && serviceTiersOf(kind, row)) },
    key,
  };
}

function providerOf(row: Row): string | undefined {
  const provider = textAt(row, 'litellm_provider') ?? '';
  return provider.startsWith('vertex_ai') ? 'vertex' : PROVIDERS[provider];
}

function capabilitiesOf(kind: Kind, name: string, row: Row): string[] {
  if (kind !== 'chat') return soundCapabilities(kind, name);
  const flags = Object.entries(CAPABILITIES).filter(([flag]) => row[flag] === true);
  const always = row.supports_system_messages === false ? ['streaming'] : ['streaming', 'system_messages'];
  return [...always, ...flags.map(([, capability]) => capability)].sort();
}

const TAKES: Readonly<Record<string, string>> = { vision: 'image', pdf: 'pdf', audio_input: 'audio', video_input: 'video' };

function modalitiesOf(kind: Kind, capabilities: readonly string[]): { inputModalities: string[]; outputModalities: string[] } {
  switch (kind) {
    case 'embedding':
      return { inputModalities: ['text'], outputModalities: ['embedding'] };
    case 'image':
      return { inputModalities: ['text', 'image'], outputModalities: ['image'] };
    case 'tts':
      return { inputModalities: ['text'], outputModalities: ['audio'] };
    case 'stt':
      return { inputModalities: ['audio'], outputModalities: ['text'] };
    default:
      return { inputModalities: ['text', ...capabilities.flatMap((one) => TAKES[one] ?? [])], outputModalities: ['text'] };
  }
}

function endpointsOf(kind: Kind, row: Row, capabilities: readonly string[]): string[] | undefined {
  if (kind === 'image') return endpointsOfImages(capabilities);
  if (kind !== 'chat') return undefined;
  const served = wordsAt(row, 'supported_endpoints');
  const isResponsesAlone =
    textAt(row, 'mode') === 'responses' || (served.includes('/v1/responses') && !served.includes('/v1/chat/completions'));
  return isResponsesAlone ? ['/v1/responses', '/v1/batches'] : undefined;
}

const METERS = {
  input_cost_per_token: 'input_tokens',
  cache_read_input_token_cost: 'cached_input_tokens',
  cache_creation_input_token_cost: 'cache_write_tokens',
  cache_creation_input_token_cost_above_1hr: 'cache_write_1h_tokens',
  output_cost_per_token: 'output_tokens',
  input_cost_per_audio_token: 'audio_input_tokens',
  input_cost_per_image_token: 'image_input_tokens',
  cache_read_input_image_token_cost: 'cached_image_input_tokens',
  output_cost_per_image_token: 'image_output_tokens',
  input_cost_per_character: 'input_characters',
  input_cost_per_second: 'audio_seconds',
  input_cost_per_query: 'search_units',
} as const;

/** By what each kind is charged; other figures of a row are copies, or for requests that the gateway refuses. */
const METERS_OF: Readonly<Record<Kind, ReadonlySet<string>>> = {
  chat: new Set([
    'input_tokens',
    'cached_input_tokens',
    'cache_write_tokens',
    'cache_write_1h_tokens',
    'output_tokens',
    'audio_input_tokens',
    'image_input_tokens',
  ]),
  completion: new Set(['input_tokens', 'output_tokens']),
  embedding: new Set(['input_tokens']),
  image: new Set([
    'input_tokens',
    'cached_input_tokens',
    'output_tokens',
    'image_input_tokens',
    'cached_image_input_tokens',
    'image_output_tokens',
  ]),
  moderation: new Set(),
  rerank: new Set(['input_tokens', 'search_units']),
  tts: new Set(['input_characters']),
  stt: new Set(['input_tokens', 'audio_input_tokens', 'output_tokens', 'audio_seconds']),
  video: new Set(['video_seconds']),
};

function termsOf(kind: Kind, row: Row): Terms {
  if (kind === 'chat') for (const field of CHARGED_BESIDE) if (numberAt(row, field)) throw new Unfit(`charged by ${field} as well`);
  const reasoning = numberAt(row, 'output_cost_per_reasoning_token');
  if (reasoning && reasoning !== numberAt(row, 'output_cost_per_token')) throw new Unfit('reasoning has a separate price');
  if (kind === 'tts' && numberAt(row, 'output_cost_per_audio_token')) throw new Unfit('charged by audio tokens out');
  const base = ratesOf(kind, row, '');
  // What is charged by its searches has tokens for nothing, which is no price.
  if (kind === 'rerank') for (const meter of ['input_tokens', 'search_units'] as const) if (base[meter] === '0') delete base[meter];
  // What is charged by its audio tokens is not charged by its seconds as well: those are an estimate of the former.
  if (kind === 'stt' && base.audio_input_tokens !== undefined) delete base.audio_seconds;
  // Where sound and images cost what text does, one price says it.
  if (kind === 'chat')
    for (const part of ['audio_input_tokens', 'image_input_tokens'] as const) if (base[part] === base.input_tokens) delete base[part];
  const tiers = tierLimits(row).map((thousands) => ({
    above_input_tokens: thousands * 1_000,
    usd_per_million: { ...partsOf(base), ...ratesOf(kind, row, `_above_${thousands}k_tokens`) },
  }));
  return { usd_per_million: base, ...(tiers.length > 0 ? { tiers } : {}), ...batchFactorOf(row) };
}

/** Providers that say in an answer at which tier they served it. */
const NAME_TIERS = new Set(['openai', 'azure', 'google']);

/** Each that has a price of all that the standard one has a price of, for short inputs and long ones. */
function serviceTiersOf(kind: Kind, row: Row): Pick<Terms, 'service_tiers'> {
  const { usd_per_million: base, tiers = [] } = termsOf(kind, row);
  const named = ['flex', 'priority'].flatMap((name): [string, TermsOfRequests][] => {
    const long = tiers.map(({ above_input_tokens: limit }) => ({
      above_input_tokens: limit,
      usd_per_million: ratesOf(kind, row, `_above_${limit / 1_000}k_tokens_${name}`),
    }));
    const terms = { usd_per_million: ratesOf(kind, row, `_${name}`), ...(long.length > 0 ? { tiers: long } : {}) };
    const isWhole = [terms, ...long].every(({ usd_per_million: prices }) => Object.keys(base).every((meter) => meter in prices));
    return isWhole ? [[name, terms]] : [];
  });
  return named.length > 0 ? { service_tiers: Object.fromEntries(named) } : {};
}

/** Sound and images in have one price where the source names no other one for long inputs. */
const partsOf = ({ audio_input_tokens, image_input_tokens }: Rates): Rates => ({
  ...(audio_input_tokens === undefined ? {} : { audio_input_tokens }),
  ...(image_input_tokens === undefined ? {} : { image_input_tokens }),
});

function ratesOf(kind: Kind, row: Row, suffix: string): Rates {
  const priced = Object.entries(METERS).flatMap(([field, meter]) => {
    const price = METERS_OF[kind].has(meter) ? numberAt(row, field + suffix) : undefined;
    // A cache that costs nothing is how the source says that there is none.
    return price === undefined || (price === 0 && field.startsWith('cache')) ? [] : [[meter, perMillion(price)]];
  });
  return Object.fromEntries(priced) as Rates;
}

const tierLimits = (row: Row): number[] =>
  Object.keys(row)
    .flatMap((field) => /^input_cost_per_token_above_(\d+)k_tokens$/.exec(field)?.[1] ?? [])
    .map(Number)
    .sort((a, b) => a - b);

/** One factor on everything: only where tokens in and out have the same one. */
function batchFactorOf(row: Row): { batch_factor?: string } {
  const factorOf = (field: string): string | undefined => {
    const [batch, plain] = [numberAt(row, `${field}_batches`), numberAt(row, field)];
    return batch && plain ? factorBetween(perMillion(batch), perMillion(plain)) : undefined;
  };
  const factor = factorOf('input_cost_per_token');
  const isSame = !numberAt(row, 'output_cost_per_token') || factorOf('output_cost_per_token') === factor;
  return factor !== undefined && isSame ? { batch_factor: factor } : {};
}
