import type { IncomingMessage, ServerResponse } from 'node:http';
import { pipeline } from 'node:stream/promises';
import { loadMcp, type McpCaller, type Offer } from '../../discovery/index.ts';
import type { Log } from '../../kernel/log.ts';
import { type BodyLimits, readJsonBody } from './body.ts';
import { CORS_HEADERS } from './cors.ts';
import type { Authenticator, Grant } from './credentials.ts';
import type { createInnerCall } from './inner-call.ts';
import { pathnameOf } from './path-table.ts';
import type { PeerAddress } from './peer-address.ts';
import { problemOf, toProblemDocument } from './problem-document.ts';
import { requestIdOf } from './request-id.ts';
import { requireTrustedPage, type TrustedPages } from './trusted-pages.ts';

interface McpApiDeps {
  readonly offer: () => Promise<Offer>;
  readonly innerCall: ReturnType<typeof createInnerCall>;
  readonly authenticator: Authenticator;
  readonly pages: TrustedPages;
  readonly bodyLimits: BodyLimits;
  readonly peerAddress: PeerAddress;
  readonly publicUrl: () => string;
  readonly log: Log;
}

const PATH = '/mcp';
/** JSON-RPC 2.0, section 5.1: a body that is no JSON, and what is refused before a message was read. */
const PARSE_ERROR = -32700;
const SERVER_ERROR = -32000;

/**
 * The MCP server, streamable HTTP without sessions. In order: may this page call at all → who is calling → the message. What a tool does is
 * then asked of the API itself, with the caller's own credential.
 */
export function createMcpApi(deps: McpApiDeps) {
  return {
    handles: ({ url = '', method }: IncomingMessage): boolean => pathnameOf(url) === PATH && method !== 'OPTIONS',

    async serve(req: IncomingMessage, res: ServerResponse): Promise<void> {
      const requestId = requestIdOf(req.headers);
      try {
        requireTrustedPage(req.headers, deps.pages);
        const grant = await deps.authenticator.authenticate(req);
        // The longest arguments that a tool takes are those of the API.
        const { value } = await readJsonBody(req, deps.bodyLimits);
        await answer({ req, res, requestId, grant, message: value }, deps);
      } catch (thrown) {
        refuse(thrown, { res, requestId, hadCredential: hasCredential(req) }, deps);
      }
    },
  };
}

interface Exchange {
  readonly req: IncomingMessage;
  readonly res: ServerResponse;
  readonly requestId: string;
  readonly grant: Grant;
  readonly message: unknown;
}

async function answer({ req, res, requestId, grant, message }: Exchange, deps: McpApiDeps): Promise<void> {
  const hangUp = new AbortController();
  res.once('close', () => hangUp.abort());
  const caller: McpCaller = {
    gateway: deps.innerCall({ headers: req.headers, peerAddress: deps.peerAddress(req) }),
    signal: hangUp.signal,
    isOffered: ({ operation: { scope } }) => scope === undefined || carries(grant, scope),
  };
  const [{ createMcpHandler, createMcpServer }, offer] = await Promise.all([loadMcp(), deps.offer()]);
  const handler = createMcpHandler(() => createMcpServer(offer, caller, deps.log), {
    onerror: (error) => deps.log.info({ requestId, because: error.message }, 'MCP message refused'),
  });
  const headers = Object.entries(req.headers).flatMap(([name, value]): [string, string][] =>
    typeof value === 'string' ? [[name, value]] : [],
  );
  const hasBody = req.method === 'POST';
  const request = new Request(`${deps.publicUrl()}${PATH}`, {
    method: req.method ?? 'POST',
    headers,
    signal: hangUp.signal,
  });
  // The message was read here, under the limits of the API.
  const answered = await handler.fetch(request, hasBody ? { parsedBody: message ?? null } : {});
  res.writeHead(answered.status, {
    ...Object.fromEntries(answered.headers),
    ...CORS_HEADERS,
    'cache-control': 'no-store',
    'x-request-id': requestId,
  });
  if (answered.body === null) res.end();
  else await pipeline(answered.body, res).catch(() => res.destroy());
}

/** Sessions have every scope. */
const carries = ({ principal }: Grant, scope: string): boolean =>
  principal.kind === 'session' || [...principal.scopes].some((one) => one === scope);

const hasCredential = ({ headers }: IncomingMessage): boolean =>
  ['authorization', 'x-api-key', 'x-web-session-token'].some((name) => headers[name] !== undefined);

/**
 * A refusal before any message was read: JSON-RPC's error, with the problem as its data. A 401 says where it is described how to get in
 * (RFC 9728, section 5.1), as MCP asks for.
 */
function refuse(
  thrown: unknown,
  { res, requestId, hadCredential }: { res: ServerResponse; requestId: string; hadCredential: boolean },
  { publicUrl, log }: McpApiDeps,
): void {
  const problem = problemOf(thrown);
  const { code, status, extras } = problem;
  if (status >= 500) log.error({ requestId, code, err: problem.cause }, 'MCP request failed');
  else log.info({ requestId, code, because: extras.because }, 'MCP request refused');
  if (res.headersSent) {
    res.destroy();
    return;
  }
  const { headers, body } = toProblemDocument(problem, { requestId, publicUrl: publicUrl() });
  const { error: _, ...data } = body;
  const message = {
    jsonrpc: '2.0',
    id: null,
    error: { code: code === 'malformed_json' ? PARSE_ERROR : SERVER_ERROR, message: problem.message, data },
  };
  res.writeHead(status, {
    ...headers,
    ...CORS_HEADERS,
    ...(status === 401 && { 'www-authenticate': challenge(publicUrl(), hadCredential) }),
    'content-type': 'application/json',
    'x-request-id': requestId,
  });
  res.end(JSON.stringify(message));
}

/** RFC 6750, section 3: who has sent nothing is told no error. */
const challenge = (publicUrl: string, hadCredential: boolean): string =>
  `Bearer ${hadCredential ? 'error="invalid_token", ' : ''}resource_metadata="${publicUrl}/.well-known/oauth-protected-resource${PATH}"`;
