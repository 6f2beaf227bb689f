/** Writes the pages that are made from the repository's own texts into src/content/docs, and the sidebar. Run before every build. */
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { OPERATIONS, pageOf, TAGS } from '../src/reference/document.ts';
import { changelogPage } from './changelog.ts';
import { errorPage } from './errors.ts';
import { modelsPage } from './models.ts';
import { OUT, type Page, plain, writePage } from './page.ts';
import { pageOfFile, pagesOfFolder } from './texts.ts';

const MADE = ['start', 'concepts', 'guides', 'errors', 'reference', 'clients', 'models', 'changelog'];
/** Guides by what one has in mind, each in the order in which they are read. */
const GUIDES: Readonly<Record<string, readonly string[]>> = {
  'Calling models': ['inference', 'responses', 'files', 'batches', 'videos', 'catalog', 'rate-limits'],
  'Money and receipts': ['runs', 'budgets', 'plans', 'payments', 'ledger', 'receipts'],
  'Getting in': ['identity', 'keys', 'signed-requests', 'invites', 'sdk', 'cli', 'mcp', 'discovery'],
  'Site and marketing': ['events', 'content', 'people', 'emails', 'client-requests'],
  Operating: ['running', 'several-gateways', 'providers', 'sandbox', 'anchoring'],
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
const models = modelsPage();
const changelog = changelogPage();
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
const guidesOn = (subject: string) => {
  const names = GUIDES[subject] ?? [];
  return group(
    subject,
    guides.filter(({ name }) => names.includes(name)),
    names,
  );
};
writeFileSync(
  'src/content/sidebar.json',
  JSON.stringify([
    { ...group('First minute', start, ['openai-sdk', 'typescript', 'terminal']), collapsed: false },
    group('Concepts', concepts, ['hard-caps', 'receipts']),
    ...Object.keys(GUIDES)
      .filter((subject) => subject !== 'Operating')
      .map(guidesOn),
    { label: 'Clients', collapsed: true, items: clients.map(link) },
    { label: 'API reference', collapsed: true, items: TAGS.map(operationsOf).filter(({ items }) => items.length > 0) },
    link(models),
    guidesOn('Operating'),
    group('Errors', errors, ['index']),
    link(changelog),
    { label: 'Verify a receipt', slug: 'verify' },
  ]),
);

/** Closed, but on its own pages: what is open everywhere is a list that nobody reads. */
function group(label: string, pages: readonly Page[], first: readonly string[] = []) {
  const rank = ({ name }: Page) => (first.includes(name) ? first.indexOf(name) : first.length);
  return {
    label,
    collapsed: true,
    items: [...pages].sort((a, b) => rank(a) - rank(b) || a.title.localeCompare(b.title)).map(link),
  };
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
      badge: { text: operation.method, class: `badge-${operation.method.toLowerCase()}` },
    })),
  };
}
