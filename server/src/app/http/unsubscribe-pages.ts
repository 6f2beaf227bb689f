import { hash } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Unsubscribing } from '../../emails/index.ts';
import type { Log } from '../../kernel/log.ts';
import { pathnameOf } from './path-table.ts';
import { requestIdOf } from './request-id.ts';

const STYLE = `body{font:16px/1.6 system-ui,sans-serif;max-width:26rem;margin:12vh auto;padding:0 1.5rem;color:#1c2024;background:#fff}
button{font:inherit;font-weight:600;margin-top:1.25rem;padding:.65rem 1.2rem;border:0;border-radius:8px;background:#1f6feb;color:#fff}
@media(prefers-color-scheme:dark){body{color:#edeef0;background:#111113}}`;

const HEADERS: Readonly<Record<string, string>> = {
  'content-type': 'text/html; charset=utf-8',
  'cache-control': 'no-store',
  'content-security-policy': `default-src 'none'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'; style-src 'sha256-${hash('sha256', STYLE, 'base64')}'`,
  // The address of the page is what unsubscribes.
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  'x-robots-tag': 'noindex',
};

interface UnsubscribePagesDeps {
  readonly unsubscribing: Unsubscribing;
  readonly log: Log;
}

/**
 * Where the unsubscribe link of a mail leads. GET asks, since mail scanners follow links; POST does it, from the page's button or from the
 * mail program itself (RFC 8058: one click, no login, no question).
 */
export function createUnsubscribePages({ unsubscribing, log }: UnsubscribePagesDeps) {
  return {
    handles: ({ method = '', url = '' }: IncomingMessage): boolean =>
      ['GET', 'HEAD', 'POST'].includes(method) && pathnameOf(url) === '/unsubscribe',

    async serve(req: IncomingMessage, res: ServerResponse): Promise<void> {
      // What a form or a mail program says in the body is known from the method.
      req.resume();
      const token = new URL(req.url ?? '', 'http://gateway.invalid').searchParams.get('token') ?? '';
      const send = (status: number, page: string) =>
        res.writeHead(status, { ...HEADERS, 'x-request-id': requestIdOf(req.headers) }).end(req.method === 'HEAD' ? undefined : page);
      try {
        const isPost = req.method === 'POST';
        if (await (isPost ? unsubscribing.unsubscribe(token) : unsubscribing.recipientOf(token))) send(200, isPost ? DONE : ASK);
        else send(404, UNKNOWN);
      } catch (failure) {
        log.error({ err: failure }, 'somebody could not be unsubscribed');
        send(503, page('Please try again', '<p>That did not work just now. Open the link again in a moment.</p>'));
      }
    },
  };
}

const page = (title: string, content: string): string => `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>${title}</title><style>${STYLE}</style></head>
<body><main><h1>${title}</h1>${content}</main></body></html>
`;

/** The form goes to its own address, token included. */
const ASK = page(
  'Unsubscribe?',
  '<p>No more mails of this kind will come to your address.</p><form method="post"><button>Unsubscribe</button></form>',
);
const DONE = page('You are unsubscribed', '<p>No more mails of this kind will come. You can close this page.</p>');
const UNKNOWN = page('This link is not valid', '<p>Open the link as it stands in the mail, all of it.</p>');
