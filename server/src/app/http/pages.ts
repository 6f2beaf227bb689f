import type { IncomingMessage } from 'node:http';
import { ERRORS, type ErrorCode } from '@tallygate/contract';
import { escapeHtml } from '../../kernel/html.ts';
import { pagePolicy } from '../../kernel/page-policy.ts';
import { DEVICE_PAGE } from './device-page.ts';
import { type createDocsSite, ICON_PATH } from './docs-site.ts';
import type { createDocumentPages } from './document-pages.ts';
import type { Exchange } from './exchange.ts';
import { MAIL_LINK_PAGES } from './mail-link-pages.ts';
import { type ServedRoute, unknownPath } from './router.ts';

interface Page {
  readonly contentType: string;
  readonly body: string;
  /** Beyond those that every page has. */
  readonly headers?: Readonly<Record<string, string>>;
}

interface PagesDeps {
  readonly renderMetrics: () => Promise<Page>;
  /** @throws Problem where the metrics are not for this caller */
  readonly requireMetricsReader: (req: IncomingMessage) => void;
  readonly documents: ReturnType<typeof createDocumentPages>;
  readonly docs: ReturnType<typeof createDocsSite>;
}

const HTML = 'text/html; charset=utf-8';
/** The default return address of browsers. */
const AFTER_PAYMENT: Readonly<Record<string, string>> = {
  '/billing/done': 'Thank you: this is done.',
  '/billing/canceled': 'Nothing was paid.',
};
/** Guides as text. */
const GUIDE = '/docs/:section(^[a-z]+$)/:page(^[a-z0-9-]+).md';
const ERROR_PAGE = /^\/docs\/errors\/([a-z_]+)$/;

/**
 * What is no part of the contract: the metrics, the documentation, the pages that the `type` of every problem points to, those that links in
 * mails lead to, and the one where a program's login is approved.
 */
export function pageRoutes({ renderMetrics, requireMetricsReader, documents, docs }: PagesDeps): ServedRoute[] {
  const route = (path: string, answer: ServedRoute['answer']): ServedRoute => ({ method: 'GET', path, kind: 'site', answer });
  const pageAt = (path: string, page: Page) => route(path, (exchange) => send(exchange, page));
  const metrics = async (exchange: Exchange): Promise<void> => {
    requireMetricsReader(exchange.req);
    send(exchange, await renderMetrics());
  };
  /** The site where it is built, and the pages of errors without it, too. */
  const documentation = async (exchange: Exchange): Promise<void> => {
    const { pathname } = exchange;
    const code = ERROR_PAGE.exec(pathname)?.[1];
    if (docs.isBuilt() || !pathname.startsWith('/docs/errors/')) await docs.answer(exchange);
    else if (isErrorCode(code)) send(exchange, { ...TEXT_PAGE, body: errorPage(code) });
    else throw unknownPath();
  };
  return [
    ...[...documents.paths, GUIDE].map((path): ServedRoute => ({ method: 'GET', path, kind: 'api', answer: documents.answer })),
    route('/metrics', metrics),
    route(ICON_PATH, docs.answer),
    route('/docs', documentation),
    route('/docs/*', documentation),
    pageAt('/device', { contentType: HTML, ...DEVICE_PAGE }),
    ...Object.entries(MAIL_LINK_PAGES).map(([name, page]) => pageAt(`/${name}`, { contentType: HTML, ...page })),
    ...Object.entries(AFTER_PAYMENT).map(([path, sentence]) => pageAt(path, { ...TEXT_PAGE, body: shortPage(sentence) })),
  ];
}

const isErrorCode = (code: string | undefined): code is ErrorCode => code !== undefined && Object.hasOwn(ERRORS, code);

function send({ req, res }: Exchange, { contentType, headers, body }: Page): void {
  res.writeHead(200, { 'content-type': contentType, ...headers }).end(req.method === 'HEAD' ? undefined : body);
}

const STYLE = `body{font:16px/1.6 system-ui,sans-serif;max-width:42rem;margin:4rem auto;padding:0 1.5rem;color:#1c2024;background:#fff}
code{font-family:ui-monospace,monospace;font-size:.95em}dt{font-weight:600;margin-top:1rem}dd{margin:0}
@media(prefers-color-scheme:dark){body{color:#edeef0;background:#111113}}`;

const TEXT_PAGE = {
  contentType: HTML,
  headers: { 'cache-control': 'no-cache', 'content-security-policy': pagePolicy({ style: STYLE }) },
};

const shortPage = (sentence: string): string => `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>Tallygate</title><style>${STYLE}</style></head>
<body><main><h1>${sentence}</h1><p>You can close this page.</p></main></body></html>
`;

function errorPage(code: ErrorCode): string {
  const { title, status, help, type, retryable } = ERRORS[code];
  const text = (value: string) => escapeHtml(value).replaceAll(/`([^`]+)`/g, '<code>$1</code>');
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>${code} · Tallygate errors</title><style>${STYLE}</style></head>
<body><main><p><code>${code}</code></p><h1>${text(title)}</h1><p>${text(help)}</p>
<dl><dt>HTTP status</dt><dd>${status}</dd><dt>OpenAI error type</dt><dd><code>${type}</code></dd>
<dt>Repeat the same request?</dt><dd>${retryable ? 'Yes, later: it can succeed unchanged.' : 'No: it has to be changed first.'}</dd></dl></main></body></html>
`;
}
