import { readFileSync } from 'node:fs';
import { type Page, writePage } from './page.ts';

interface CatalogModel {
  readonly id: string;
  readonly provider: string;
  readonly kind: string;
  readonly context_window: number | null;
  readonly input_modalities: readonly string[];
  readonly output_modalities: readonly string[];
  readonly prices: readonly {
    readonly usd_per_million: Readonly<Record<string, string>>;
  }[];
}

const KINDS: Readonly<Record<string, string>> = {
  chat: 'Chat and responses',
  completion: 'Completions',
  embedding: 'Embeddings',
  image: 'Images',
  tts: 'Speech',
  stt: 'Transcription',
  video: 'Video',
};

/** Meters in the order in which prices are read, with their short names. What is not here keeps its own, after these. */
const METERS: Readonly<Record<string, string>> = {
  input_tokens: 'input',
  cached_input_tokens: 'cached input',
  output_tokens: 'output',
  cache_write_tokens: 'cache write',
  cache_write_1h_tokens: 'cache write, 1 h',
};

/** The catalogue with its prices, by kind. */
export function modelsPage(): Page {
  const { models } = JSON.parse(readFileSync('../../server/src/catalog/models.json', 'utf8')) as { models: readonly CatalogModel[] };
  writePage(
    'models/index.md',
    { title: 'Models and prices', description: 'Every model of the catalogue, what it can do and what it costs.', tableOfContents: false },
    [
      `${models.length} models, with their prices in USD per million units. Prices are frozen by version into every receipt; \`GET /v1/models\` has them for programs, long-context tiers included. A line of a [batch](/docs/guides/batches/) costs half.`,
      '',
      ...Object.entries(KINDS).flatMap(([kind, title]) => [
        '',
        `## ${title}`,
        '',
        ...tableOf(models.filter((model) => model.kind === kind)),
      ]),
    ],
  );
  return { name: 'models', title: 'Models and prices', slug: 'models' };
}

const pricesOf = ({ prices }: CatalogModel) => prices.at(-1)?.usd_per_million ?? {};

/** One line a model, one column a meter. */
function tableOf(models: readonly CatalogModel[]): string[] {
  const known = Object.keys(METERS);
  const rank = (meter: string) => (known.includes(meter) ? known.indexOf(meter) : known.length);
  const meters = [...new Set(models.flatMap((model) => Object.keys(pricesOf(model))))].sort((a, b) => rank(a) - rank(b));
  const hasContext = models.some(({ context_window }) => context_window !== null);
  const head = [
    'model',
    ...meters.map((meter) => METERS[meter] ?? meter.replaceAll('_', ' ')),
    ...(hasContext ? ['context'] : []),
    'takes → gives',
    'made by',
  ];
  const isFigure = (column: number) => column > 0 && column < head.length - 2;
  return [
    '<div class="prices">',
    '',
    `| ${head.join(' | ')} |`,
    `|${head.map((_, column) => (isFigure(column) ? '---:' : '---')).join('|')}|`,
    ...models.map((model) => {
      const { id, provider, context_window, input_modalities, output_modalities } = model;
      const prices = pricesOf(model);
      const isFree = Object.keys(prices).length === 0;
      const figures = meters.map((meter, at) => prices[meter] ?? (isFree && at === 0 ? 'free' : '–'));
      const context = hasContext ? [context_window?.toLocaleString('en-US') ?? '–'] : [];
      return `| ${[`\`${id}\``, ...figures, ...context, `${input_modalities.join(', ')} → ${output_modalities.join(', ')}`, provider].join(' | ')} |`;
    }),
    '',
    '</div>',
    '',
  ];
}
