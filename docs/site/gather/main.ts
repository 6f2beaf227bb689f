/** Writes the pages that are made from the repository's own texts into src/content/docs, and the sidebar. Run before every build. */
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { OPERATIONS, pageOf, TAGS } from '../src/reference/document.ts';
import { changelogPage } from './changelog.ts';
import { errorLinks, errorPage } from './errors.ts';
import { modelsPage } from './models.ts';
import { type Chapter, guidesOverview, referenceOverview } from './overviews.ts';
import { OUT, type Page, plain, writePage } from './page.ts';
import { pageOfFile, pagesOfFolder } from './texts.ts';

const MADE = ['start', 'concepts', 'guides', 'errors', 'reference', 'clients', 'models', 'changelog'];
/** Guides by what one has in mind, each in the order in which they are read. */
const GUIDES: Readonly<Record<string, readonly string[]>> = {
  'Calling models': [
    'inference',
    'responses',
    'messages',
    'realtime',
    'gemini',
    'hosted-tools',
    'files',
    'batches',
    'videos',
    'routing',
    'translation',
    'rerank',
    'answer-cache',
    'moderations',
    'catalog',
    'rate-limits',
    'idempotency',
    'request-ids',
    'pagination',
  ],
  'Money and receipts': [
    'runs',
    'budgets',
    'limits',
    'plans',
    'payments',
    'ledger',
    'receipts',
    'invoices',
    'finance',
    'webhooks',
    'attacks',
  ],
  'Getting in': [
    'authentication',
    'identity',
    'members',
    'management-keys',
    'sign-in',
    'scim',
    'keys',
    'signed-requests',
    'invites',
    'clients',
    'sdk',
    'cli',
    'mcp',
    'discovery',
  ],
  'Site and marketing': ['events', 'content', 'people', 'emails', 'client-requests'],
  Operating: [
    'console',
    'deploy',
    'running',
    'settings',
    'sizing',
    'workers',
    'several-gateways',
    'object-storage',
    'dedicated-capacity',
    'observability',
    'providers',
    'provider-presets',
    'migrate',
    'sandbox',
    'anchoring',
  ],
};

for (const folder of MADE) rmSync(join(OUT, folder), { recursive: true, force: true });

const start = pagesOfFolder('start');
const concepts = pagesOfFolder('concepts');
const guides = pagesOfFolder('guides');
const errors = pagesOfFolder('errors', errorPage);
const clients = [
  pageOfFile('../../sdk/README.md', 'clients', 'sdk'),
  pageOfFile('../../cli/README.md', 'clients', 'cli'),
  pageOfFile('../../packages/receipts/README.md', 'clients', 'receipts'),
];
modelsPage();
changelogPage();
for (const operation of OPERATIONS) {
  const { summary, description, id } = operation;
  writePage(
    `${pageOf(operation)}.mdx`,
    { title: summary, ...(description ? { description: plain(description) } : {}), tableOfContents: false },
    ["import Operation from '../../../../components/Operation.astro';", '', `<Operation id="${id}" />`],
  );
}

const unsorted = guides.find(({ name }) => !Object.values(GUIDES).flat().includes(name));
if (unsorted) throw new Error(`The guide ${unsorted.name} needs a place in the navigation: GUIDES in gather/main.ts.`);
const chapters: Chapter[] = [
  { label: 'First minute', pages: inOrder(start, ['openai-sdk', 'typescript', 'terminal']) },
  { label: 'Concepts', pages: inOrder(concepts, ['hard-caps', 'receipts', 'receipt-format']) },
  ...Object.entries(GUIDES).map(([label, names]) => ({
    label,
    pages: inOrder(
      guides.filter(({ name }) => names.includes(name)),
      names,
    ),
  })),
  { label: 'Clients', pages: clients },
];
const allGuides = guidesOverview(chapters);
const operations = referenceOverview();

// One group for each section of the header; a page shows that of its own section.
writeFileSync(
  'src/content/sidebar.json',
  JSON.stringify([
    {
      label: 'Guides',
      items: [link(allGuides), ...chapters.map(({ label, pages }) => ({ label, items: pages.map(link) }))],
    },
    {
      label: 'API reference',
      items: [link(operations), ...TAGS.map(operationsOf).filter(({ items }) => items.length > 0)],
    },
    { label: 'Errors', items: errorLinks(errors) },
  ]),
);

/** Those that are named first, as they are named; the others by title. */
function inOrder(pages: readonly Page[], first: readonly string[]): Page[] {
  const rank = ({ name }: Page) => (first.includes(name) ? first.indexOf(name) : first.length);
  return [...pages].sort((a, b) => rank(a) - rank(b) || a.title.localeCompare(b.title));
}

function link({ title, slug }: Page) {
  return { label: title, slug };
}

function operationsOf({ name }: { readonly name: string }) {
  return {
    label: name,
    collapsed: true,
    items: OPERATIONS.filter(({ tag }) => tag === name).map((operation) => ({
      label: operation.summary,
      slug: pageOf(operation),
      badge: { text: operation.method, class: `verb ${operation.method.toLowerCase()}` },
    })),
  };
}
