import type { IncomingMessage } from 'node:http';
import type { RouteMetadata } from '@tallygate/contract';
import type { KeyGrant } from '../../access/keys/index.ts';
import type { SessionGrant } from '../../http/index.ts';
import {
  type Caller,
  type ClientSecrets,
  type InferenceDeps,
  type OpenedSession,
  openSession,
  parseInferenceHeaders,
  REALTIME,
  type RealtimeSessions,
  type RefusedRequests,
  refuseLoop,
  requireEndpoint,
  requirePlanFor,
  type SharedLane,
} from '../../inference/calls/index.ts';
import type { MemoryReservation } from '../../kernel/memory-reservation.ts';
import { Problem } from '../../kernel/problem.ts';
import { handshakeAnswer } from '../../kernel/web-socket/handshake.ts';
import { WebSocketConnection } from '../../kernel/web-socket/web-socket.ts';
import type { AccessControl } from './access-control.ts';
import type { BodyMemory } from './body-memory.ts';
import { authorise, modelCallerOf } from './credentials.ts';
import { type Exchange, grantOf } from './exchange.ts';
import { shownIdOf } from './request-ids.ts';
import type { ServedOperation, ServedRoute } from './router.ts';
import { queryParamsOf } from './target.ts';
import { type Upgrade, upgradeOf } from './upgrades.ts';

interface RealtimeApiDeps {
  readonly accessControl: AccessControl;
  readonly inference: InferenceDeps & { readonly sessions: RealtimeSessions };
  readonly clientSecrets: Pick<ClientSecrets, 'grantOf'>;
  readonly refusedRequests: RefusedRequests;
  readonly sharedLane: SharedLane | undefined;
  readonly bodyMemory: BodyMemory;
}

/** OpenAI takes 15 MB of sound in an event. */
const MOST_EVENT_BYTES = 16 * 1024 * 1024;

const METADATA = { auth: 'bearer', scope: 'inference', tag: 'Realtime' } as const satisfies Partial<RouteMetadata>;

/** `GET /v1/realtime`: everything that is refused is refused before the connection becomes a WebSocket. */
export function realtimeRoutes(deps: RealtimeApiDeps): ServedRoute[] {
  const operation: ServedOperation = {
    ...{ metadata: METADATA as RouteMetadata, query: 'any', takesClientSecrets: true },
    requires: (grant) => requireEndpoint(modelCallerOf(grant), REALTIME),
  };
  return [
    {
      ...{ method: 'GET', path: REALTIME, kind: 'api', operation },
      answer: (exchange) => answer({ exchange, operation }, deps),
    },
  ];
}

const PROTOCOL = 'realtime';

interface Opening {
  readonly exchange: Exchange;
  readonly operation: ServedOperation;
}

async function answer(opening: Opening, deps: RealtimeApiDeps): Promise<void> {
  const { exchange } = opening;
  const upgrade = upgradeOf(exchange.req);
  if (!upgrade || !isHandshake(exchange.req))
    throw new Problem('upgrade_required', HOW, { headers: { upgrade: 'websocket', connection: 'Upgrade' } });
  const grant = keyOf(exchange);
  deps.refusedRequests.requireRoom(grant);
  const leave = deps.inference.sessions.enter(grant.principal.keyId);
  const leaveLane = deps.sharedLane?.enter();
  try {
    await serve(opening, upgrade, deps);
  } finally {
    leaveLane?.();
    leave();
  }
}

async function serve(opening: Opening, upgrade: Upgrade, deps: RealtimeApiDeps): Promise<void> {
  const opened = await open(opening, upgrade, deps);
  const { session } = opened;
  deps.inference.sessions.add(session);
  try {
    const client = agree(opening.exchange, upgrade, opened, newReservationOf(opening.exchange, deps));
    await session.serve(client);
  } catch (thrown) {
    session.abandon();
    throw thrown;
  } finally {
    deps.inference.sessions.delete(session);
  }
}

