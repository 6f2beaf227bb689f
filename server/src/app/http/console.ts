import { existsSync } from 'node:fs';
import { join } from 'node:path';
import express from 'express';
import { Problem } from '../../kernel/problem.ts';
import type { AccessControl } from './access-control.ts';
import { answerWith, preferCompressed } from './built-files.ts';
import type { Exchange } from './exchange.ts';
import { mostWelcome } from './most-welcome.ts';
import type { ServedRoute } from './router.ts';
import { cookieOfSession, noCookie } from './session-cookie.ts';

const CONSOLE_PATH = '/console';

/** Nothing comes from another origin, and no script or style but those of the build; pictures of answers are `blob:` or `data:`. */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "connect-src 'self'",
  "font-src 'self'",
  "img-src 'self' data: blob:",
  "media-src 'self' blob:",
  "manifest-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

const NOT_BUILT = 'The console is not built here: run `npm run build`.\n';

interface ConsoleDeps {
  /** The built console. */
  readonly folder: string;
  readonly accessControl: AccessControl;
  readonly isHttps: boolean;
}

/**
 * The console under `/console`: a page that calls the API of this origin. Its session is in a cookie that no script reads. Every address
 * below it is the same page, which shows what the address names.
 */
export function consoleRoutes({ folder, accessControl, isHttps }: ConsoleDeps): ServedRoute[] {
  const app = createApp(folder);
  const page = (exchange: Exchange) => answerWith(app, exchange);
  const set = (exchange: Exchange, cookie: string): void => void exchange.res.writeHead(204, { 'set-cookie': cookie }).end();
  return [
    { method: 'GET', path: CONSOLE_PATH, kind: 'site', answer: page },
    { method: 'GET', path: `${CONSOLE_PATH}/*`, kind: 'site', answer: page },
    {
      method: 'POST',
      path: `${CONSOLE_PATH}/session`,
      kind: 'site',
      // The one moment at which the token passes through the page.
      async answer(exchange) {
        await accessControl.authenticate(exchange);
        set(exchange, cookieOfSession(sessionTokenOf(exchange), isHttps));
      },
    },
    { method: 'DELETE', path: `${CONSOLE_PATH}/session`, kind: 'site', answer: (exchange) => set(exchange, noCookie(isHttps)) },
  ];
}

/** @throws Problem `session_required` for API keys, and for sessions that came in another header */
function sessionTokenOf({ req, grant }: Exchange): string {
  const token = /^Bearer +(\S+)$/i.exec(req.headers.authorization ?? '')?.[1];
  if (grant?.principal.kind === 'session' && token !== undefined) return token;
  throw new Problem('session_required', 'The console keeps sessions: log in, and send the session token as Authorization: Bearer ….');
}

/** `/` leads browsers to the console; programs get what the contract says. */
export const withConsoleAtRoot = (routes: readonly ServedRoute[]): ServedRoute[] =>
  routes.map((route) =>
    route.path === '/' ? { ...route, answer: (exchange) => leadBrowsers(exchange) || route.answer(exchange) } : route,
  );

function leadBrowsers({ req, res }: Exchange): boolean {
  res.setHeader('vary', 'accept');
  if (mostWelcome(req.headers.accept, ['application/json', 'text/html']) !== 'text/html') return false;
  res.writeHead(302, { location: CONSOLE_PATH }).end();
  return true;
}

function createApp(folder: string) {
  const app = express();
  app.disable('x-powered-by');
  app.use((_, res, next) => {
    res.setHeader('content-security-policy', POLICY);
    next();
  });
  app.use(
    `${CONSOLE_PATH}/assets`,
    (req, res, next) => {
      preferCompressed(req, res, join(folder, 'assets'));
      next();
    },
    // Names of assets carry a hash of what is in them.
    express.static(join(folder, 'assets'), { immutable: true, maxAge: '1y', index: false, redirect: false, fallthrough: true }),
    (_req, res) => void res.status(404).type('text/plain').send('There is no such file.\n'),
  );
  app.use((_req, res) => {
    if (existsSync(join(folder, 'index.html'))) res.sendFile(join(folder, 'index.html'), { headers: { 'cache-control': 'no-cache' } });
    else res.status(404).type('text/plain').send(NOT_BUILT);
  });
  return app;
}
