import { existsSync } from 'node:fs';
import { extname, join, normalize } from 'node:path';
import type { Express, Request, Response } from 'express';
import { whenClosed } from './closed.ts';
import type { Exchange } from './exchange.ts';

/** How a build has compressed its texts beforehand, the best first, with the endings of their files. */
const CODINGS = { br: '.br', gzip: '.gz' } as const;

/** Leads a request for a text to its compressed form, where there is one and the browser takes it; the type stays that of the text. */
export function preferCompressed(req: Request, res: Response, folder: string): void {
  const path = fileOf(req.path);
  if (path === undefined) return;
  const made = Object.entries(CODINGS).filter(([, ending]) => existsSync(join(folder, `${path}${ending}`)));
  if (made.length === 0) return;
  res.vary('accept-encoding');
  const [coding, ending] = made.find(([name]) => req.acceptsEncodings(name) === name) ?? [];
  if (coding === undefined) return;
  res.setHeader('content-encoding', coding);
  res.type(extname(path));
  req.url = `${path}${ending}`;
}

/** The file of an address below the folder of a build; undefined for what no file of a build can have. */
export function fileOf(path: string): string | undefined {
  const file = path.endsWith('/') ? `${path}index.html` : path;
  return /^[\w./-]+$/.test(file) && normalize(file) === file ? file : undefined;
}

/** Answers by an app of Express. */
export const answerWith = (app: Express, { req, res }: Exchange): Promise<void> =>
  new Promise((resolve, reject) => {
    whenClosed(res, resolve);
    app(req as Request, res as Response, (failure: unknown) => reject(failure ?? new Error('There is no file and no 404 page')));
  });
