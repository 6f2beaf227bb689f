import { OPERATIONS, pageOf } from '../src/reference/document.ts';
import type { Page } from './page.ts';
import type { Additions } from './texts.ts';

const PROBLEM = 'application/problem+json';

/** Beside what an error means: which operations answer with it. A page as short as these has no table of contents. */
export function errorPage(code: string): Additions {
  const operations = OPERATIONS.filter(({ responses }) =>
    Object.values(responses).some(({ content }) => Object.hasOwn(content?.[PROBLEM]?.examples ?? {}, code)),
  );
  return {
    frontmatter: { tableOfContents: false, ...(code !== 'index' && { sidebar: { label: code } }) },
    lines: operations.length > 0 ? answeredBy(operations) : [],
  };
}

function answeredBy(operations: typeof OPERATIONS): string[] {
  const links = operations.map(
    (operation) => `- [${operation.summary}](/docs/${pageOf(operation)}/) \`${operation.method} ${operation.path}\``,
  );
  const count = operations.length === 1 ? 'One operation' : `${operations.length} operations`;
  // Every operation's name and path is in many of these lists: in the index they would be found before the operation itself.
  return [
    '',
    '## Who answers with it',
    '',
    '<details data-pagefind-ignore>',
    `<summary>${count}</summary>`,
    '',
    ...links,
    '',
    '</details>',
  ];
}

/** The navigation lists errors by their codes, which is what a reader has. */
export function errorLinks(pages: readonly Page[]) {
  return [...pages]
    .sort((a, b) => Number(b.name === 'index') - Number(a.name === 'index') || a.name.localeCompare(b.name))
    .map(({ name, slug }) => (name === 'index' ? { label: 'All errors', slug } : { label: name, slug, attrs: { class: 'code' } }));
}
