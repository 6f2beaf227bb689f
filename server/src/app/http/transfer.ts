import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { RouteMetadata } from '@tallygate/contract';
import type { Principal } from '../../identity/index.ts';
import type { Log } from '../../kernel/log.ts';
import { Problem } from '../../kernel/problem.ts';
import { CORS_HEADERS } from './cors.ts';
import { type Authenticator, authorise, type Grant } from './credentials.ts';
import { discardRest } from './multipart/incoming.ts';
import { problemOf, toProblemDocument } from './problem-document.ts';

/** Of every answer that bytes pass in, one way or the other. */
export const TRANSFER_HEADERS: Readonly<Record<string, string>> = {
  ...CORS_HEADERS,
  'cache-control': 'no-store',
  // What a client has stored must not become a page of this origin.
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'; sandbox",
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
};

/** @throws Problem as the account API does */
export async function admitTransfer(req: IncomingMessage, authenticator: Authenticator, metadata: RouteMetadata): Promise<Principal> {
  const grant: Grant = await authenticator.authenticate(req);
  // No signature is verified here, so a stolen key that is worth nothing unsigned must not open what is stored either.
  if ('limits' in grant && grant.limits?.signing?.isRequired)
    throw new Problem('signature_required', 'This API key only signs inference requests: use another key or a session.');
  authorise(metadata, grant.principal);
  return grant.principal;
}

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

interface Refused {
  readonly req: IncomingMessage;
  readonly res: ServerResponse;
  readonly requestId: string;
}

/** Answers with the problem, or cuts the connection where an answer has begun. */
export function refuseTransfer(
  thrown: unknown,
  { req, res, requestId }: Refused,
  { publicUrl, log }: { publicUrl: () => string; log: Log },
): void {
  const problem = problemOf(thrown);
  const { code, status: known, extras, cause } = problem;
  const entry = { requestId, code, because: extras.because };
  // The cause of a refusal may quote the request: it is logged for our own failures only.
  if (known >= 500) log.error({ ...entry, err: cause }, 'request failed');
  else log.info(entry, 'request refused');
  discardRest(req);
  if (res.headersSent) {
    res.destroy();
    return;
  }
  const { status, headers, body } = toProblemDocument(problem, { requestId, publicUrl: publicUrl() });
  res.writeHead(status, headers).end(req.method === 'HEAD' ? undefined : JSON.stringify(body));
}
