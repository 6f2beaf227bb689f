import { OPERATIONS, pageOf, TAGS } from '../src/reference/document.ts';
import { inline } from '../src/reference/inline.ts';
import { type Page, writePage } from './page.ts';

/** Pages under one heading. */
export interface Chapter {
  readonly label: string;
  readonly pages: readonly Page[];
}

/** All that is written to be read, by chapter: where the header's "Guides" leads. */
export function guidesOverview(chapters: readonly Chapter[]): Page {
  writePage(
    'guides/index.md',
    { title: 'Guides', description: 'Everything there is to read, by what you have in mind.', tableOfContents: false },
    chapters.flatMap(({ label, pages }) => ['', `## ${label}`, '', ...tilesOf(pages)]),
  );
  return { name: 'index', title: 'All guides', slug: 'guides', description: '' };
}

function tilesOf(pages: readonly Page[]): string[] {
  return [
    '<ul class="tiles">',
    ...pages.map(
      ({ title, slug, description }) =>
        `<li><a href="/docs/${slug}/">${inline(title)}</a><p data-pagefind-ignore>${inline(description)}</p></li>`,
    ),
    '</ul>',
  ];
}

/** What holds for every operation, and all of them by group: where the header's "API reference" leads. */
export function referenceOverview(): Page {
  writePage(
    'reference/index.md',
    { title: 'API reference', description: 'What holds for every call, and each operation.', tableOfContents: false },
    [
      'One HTTP API: models are called in the shapes of OpenAI’s, accounts, keys, budgets and receipts in plain JSON. [`openapi.json`](/openapi.json) has all of it for programs.',
      '',
      '| | |',
      '|---|---|',
      '| Address | this gateway’s, here `$TALLYGATE_BASE_URL`; OpenAI clients take it with `/v1` behind it |',
      '| Money | decimal strings in USD, in fields that end in `_usd` |',
      '| Times | RFC 3339, UTC; in the shapes of OpenAI’s, Unix seconds |',
      '| Errors | [problem documents](/docs/errors/) with a stable `code`, and with OpenAI’s `error` |',
      '| Authentication | `Authorization: Bearer` with an API key or a session token: [authentication](/docs/guides/authentication/) |',
      '| Idempotency | an `Idempotency-Key` with a request that creates or charges: [idempotency](/docs/guides/idempotency/) |',
      '| Lists | `limit` and `cursor`; `data`, `has_more` and `next_cursor`: [pagination](/docs/guides/pagination/) |',
      '| Request IDs | `X-Request-Id` on every answer, `X-Receipt-Id` on what was charged: [request IDs](/docs/guides/request-ids/) |',
      ...TAGS.flatMap(({ name, description }) => ['', `## ${name}`, '', description, '', ...operationsOf(name)]),
    ],
  );
  return { name: 'index', title: 'Overview', slug: 'reference', description: '' };
}

function operationsOf(tag: string): string[] {
  return [
    '<ul class="operations" data-pagefind-ignore>',
    ...OPERATIONS.filter((operation) => operation.tag === tag).map(
      (operation) =>
        `<li><span class="verb ${operation.method.toLowerCase()}">${operation.method}</span><a href="/docs/${pageOf(operation)}/">${inline(operation.summary)}</a><code>${operation.path}</code></li>`,
    ),
    '</ul>',
  ];
}
