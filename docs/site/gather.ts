/** Writes the pages that are made from the repository's own texts into src/content/docs, and the sidebar. Run before every build. */
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { kebab, OPERATIONS, pageOf, TAGS } from './src/reference/document.ts';

const OUT = 'src/content/docs';
const GATHERED = ['start', 'concepts', 'guides', 'operate', 'errors', 'reference'];
const REPOSITORY_FILES = /\]\(\.\.\/\.\.\/((?:sdk|cli|server|contract|packages|bench|acceptance|decisions)\/[^)]*|[A-Z]+\.md)\)/g;

for (const folder of GATHERED) rmSync(join(OUT, folder), { recursive: true, force: true });
const written = GATHERED.filter((folder) => folder !== 'reference').flatMap((folder) => folderOf(folder));
for (const operation of OPERATIONS) {
  write(
    `${pageOf(operation)}.mdx`,
    {
      title: operation.summary,
      ...(operation.description ? { description: plain(operation.description) } : {}),
      tableOfContents: false,
      pagefind: true,
    },
    ["import Operation from '../../../../components/Operation.astro';", '', `<Operation id="${operation.id}" />`],
  );
}
const group = (label: string, folder: string, first: readonly string[] = []) => ({
  label,
  items: written
    .filter((page) => page.folder === folder)
    .sort((a, b) => rank(first, a.name) - rank(first, b.name) || a.title.localeCompare(b.title))
    .map(({ title, slug }) => ({ label: title, slug })),
  collapsed: folder === 'errors',
});
const rank = (first: readonly string[], name: string) => (first.includes(name) ? first.indexOf(name) : first.length);
writeFileSync(
  'src/content/sidebar.json',
  JSON.stringify([
    group('First minute', 'start', ['openai-sdk', 'typescript', 'terminal']),
    group('Concepts', 'concepts'),
    group('Guides', 'guides'),
    {
      label: 'API reference',
      items: TAGS.map(({ name }) => ({
        label: name,
        collapsed: true,
        items: OPERATIONS.filter(({ tag }) => tag === name).map((operation) => ({
          label: operation.summary,
          slug: pageOf(operation),
          badge: { text: operation.method, class: `badge-${operation.method.toLowerCase()}` },
        })),
      })).filter(({ items }) => items.length > 0),
    },
    group('Operating', 'operate'),
    group('Errors', 'errors'),
  ]),
);

interface Page {
  readonly folder: string;
  readonly name: string;
  readonly title: string;
  readonly slug: string;
}

/** The Markdown files of a folder beside the site, their first heading as title, links between files as links between pages. */
function folderOf(folder: string): Page[] {
  let names: string[] = [];
  try {
    names = readdirSync(join('..', folder)).filter((name) => name.endsWith('.md'));
  } catch {
    return [];
  }
  return names.map((file) => {
    const text = readFileSync(join('..', folder, file), 'utf8');
    const name = file === 'README.md' ? 'index' : file.slice(0, -3);
    const title = /^# (.+)$/m.exec(text)?.[1] ?? name;
    const body = text.replace(/^# .+\n+/m, '');
    const [first = ''] = body.split('\n\n');
    write(`${folder}/${name}.md`, { title: plain(title), description: plain(first) }, [linked(body, folder)]);
    return { folder, name, title: plain(title), slug: name === 'index' ? folder : `${folder}/${name}` };
  });
}

/** `x.md#y` beside this file, or in a folder beside this one, becomes the address of its page. */
function linked(body: string, folder: string): string {
  return body
    .replaceAll(REPOSITORY_FILES, (_, path: string) => `](https://github.com/tallygate/tallygate/blob/main/${path})`)
    .replaceAll(
      /\]\((?:\.\.\/(\w+)\/)?([\w-]+)\.md(#[\w-]+)?\)/g,
      (_, other: string | undefined, name: string, anchor = '') =>
        `](/docs/${other ?? folder}/${kebab(name) === 'readme' ? '' : `${name}/`}${anchor})`,
    );
}

function write(path: string, frontmatter: Readonly<Record<string, unknown>>, lines: readonly string[]): void {
  const file = join(OUT, path);
  mkdirSync(dirname(file), { recursive: true });
  const head = Object.entries(frontmatter).map(([name, value]) => `${name}: ${JSON.stringify(value)}`);
  writeFileSync(file, ['---', ...head, '---', '', ...lines, ''].join('\n'));
}

/** Markdown's marks taken out: for titles and descriptions. */
function plain(text: string): string {
  return text
    .replaceAll(/\[([^\]]+)\]\([^)]*\)/g, '$1')
    .replaceAll(/[`*]/g, '')
    .replaceAll('\n', ' ')
    .trim();
}
