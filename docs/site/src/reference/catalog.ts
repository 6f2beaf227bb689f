import { readdirSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { OPERATIONS, pageOf } from './document.ts';

type Prices = Readonly<Record<string, string>>;

interface ShippedFile {
  readonly provider: string;
  readonly models: readonly (Omit<CatalogModel, 'provider'> & { readonly advertised?: boolean })[];
}

export interface CatalogModel {
  readonly id: string;
  readonly provider: string;
  readonly kind: string;
  readonly context_window: number | null;
  readonly input_modalities: readonly string[];
  readonly endpoints: readonly string[];
  readonly prices: readonly {
    readonly effective_from: string;
    readonly usd_per_million: Prices;
    readonly tiers?: readonly { readonly above_input_tokens: number; readonly usd_per_million: Prices }[];
  }[];
}

const FOLDER = '../../server/src/money/catalog/shipped';

/** The advertised models of the shipped list. The build runs in the folder of the site. */
export const MODELS: readonly CatalogModel[] = readdirSync(resolve(FOLDER))
  .filter((name) => name.endsWith('.json'))
  .flatMap((name) => {
    const { provider, models } = JSON.parse(readFileSync(resolve(FOLDER, name), 'utf8')) as ShippedFile;
    return models.filter(({ advertised }) => advertised).map((model) => ({ ...model, provider }));
  });

const PROVIDERS: Readonly<Record<string, string>> = {
  openai: 'OpenAI',
  anthropic: 'Anthropic',
  google: 'Google',
  xai: 'xAI',
  deepseek: 'DeepSeek',
  mistral: 'Mistral',
};

/** As it writes itself. */
export const providerName = (provider: string): string => PROVIDERS[provider] ?? provider;

/** What a price is of, as people count it: `units` of a meter that the catalogue prices by the million. */
interface Measure {
  readonly label: string;
  readonly per: string;
  readonly units: bigint;
}

const TOKENS = { per: '1M tokens', units: 1_000_000n };
/** Meters in the order in which prices are read. */
const MEASURES: Readonly<Record<string, Measure>> = {
  input_tokens: { label: 'Input', ...TOKENS },
  cached_input_tokens: { label: 'Cached input', ...TOKENS },
  audio_input_tokens: { label: 'Audio input', ...TOKENS },
  cached_audio_input_tokens: { label: 'Cached audio input', ...TOKENS },
  image_input_tokens: { label: 'Image input', ...TOKENS },
  cached_image_input_tokens: { label: 'Cached image input', ...TOKENS },
  output_tokens: { label: 'Output', ...TOKENS },
  image_output_tokens: { label: 'Image output', ...TOKENS },
  cache_write_tokens: { label: 'Cache write', ...TOKENS },
  cache_write_1h_tokens: { label: 'Cache write, 1 h', ...TOKENS },
  input_characters: { label: 'Input', per: '1M characters', units: 1_000_000n },
  audio_seconds: { label: 'Audio', per: 'minute', units: 60n },
  video_seconds: { label: 'Video', per: 'second', units: 1n },
  search_units: { label: 'Search', per: '1k searches', units: 1_000n },
  audio_output_tokens: { label: 'Audio output', ...TOKENS },
  web_searches: { label: 'Web search', per: '1k searches', units: 1_000n },
  web_search_previews: { label: 'Web search (preview tool)', per: '1k searches', units: 1_000n },
  file_searches: { label: 'File search', per: '1k searches', units: 1_000n },
  container_gigabytes: { label: 'Container', per: 'GB and session', units: 1n },
  image_tool_text_input_tokens: { label: 'Image tool, text input', ...TOKENS },
  image_tool_image_input_tokens: { label: 'Image tool, image input', ...TOKENS },
  image_tool_text_output_tokens: { label: 'Image tool, text output', ...TOKENS },
  image_tool_image_output_tokens: { label: 'Image tool, image output', ...TOKENS },
};

const newestOf = (prices: CatalogModel['prices']) => prices.toSorted((a, b) => a.effective_from.localeCompare(b.effective_from)).at(-1);

export interface Column {
  readonly meter: string;
  readonly label: string;
  /** Shown with each price where not every column of the table counts tokens. */
  readonly per: string;
}

/** Models of one kind, and the meters that any of them is charged by. */
export function columnsOf(models: readonly CatalogModel[]): Column[] {
  const used = new Set(models.flatMap(({ prices }) => Object.keys(newestOf(prices)?.usd_per_million ?? {})));
  const unknown = [...used].find((meter) => !Object.hasOwn(MEASURES, meter));
  if (unknown !== undefined) throw new Error(`The meter ${unknown} needs a name and a unit: MEASURES in reference/catalog.ts.`);
  return Object.entries(MEASURES)
    .filter(([meter]) => used.has(meter))
    .map(([meter, { label, per }]) => ({ meter, label, per }));
}

/** What `units` of a meter cost at the newest price: `$1.25`; beyond a number of input tokens, what they cost there. */
export function pricesOf({ prices }: CatalogModel, meter: string): { readonly price?: string; readonly above?: string } {
  const newest = newestOf(prices);
  const shown = (usdPerMillion: string | undefined) => usdPerMillion && dollars(usdPerMillion, MEASURES[meter]?.units ?? 1n);
  const price = shown(newest?.usd_per_million[meter]);
  const [tier] = newest?.tiers ?? [];
  const dearer = shown(tier?.usd_per_million[meter]);
  return {
    ...(price && { price }),
    ...(tier && dearer && dearer !== price && { above: `${dearer} above ${shortCount(tier.above_input_tokens)}` }),
  };
}

const DIGITS = 12;

/** `0.5` per million of `units` of a million: `$0.50`. Exact, and with two decimals at least. */
function dollars(usdPerMillion: string, units: bigint): string {
  const [whole = '0', fraction = ''] = usdPerMillion.split('.');
  const amount = (BigInt(whole + fraction.padEnd(DIGITS, '0')) * units) / 1_000_000n;
  const digits = amount.toString().padStart(DIGITS + 1, '0');
  return `$${digits.slice(0, -DIGITS)}.${digits.slice(-DIGITS).replace(/0+$/, '').padEnd(2, '0')}`;
}

/** `1050000`: `1.05M`. */
export function shortCount(count: number): string {
  if (count < 1_000) return String(count);
  return count < 1_000_000 ? `${Math.round(count / 1_000)}K` : `${Number((count / 1_000_000).toFixed(2))}M`;
}

/** The page of the operation that calls a model. */
export function calledBy({ endpoints }: CatalogModel): string | undefined {
  const operation = OPERATIONS.find(({ method, path }) => method === 'POST' && path === endpoints[0]);
  return operation && `/docs/${pageOf(operation)}/`;
}
