import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { AppRoute } from '@ts-rest/core';
import type { Log } from '../../kernel/log.ts';
import { metadataOf } from './endpoint.ts';
import type { Exchange } from './exchange.ts';
import type { ServedRoute } from './router.ts';

/** A route of the contract whose bytes pass as they come, straight on node:http: Express would hold them in memory. */
export const transferRoute = (route: AppRoute, answer: (exchange: Exchange) => unknown): ServedRoute => ({
  ...{ method: route.method, path: route.path, kind: 'api', answer },
  operation: { metadata: metadataOf(route), query: route.query },
});

interface Download {
  readonly req: IncomingMessage;
  readonly res: ServerResponse;
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** Opens the bytes; they are read to their end or destroyed. */
  read(): Promise<Readable>;
}

/** @param idleTimeoutMs how long a reader may do nothing at all */
export async function sendBytes(
  { req, res, status, headers, read }: Download,
  { idleTimeoutMs, log }: { idleTimeoutMs: number; log: Log },
) {
  if (req.method === 'HEAD') {
    res.writeHead(status, headers).end();
    return;
  }
  const content = await read();
  res.setTimeout(idleTimeoutMs, () => res.destroy());
  res.writeHead(status, headers);
  try {
    await pipeline(content, res);
  } catch (error) {
    // Half an answer is out: only cutting the connection still says that it failed. Who hung up is no failure of ours.
    res.destroy();
    if (!(error instanceof Error && 'code' in error && error.code === 'ERR_STREAM_PREMATURE_CLOSE'))
      log.error({ err: error, path: req.url }, 'stored bytes could not be sent to their end');
  }
}
