import { hash, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from 'node:http';
import { ERRORS, type ErrorCode } from '@tallygate/contract';
import { escapeHtml } from '../../kernel/html.ts';
import { Problem } from '../../kernel/problem.ts';
import { devicePage } from './device-page.ts';
import { mailLinkPage } from './mail-link-pages.ts';
import { problemOf } from './problem-document.ts';
import { requestIdOf } from './request-id.ts';

interface Answer {
  readonly status: number;
  readonly headers: OutgoingHttpHeaders;
  readonly body: string | Buffer;
}

interface Page {
  readonly contentType: string;
  readonly body: string;
  /** Beyond those that every page has. */
  readonly headers?: Readonly<Record<string, string>>;
}

interface PagesDeps {
  readonly renderMetrics: () => Promise<Page>;
  /** Required as a bearer token of `/metrics` where it is set. */
  readonly metricsToken: string | undefined;
  problemReply(problem: Problem, ids: { readonly requestId: string; readonly clientRequestId: null }): Answer;
}

const HTML = 'text/html; charset=utf-8';
/** Where browsers come back to that were given no address of their own. */
const AFTER_PAYMENT: Readonly<Record<string, string>> = {
  '/billing/done': 'Thank you: this is done.',
  '/billing/canceled': 'Nothing was paid.',
};
const ERROR_PAGE = /^\/docs\/errors\/([a-z_]+)$/;

/**
 * What is no part of the contract: the metrics, the pages that the `type` of every problem points to, those that links in mails
 * lead to, and the one where a program's login is approved.
 */
export function createPages({ renderMetrics, metricsToken, problemReply }: PagesDeps) {
  const tokenDigest = metricsToken === undefined ? undefined : digest(`Bearer ${metricsToken}`);
  const find = (pathname: string, { authorization }: IncomingMessage['headers']): Page | Promise<Page> | undefined => {
    if (pathname === '/metrics') {
      // Digests have one length, so that comparing them takes one time.
      if (tokenDigest && !timingSafeEqual(digest(authorization ?? ''), tokenDigest)) {
        const code = authorization === undefined ? 'missing_credentials' : 'invalid_credentials';
        throw new Problem(code, 'Send the METRICS_TOKEN of this server as Authorization: Bearer ….');
      }
      return renderMetrics();
    }
    const afterPayment = AFTER_PAYMENT[pathname];
    if (afterPayment !== undefined) return { contentType: HTML, body: shortPage(afterPayment) };
    const scripted = mailLinkPage(pathname) ?? devicePage(pathname);
    if (scripted) return { contentType: HTML, ...scripted };
    const code = ERROR_PAGE.exec(pathname)?.[1];
    return code !== undefined && Object.hasOwn(ERRORS, code) ? { contentType: HTML, body: errorPage(code as ErrorCode) } : undefined;
  };

  return {
    handles: ({ method, url = '' }: IncomingMessage): boolean =>
      (method === 'GET' || method === 'HEAD') &&
      (Object.hasOwn(AFTER_PAYMENT, url) ||
        url === '/metrics' ||
        ERROR_PAGE.test(url) ||
        (mailLinkPage(url) ?? devicePage(url)) !== undefined),

    /** @returns false when there is no such page after all */
    async serve(req: IncomingMessage, res: ServerResponse): Promise<boolean> {
      const requestId = requestIdOf(req.headers);
      let page: Page | undefined;
      try {
        page = await find(req.url ?? '', req.headers);
      } catch (thrown) {
        const { status, headers, body } = problemReply(problemOf(thrown), { requestId, clientRequestId: null });
        res.writeHead(status, headers).end(req.method === 'HEAD' ? undefined : body);
        return true;
      }
      if (!page) return false;
      const headers = {
        'content-type': page.contentType,
        'access-control-allow-origin': '*',
        'x-content-type-options': 'nosniff',
        'cache-control': 'no-cache',
        'x-request-id': requestId,
        ...page.headers,
      };
      res.writeHead(200, headers).end(req.method === 'HEAD' ? undefined : page.body);
      return true;
    },
  };
}

const STYLE = `body{font:16px/1.6 system-ui,sans-serif;max-width:42rem;margin:4rem auto;padding:0 1.5rem;color:#1c2024;background:#fff}
code{font-family:ui-monospace,monospace;font-size:.95em}dt{font-weight:600;margin-top:1rem}dd{margin:0}
@media(prefers-color-scheme:dark){body{color:#edeef0;background:#111113}}`;

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

const digest = (text: string): Buffer => hash('sha256', text, 'buffer');
