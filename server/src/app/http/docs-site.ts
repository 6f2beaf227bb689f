import { existsSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { join } from 'node:path';
import express from 'express';

/** Pages, styles and scripts come from here and from nowhere else; the search index is WebAssembly, the theme is set by an inline script. */
const POLICY = [
  "default-src 'self'",
  "script-src 'self' 'unsafe-inline' 'wasm-unsafe-eval'",
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data:",
  "frame-ancestors 'none'",
  "base-uri 'none'",
].join('; ');

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
    res.setHeader('x-content-type-options', 'nosniff');
    next();
  });
  app.use(
    '/docs',
    express.static(folder, {
      // Names of assets carry a hash of what is in them.
      setHeaders: (res, path) =>
        res.setHeader('cache-control', path.includes('/_astro/') ? 'public, max-age=31536000, immutable' : 'no-cache'),
    }),
  );
  app.use((_, res) => {
    res.status(404);
    if (isBuilt()) res.sendFile(join(folder, '404.html'), { cacheControl: false });
    else res.type('text/plain').send(NOT_BUILT);
  });
  const isBuilt = () => existsSync(join(folder, 'index.html'));

  return {
    /** The pages of errors are there without a site, too. */
    handles: ({ method, url = '' }: IncomingMessage): boolean =>
      (method === 'GET' || method === 'HEAD') && /^\/docs(?:[/?]|$)/.test(url) && (isBuilt() || !url.startsWith('/docs/errors/')),
    serve: (req: IncomingMessage, res: ServerResponse): void => app(req, res),
  };
}
