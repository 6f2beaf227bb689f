import { shifted } from './decimal.ts';
import { canBePriced } from './families.ts';
import { type Listing, type Rates, type Read, readRows, type Terms, Unfit } from './listing.ts';
import { dayAt, limitAt, numberAt, type Row, rowOf, rowsOf, textAt, wordsAt } from './row.ts';

const PROVIDERS: Readonly<Record<string, string>> = {
  openai: 'openai',
  anthropic: 'anthropic',
  google: 'google',
  xai: 'xai',
  deepseek: 'deepseek',
  mistral: 'mistral',
  cohere: 'cohere',
  groq: 'groq',
  togetherai: 'together',
  'fireworks-ai': 'fireworks',
  openrouter: 'openrouter',
  azure: 'azure',
  'azure-cognitive-services': 'azure',
  'amazon-bedrock': 'bedrock',
  'google-vertex': 'vertex',
  'google-vertex-anthropic': 'vertex',
};

/** The entries of models.dev's `api.json` that the catalogue can price: models that answer in text. */
export function readModelsDev(content: unknown): Read {
  const rows = rowsOf(content).flatMap(([from, { models }]) => {
    const provider = PROVIDERS[from];
    return provider ? rowsOf(models).map(([name, entry]) => [`${from}/${name}`, { provider, name, entry }] as const) : [];
  });
  return readRows(rows, (key, { provider, name, entry }) => listingOf(key, provider, name, entry));
}

/** OpenRouter keeps hundreds of models that hardly anybody calls. */
const OLDEST = '2024-09-01';
const isOfMakers = (name: string): boolean => /^(openai|anthropic|google|meta-llama|mistralai|deepseek|qwen|cohere)\//.test(name);

const TAKES: Readonly<Record<string, string>> = { image: 'vision', pdf: 'pdf', audio: 'audio_input', video: 'video_input' };
const NO_CHAT = /embed|rerank|moderation|whisper|transcribe|tts|guard|-safety/i;

function listingOf(key: string, provider: string, name: string, entry: Row): Listing {
  const modalities = rowOf(entry.modalities);
  const limit = rowOf(entry.limit);
  const taken = wordsAt(modalities, 'input');
  const isSmall = provider === 'openrouter' && !isOfMakers(name);
  if (isSmall && (entry.tool_call !== true || (dayAt(entry, 'release_date') ?? '') < OLDEST))
    throw new Unfit('of small makers, old or without tools');
  if (textAt(entry, 'status') === 'deprecated') throw new Unfit('deprecated');
  if (wordsAt(modalities, 'output').join() !== 'text') throw new Unfit('not text alone out');
  if (NO_CHAT.test(name)) throw new Unfit('no chat model');
  canBePriced(provider, name, 'chat');
  if (entry.cost === undefined) throw new Unfit('no price');
  const cost = rowOf(entry.cost);
  return {
    provider,
    name,
    kind: 'chat',
    contextWindow: limitAt(limit, 'context'),
    maxOutputTokens: limitAt(limit, 'output'),
    inputModalities: taken,
    outputModalities: ['text'],
    capabilities: [
      ...['streaming', 'system_messages'],
      ...(entry.tool_call === true ? ['tools'] : []),
      ...(entry.structured_output === true ? ['json_schema'] : []),
      ...(entry.reasoning === true ? ['reasoning'] : []),
      ...(numberAt(cost, 'cache_read') ? ['prompt_caching'] : []),
      ...taken.flatMap((modality) => TAKES[modality] ?? []),
    ].sort(),
    released: dayAt(entry, 'release_date'),
    terms: termsOf(cost),
    key,
  };
}

function termsOf(cost: Row): Terms {
  if (numberAt(cost, 'output_audio')) throw new Unfit('sound out');
  const reasoning = numberAt(cost, 'reasoning');
  if (reasoning && reasoning !== numberAt(cost, 'output')) throw new Unfit('reasoning has a separate price');
  const tiers = (Array.isArray(cost.tiers) ? cost.tiers : []).map(rowOf).map((rates) => {
    const tier = rowOf(rates.tier);
    if ((textAt(tier, 'type') ?? 'context') !== 'context') throw new Unfit('tiers that are not by the length of the input');
    return { above_input_tokens: numberAt(tier, 'size') ?? 0, usd_per_million: ratesOf(rates) };
  });
  tiers.sort((a, b) => a.above_input_tokens - b.above_input_tokens);
  return { usd_per_million: ratesOf(cost), ...(tiers.length > 0 ? { tiers } : {}) };
}

const METERS = {
  input: 'input_tokens',
  cache_read: 'cached_input_tokens',
  cache_write: 'cache_write_tokens',
  output: 'output_tokens',
  input_audio: 'audio_input_tokens',
} as const;

function ratesOf(cost: Row): Rates {
  const priced = Object.entries(METERS).flatMap(([field, meter]) => {
    const price = numberAt(cost, field);
    // A cache that costs nothing is how the source says that there is none.
    const isMeant = price !== undefined && (price > 0 || field === 'input' || field === 'output');
    return isMeant ? [[meter, shifted(price, 0)]] : [];
  });
  return Object.fromEntries(priced) as Rates;
}