async function open({ exchange, operation }: Opening, { socket }: Upgrade, deps: RealtimeApiDeps): Promise<OpenedSession> {
  const { req, requestId, clientRequestId, startedAt, startedTick } = exchange;
  const secret = keyOf(exchange).clientSecret;
  // What a secret was made for holds, whatever is sent beside it.
  const headers = parseInferenceHeaders({ ...req.headers, ...secret?.headers });
  refuseLoop(headers.via, deps.inference.gatewayId);
  const grant = keyOf(exchange);
  requirePlanFor(grant, headers, deps.inference.plans);
  const gone = new AbortController();
  const onClose = () => gone.abort();
  socket.once('close', onClose);
  if (socket.destroyed) gone.abort();
  try {
    return await openSession(
      {
        ...{ requestId, clientRequestId, startedAt, startedTick, grant, headers, signal: gone.signal },
        model: modelOf(req, secret?.session['model']),
        given: secret && withoutModel(secret.session),
        newReservation: newReservationOf(exchange, deps),
        renew: async (): Promise<Caller> => {
          if (secret) return renewed(await deps.clientSecrets.grantOf(secret), operation);
          await deps.accessControl.recheck(exchange, operation);
          return keyOf(exchange);
        },
      },
      deps.inference,
    );
  } finally {
    socket.off('close', onClose);
  }
}

/** The handshake, with the headers of every answer. */
function agree(
  exchange: Exchange,
  { socket, head, take }: Upgrade,
  { headers }: OpenedSession,
  newReservation: () => MemoryReservation,
): WebSocketConnection {
  take();
  const asked = exchange.req.headers['sec-websocket-protocol'] ?? '';
  const agreement = {
    key: exchange.req.headers['sec-websocket-key'] ?? '',
    protocol: asked.split(',').some((name) => name.trim() === PROTOCOL) ? PROTOCOL : undefined,
    headers: { 'x-request-id': shownIdOf(exchange), ...headers },
  };
  socket.write(handshakeAnswer(agreement));
  return new WebSocketConnection(socket, { role: 'server', mostBytes: MOST_EVENT_BYTES, head, newReservation });
}

/** Large events of both sides are the account's. */
function newReservationOf(exchange: Exchange, { bodyMemory }: Pick<RealtimeApiDeps, 'bodyMemory'>): () => MemoryReservation {
  const { accountId } = keyOf(exchange).principal;
  return () => bodyMemory.reservationOf(accountId);
}

const HOW = 'This is a WebSocket: connect to it with one, of version 13.';

const isHandshake = ({ headers }: IncomingMessage): boolean =>
  headers['sec-websocket-version'] === '13' && /^[+/0-9A-Za-z]{22}==$/.test(headers['sec-websocket-key'] ?? '');

/** @param only of a client secret */
function modelOf(req: IncomingMessage, only: unknown): string {
  const model = queryParamsOf(req.url ?? '').get('model') ?? only;
  if (only !== undefined && model !== only)
    throw new Problem('model_not_allowed', `This client secret opens sessions of ${String(only)} alone.`, { param: 'model' });
  if (typeof model === 'string' && model !== '') return model;
  throw new Problem('validation_failed', 'Name the model in the query: `?model=gpt-realtime`.', {
    param: 'model',
    errors: [{ loc: ['query', 'model'], msg: 'is required', type: 'missing' }],
  });
}

const withoutModel = ({ model: _, type: __, ...session }: Readonly<Record<string, unknown>>) => session;

function renewed(grant: KeyGrant, { metadata, requires }: ServedOperation): Caller {
  authorise(metadata, grant.principal);
  requires?.(grant);
  return grant;
}

/** A cookie is sent by pages of any origin, and a WebSocket asks nobody whether they may. */
function keyOf(exchange: Exchange): KeyGrant {
  const grant = modelCallerOf(grantOf(exchange));
  if (isKeyGrant(grant)) return grant;
  throw new Problem('invalid_credentials', 'A realtime session takes an API key, or a client secret.');
}

const isKeyGrant = (grant: KeyGrant | SessionGrant): grant is KeyGrant => grant.principal.kind === 'key';
