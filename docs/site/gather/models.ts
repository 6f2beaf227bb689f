import { MODELS } from '../src/reference/catalog.ts';
import { writePage } from './page.ts';

const KINDS: Readonly<Record<string, string>> = {
  chat: 'Chat and responses',
  completion: 'Completions',
  embedding: 'Embeddings',
  rerank: 'Rerank',
  image: 'Images',
  tts: 'Speech',
  stt: 'Transcription',
  video: 'Video',
};

/** The catalogue with its prices, by kind. */
export function modelsPage(): void {
  const title = 'Models and prices';
  const description = 'Every model of the catalogue, what it takes and what it costs.';
  const unsorted = MODELS.find(({ kind }) => !Object.hasOwn(KINDS, kind));
  if (unsorted) throw new Error(`The kind ${unsorted.kind} needs a heading: KINDS in gather/models.ts.`);
  writePage('models/index.mdx', { title, description, tableOfContents: false }, [
    "import Catalogue from '../../../components/Catalogue.astro';",
    "import CatalogueFilter from '../../../components/CatalogueFilter.astro';",
    '',
    `${MODELS.length} models. The price of a request is frozen by version into its receipt; [\`GET /v1/models\`](/docs/reference/models/list-models/) has them for programs. A line of a [batch](/docs/guides/batches/) costs half.`,
    '',
    '<CatalogueFilter />',
    ...Object.entries(KINDS).flatMap(([kind, heading]) => ['', `## ${heading}`, '', `<Catalogue kind="${kind}" />`]),
  ]);
}
