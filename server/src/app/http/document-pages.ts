import { hash } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import type { DiscoveryDocuments } from '../../discovery/index.ts';
import { holdsTag } from '../../kernel/fresh-answer.ts';
import type { Exchange } from './exchange.ts';
import { unknownPath } from './router.ts';

interface Kept {
  readonly contentType: string;
  readonly body: Buffer;
  /** In quotes. */
  readonly tag: string;
  /** Made once, by the first caller who takes it. */
  zipped: Promise<Buffer> | undefined;
}

/** Prices change at midnight at the soonest, and a release comes with a restart. */
const MAX_AGE_SECONDS = 300;
/** Below this a packet is not saved. */
const WORTH_ZIPPING_BYTES = 1_400;

/** Serves what discovery has drawn: with an `ETag`, compressed where it is taken, each document drawn once an edition. */
export function createDocumentPages(documents: DiscoveryDocuments) {
  const kept = new Map<string, Kept>();
  let keptEdition = '';
  const keptAt = (path: string): Kept | undefined => {
    const edition = documents.edition();
    if (edition !== keptEdition) kept.clear();
    keptEdition = edition;
    const known = kept.get(path);
    if (known) return known;
    const drawn = documents.read(path);
    if (!drawn) return undefined;
    const body = Buffer.from(drawn.body);
    const made: Kept = {
      contentType: drawn.contentType,
      body,
      tag: `"${hash('sha256', body, 'base64url').slice(0, 27)}"`,
      zipped: undefined,
    };
    kept.set(path, made);
    return made;
  };

  return {
    paths: documents.paths,

    async answer({ req, res, pathname }: Exchange): Promise<void> {
      const document = keptAt(pathname);
      if (!document) throw unknownPath();
      const headers = {
        'cache-control': `public, max-age=${MAX_AGE_SECONDS}`,
        // Weak: the compressed form is the same document.
        etag: `W/${document.tag}`,
        vary: 'Accept-Encoding',
      };
      if (holdsTag(req.headers['if-none-match'], document.tag)) {
        res.writeHead(304, headers).end();
        return;
      }
      const isZipped = document.body.length >= WORTH_ZIPPING_BYTES && takesGzip(req.headers);
      document.zipped ??= isZipped ? promisify(gzip)(document.body) : undefined;
      const body = isZipped ? ((await document.zipped) ?? document.body) : document.body;
      res.writeHead(200, {
        ...headers,
        'content-type': document.contentType,
        'content-length': body.length,
        ...(isZipped && { 'content-encoding': 'gzip' }),
      });
      res.end(req.method === 'HEAD' ? undefined : body);
    },
  };
}

const takesGzip = ({ 'accept-encoding': taken = '' }: IncomingHttpHeaders): boolean =>
  /\bgzip\b(?!\s*;\s*q=0(?:\.0*)?(?:\s*,|\s*$))/i.test(String(taken));
