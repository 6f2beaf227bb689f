import type { IncomingMessage } from 'node:http';
import { pipeline } from 'node:stream/promises';
import { type ErrorCode, SCOPES } from '@tallygate/contract';
import { LargeParts, loadMcp, type McpCaller, type Offer } from '../../discovery/index.ts';
import type { RefusedRequests } from '../../inference/calls/index.ts';
import type { Clock } from '../../kernel/clock.ts';
import { ACCOUNT_JSON } from '../../kernel/json-scan.ts';
import type { Log } from '../../kernel/log.ts';
import { Problem } from '../../kernel/problem.ts';
import type { Answer } from '../idempotency-seal.ts';
import type { AccessControl } from './access-control.ts';
import { type BodyLimits, readJsonBody } from './body.ts';
import type { BodyMemory } from './body-memory.ts';
import { whenClosed } from './closed.ts';
import { type Grant, modelCallerOf, refusalOf } from './credentials.ts';
import { type Exchange, grantOf } from './exchange.ts';
import type { createInnerCall } from './inner-call.ts';
import type { PeerAddress } from './peer-address.ts';
import { shownIdOf } from './request-ids.ts';
import type { ServedRoute } from './router.ts';
import { requireTrustedPage, type TrustedPages } from './trusted-pages.ts';

interface McpApiDeps {
  readonly offer: () => Promise<Offer>;
  readonly innerCall: ReturnType<typeof createInnerCall>;
  readonly accessControl: AccessControl;
  readonly pages: TrustedPages;
  readonly refusedRequests: RefusedRequests;
  readonly clock: Clock;
  readonly bodyLimits: BodyLimits;
  readonly bodyMemory: BodyMemory;
  readonly peerAddress: PeerAddress;
  readonly publicUrl: () => string;
  readonly log: Log;
}

const PATH = '/mcp';
/** JSON-RPC 2.0, section 5.1: what is refused before a message was read. */
const SERVER_ERROR = -32000;
/** A body that is no JSON, and, as MCP's own servers have it, an unknown session. */
const CODES: Readonly<Partial<Record<ErrorCode, number>>> = { malformed_json: -32700, not_found: -32001 };

/**
 * The MCP server, streamable HTTP without sessions. In order: may this page call at all → who is calling → the message. What a tool does is
 * then asked of the API itself, with the caller's own credential.
 */
export const mcpRoutes = (deps: McpApiDeps): ServedRoute[] =>
  (['GET', 'POST', 'DELETE'] as const).map((method) => ({
    ...{
      method,
      path: PATH,
      kind: 'api',
      countsRefusals: true,
      refusal: { reply: (problem, exchange, document) => asJsonRpc(problem, exchange, document, deps) },
    },
    async answer(exchange) {
      const { req } = exchange;
      requireTrustedPage(req.headers, deps.pages);
      const grant = modelCallerOf(await deps.accessControl.authenticate(exchange));
      deps.refusedRequests.requireRoom(grant);
      // There are no sessions: one that a client names was another server's. At a 404 it begins anew (MCP, Session Management).
      if (req.headers['mcp-session-id'] !== undefined) throw new Problem('not_found', 'There is no such MCP session: begin a new one.');
      // The longest arguments that a tool takes are those of the API.
      const reservation = deps.bodyMemory.reservationOf(grant.principal.accountId);
      const { value } = await readJsonBody(req, deps.bodyLimits, ACCOUNT_JSON, reservation)
        .catch(async (refusal: unknown) => {
          await deps.refusedRequests.count(grant);
          throw refusal;
        })
        // What the tool asks takes its own.
        .finally(() => reservation.release());
      await answerTo(value, exchange, deps);
    },
  }));

async function answerTo(message: unknown, exchange: Exchange, deps: McpApiDeps): Promise<void> {
  const { req, res } = exchange;
  const grant = modelCallerOf(grantOf(exchange));
  const hangUp = new AbortController();
  whenClosed(res, () => hangUp.abort());
  const parts = new LargeParts();
  const caller: McpCaller = {
    parts,
    gateway: deps.innerCall({ headers: req.headers, peerAddress: deps.peerAddress(req) }),
    signal: hangUp.signal,
    isOffered: ({ operation: { scope } }) => isOpenTo(grant, scope),
  };
  const [{ createMcpHandler, createMcpServer }, offer] = await Promise.all([loadMcp(), deps.offer()]);
  const handler = createMcpHandler(() => createMcpServer(offer, caller, deps.log), {
    onerror: (error) => deps.log.info({ requestId: shownIdOf(exchange), because: error.message }, 'MCP message refused'),
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
  res.writeHead(answered.status, { ...Object.fromEntries(answered.headers), 'cache-control': 'no-store' });
  if (answered.body === null) res.end();
  else await pipeline(parts.written(answered.body), res).catch(() => res.destroy());
}

/** Judged as on HTTP: by scope, mode and role in the account. */
export function isOpenTo({ principal }: Pick<Grant, 'principal'>, scope: string | undefined): boolean {
  const known = SCOPES.find((one) => one === scope);
  return refusalOf(known ? { scope: known } : {}, principal) === undefined;
}

const hasCredential = ({ headers }: IncomingMessage): boolean =>
  ['authorization', 'x-api-key', 'api-key', 'x-web-session-token'].some((name) => headers[name] !== undefined);

/**
 * A refusal before any message was read: JSON-RPC's error, with the problem as its data. A 401 says where it is described how to get in
 * (RFC 9728, section 5.1), as MCP asks for.
 */
function asJsonRpc(problem: Problem, { req }: Exchange, document: Answer, { publicUrl }: McpApiDeps): Answer {
  const { status, headers } = document;
  const { error: _, ...data } = JSON.parse(document.body.toString());
  const code = CODES[problem.code] ?? SERVER_ERROR;
  return {
    status,
    headers: {
      ...headers,
      ...(status === 401 && { 'www-authenticate': challenge(publicUrl(), hasCredential(req)) }),
      'content-type': 'application/json',
    },
    body: Buffer.from(JSON.stringify({ jsonrpc: '2.0', id: null, error: { code, message: problem.message, data } })),
  };
}

/** RFC 6750, section 3: without credentials there is no error code. */
const challenge = (publicUrl: string, hadCredential: boolean): string =>
  `Bearer ${hadCredential ? 'error="invalid_token", ' : ''}resource_metadata="${publicUrl}/.well-known/oauth-protected-resource${PATH}"`;
