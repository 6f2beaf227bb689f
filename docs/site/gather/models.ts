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

/** The catalogue with its prices, by kind. */
export function modelsPage(): Page {
  const { models } = JSON.parse(readFileSync('../../server/src/catalog/models.json', 'utf8')) as { models: readonly CatalogModel[] };
  const kinds = Object.keys(KINDS);
  const lines = kinds.flatMap((kind) => [
    `## ${KINDS[kind]}`,
    '',
    '| model | made by | context | takes → gives | USD per million |',
    '|---|---|---:|---|---|',
    ...models.filter((model) => model.kind === kind).map(row),
    '',
  ]);
  writePage(
    'models/index.md',
    { title: 'Models and prices', description: 'Every model of the catalogue, what it can do and what it costs.', tableOfContents: true },
    [
      `${models.length} models. Prices are frozen by version into every receipt; \`GET /v1/models\` has them for programs, long-context tiers included. A line of a [batch](/docs/guides/batches/) costs half.`,
      '',
      ...lines,
    ],
  );
  return { name: 'models', title: 'Models and prices', slug: 'models' };
}

function row({ id, provider, context_window, input_modalities, output_modalities, prices }: CatalogModel): string {
  const price = prices.at(-1);
  const perMillion = Object.entries(price?.usd_per_million ?? {}).map(([meter, usd]) => `${meter.replaceAll('_', ' ')} ${usd}`);
  const cells = [
    `\`${id}\``,
    provider,
    context_window === null ? '' : context_window.toLocaleString('en-US'),
    `${input_modalities.join(', ')} → ${output_modalities.join(', ')}`,
    perMillion.join('<br>') || 'free',
  ];
  return `| ${cells.join(' | ')} |`;
}
