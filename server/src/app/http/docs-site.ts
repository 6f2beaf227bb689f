import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import express, { type Request, type Response } from 'express';
import { answerWith, fileOf, preferCompressed } from './built-files.ts';
import type { Exchange } from './exchange.ts';

/** Pages, styles and scripts come from here and from nowhere else; the search index is WebAssembly, the theme is set by an inline script. */
const POLICY = [
  "default-src 'self'",
  "script-src 'self' 'unsafe-inline' 'wasm-unsafe-eval'",
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data:",
  "frame-ancestors 'none'",
  "base-uri 'none'",
].join('; ');

/** Where every browser asks for it, whether the site is built or not. */
export const ICON_PATH = '/favicon.ico';
const ICON = fileURLToPath(new URL('./favicon.ico', import.meta.url));
const A_DAY_MS = 86_400_000;

const NOT_BUILT = 'The documentation is not built here: run `npm run docs`, or read the Markdown files under docs/.\n';

/**
 * The docs site under `/docs`, where `npm run docs` has built it. What is not built yet is found when it is: no restart is needed.
 *
 * @param folder the built site; `404.html` in it answers what does not exist
 */
export function createDocsSite(folder: string) {
  const app = express();
  app.disable('x-powered-by');
  app.use((_, res, next) => {
    res.setHeader('content-security-policy', POLICY);
    next();
  });
  app.get(ICON_PATH, (_req, res) => res.sendFile(ICON, { maxAge: A_DAY_MS }));
  app.use(
    '/docs',
    (req, res, next) => {
      preferCompressed(req, res, folder);
      next();
    },
    express.static(folder, {
      redirect: false,
      // Names of assets carry a hash of what is in them.
      setHeaders: (res, path) =>
        res.setHeader('cache-control', path.includes('/_astro/') ? 'public, max-age=31536000, immutable' : 'no-cache'),
    }),
    (req, res, next) => redirectToFolder(req, res, folder) || next(),
  );
  app.use((_, res) => {
    res.status(404);
    if (isBuilt()) res.sendFile(join(folder, '404.html'), { cacheControl: false });
    else res.type('text/plain').send(NOT_BUILT);
  });
  const isBuilt = () => existsSync(join(folder, 'index.html'));

  return {
    isBuilt,
    answer: (exchange: Exchange): Promise<void> => answerWith(app, exchange),
  };
}

/** A page without the slash at its end is led there. The library's own redirect would replace the policy by one that may be framed. */
function redirectToFolder(req: Request, res: Response, folder: string): boolean {
  const [path = '', query] = req.originalUrl.split('?', 2);
  const file = path.endsWith('/') ? undefined : fileOf(`${req.path.replace(/\/$/, '')}/`);
  if (file === undefined || !existsSync(join(folder, file))) return false;
  res.redirect(301, `${path}/${query === undefined ? '' : `?${query}`}`);
  return true;
}
