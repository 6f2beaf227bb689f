import { createServer, type IncomingMessage, type Server, type ServerResponse, STATUS_CODES } from 'node:http';
import { Server as NetServer, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { setImmediate as turnOfLoop } from 'node:timers/promises';
import type { Clock } from '../../kernel/clock.ts';
import type { Log } from '../../kernel/log.ts';
import { Problem } from '../../kernel/problem.ts';
import { problemOf } from '../../kernel/problem-of.ts';
import type { AccessControl } from './access-control.ts';
import type { AnswerHeaders } from './answer-headers.ts';
import { withoutAzure } from './azure-paths.ts';
import { withoutCohere } from './cohere-paths.ts';
import { preflightHeaders } from './cors.ts';
import type { Exchange } from './exchange.ts';
import { withoutColons } from './google-paths.ts';
import type { ProblemReply } from './problem-document.ts';
import { requireInput } from './query.ts';
import type { RefusalLimits } from './refusal-limits.ts';
import type { Refusals } from './refusals.ts';
import { requestIdsOf, shownIdOf } from './request-ids.ts';
import { faultOfShape } from './request-shape.ts';
import { createRouter, type ServedRoute } from './router.ts';
import { SURFACE_FORMS, surfaceOf } from './surfaces/index.ts';
import { isDecodable, pathnameOf } from './target.ts';
import { handleUpgrades, isForWebSocket } from './upgrades.ts';

export interface FrontDeps {
  readonly routes: readonly ServedRoute[];
  readonly accessControl: AccessControl;
  readonly refusals: Refusals;
  readonly refusalLimits: RefusalLimits;
  readonly headers: AnswerHeaders;
  readonly problemReply: ProblemReply;
  readonly clock: Clock;
  readonly log: Log;
  /** How long the rest of a body may go on arriving once its request is answered. Default: five seconds. */
  readonly lingerMs?: number;
  /** Whether clients should use another gateway: connections are closed then. Default: never. */
  readonly isDraining?: () => boolean;
}

const LINGER_MS = 5_000;
const HEADERS_TIMEOUT_MS = 30_000;
const KEEP_ALIVE_MS = 75_000;
const IDLE_CHECK_MS = 50;
/** So many checks in a row in which no client has sent anything: nobody who asks one request after the other is silent for so long. */
const QUIET_CHECKS = 2;
const TURNS_TO_READ = 3;
/**
 * For so long those are accepted that wait when a gateway stops, milliseconds of CPU time, which a busy machine gives it slowly; new ones that
 * keep coming must not keep it.
 */
const ACCEPT_WITHIN_MS = 5_000;
/** Connections that wait to be accepted. Linux allows 4,096 by default; Node would ask for 511, and a burst gets its answer seconds later. */
const BACKLOG = 4_096;

const openConnections = new WeakMap<Server, Set<Socket>>();

/**
 * One listener and one pipeline for every kind of answer. In order: request id → headers of every answer → the shape
 * of the request → CORS preflight → is there such a path, with this method → who is calling, and may they → have they been refused too often → the query → the route, which
 * reads the body, verifies a signature, honours an idempotency key and answers. What any of them throws becomes a problem document and a line
 * of the log in one place. So the parameters of an operation are not revealed before authentication, and no body is read for a path that
 * is not there.
 */
export function createFront(deps: FrontDeps): Server {
  const { problemReply, headers, lingerMs = LINGER_MS } = deps;
  const handle = handlerOf(deps);
  const answering = new WeakMap<Duplex, ServerResponse>();
  // Node itself would refuse a request without `Host` with an empty answer.
  const server = createServer({ requireHostHeader: false, shouldUpgradeCallback: isForWebSocket }, (req, res) => {
    const { socket } = req;
    answering.set(socket, res);
    res.once('close', () => {
      answering.delete(socket);
      if (!req.complete) cutUnlessComplete(req, socket, lingerMs);
    });
    handle(req, res);
  });
  handleUpgrades(server, handle);
  watchConnections(server);
  server.on('clientError', (error: NodeJS.ErrnoException, socket: Duplex) => {
    // Bytes written now would be in the middle of the running answer.
    if (answering.get(socket)?.headersSent) socket.destroy();
    else answerUnreadable(error, socket, { problemReply, headers });
  });
  // Node would close the connection without a word.
  server.on('connect', (_req: IncomingMessage, socket: Duplex) => answerConnect(socket, { problemReply, headers }));
  server.on('checkExpectation', (req: IncomingMessage, res: ServerResponse) => handle(req, res, UNMET));
  server.headersTimeout = HEADERS_TIMEOUT_MS;
  // Bodies have their own limit, and plain completions may take minutes.
  server.requestTimeout = 0;
  // Longer than the idle limit of the usual load balancers (60 s): else one of them reuses a connection that is being closed.
  server.keepAliveTimeout = KEEP_ALIVE_MS;
  return server;
}

/** @param beforeBody whether the body is not read, and would be taken for the next request */
type Handle = (req: IncomingMessage, res: ServerResponse, beforeBody?: Problem) => void;

/** The steps of every request, up to its route. */
function handlerOf(deps: FrontDeps): Handle {
  const { routes, refusals, headers, clock, log, isDraining = () => false } = deps;
  const router = createRouter(routes);
  const serve = servingOf(deps);
  return (req, res, beforeBody) => {
    const [startedTick, startedAt, ids] = [performance.now(), clock.now(), requestIdsOf(req.headers)];
    const requestId = shownIdOf(ids);
    headers.apply(res, 'api', requestId);
    const fault = beforeBody ?? faultOfShape(req);
    if (fault || isDraining()) res.shouldKeepAlive = false;
    const sentTarget = req.url ?? '';
    const { target, deployment } = withoutAzure(withoutCohere(withoutColons(withoutBrokenEscapes(sentTarget), req.headers)));
    const pathname = router.withoutSlash(pathnameOf(target));
    req.url = pathname + target.slice(pathnameOf(target).length);
    // No page of another origin reads a page or the metrics: there is nothing to ask for.
    if (!fault && req.method === 'OPTIONS' && router.kindAt(pathname) === 'api') {
      res.writeHead(204, preflightHeaders(req.headers)).end();
      return;
    }
    const found = fault ? undefined : router.find(req.method ?? '', pathname);
    const surface = found ? surfaceOf(found.route.operation?.metadata, req.headers) : router.surfaceAt(pathname);
    if (surface) res.setHeader(SURFACE_FORMS[surface].requestIdHeader, requestId);
    const exchange: Exchange = {
      requestId: ids.requestId,
      clientRequestId: ids.clientRequestId,
      surface,
      deployment,
      sentTarget,
      req,
      res,
      pathname,
      params: found?.params ?? {},
      startedAt,
      startedTick,
      grant: undefined,
      checkedTick: startedTick,
    };
    const kind = found?.route.kind ?? router.kindAt(pathname);
    if (!fault && kind !== 'api') headers.apply(res, kind, requestId);
    const answering = found ? serve(found.route, exchange) : refusals.refuse(fault ?? router.missing(req.method ?? '', pathname), exchange);
    answering.catch((error: unknown) => {
      log.error({ err: error }, 'an answer could not be written');
      res.destroy();
    });
  };
}

const servingOf =
  ({ accessControl, refusals, refusalLimits }: FrontDeps) =>
  async (route: ServedRoute, exchange: Exchange): Promise<void> => {
    try {
      // A key that is in memory costs no turn of the event loop.
      const checking = route.operation && accessControl.check(exchange, route.operation);
      if (checking !== undefined) await checking;
      refusalLimits.requireRoom(exchange, route);
      if (route.operation) requireInput(exchange, route.operation);
      await route.answer(exchange);
    } catch (thrown) {
      await refusals.refuse(refusalLimits.count(problemOf(thrown), exchange, route), exchange, route.refusal);
    }
  };

function watchConnections(server: Server): void {
  const open = new Set<Socket>();
  openConnections.set(server, open);
  server.on('connection', (socket: Socket) => {
    open.add(socket);
    socket.once('close', () => open.delete(socket));
  });
}

/**
 * What is still to come of an answered request is read and thrown away: a client that is cut off while it writes never reads the answer.
 * A client that still writes would otherwise hold the connection without a limit.
 *
 * @param socket asked for before the request was: one that was destroyed while its body came has none any more
 */
function cutUnlessComplete(req: IncomingMessage, socket: Socket, lingerMs: number): void {
  req.on('error', () => {});
  req.resume();
  setTimeout(() => req.complete || socket.destroy(), lingerMs).unref();
}

/** RFC 9110, section 10.1.1. Node itself would answer without a word. */
const UNMET = new Problem('expectation_failed', 'Of `Expect` only 100-continue is met here: leave the header out.');

/** An id that cannot be decoded matches nothing: taken literally, the operation answers it as any unknown id. */
function withoutBrokenEscapes(target: string): string {
  if (!target.includes('%')) return target;
  const path = pathnameOf(target);
  const steps = path.split('/').map((step) => (isDecodable(step) ? step : step.replaceAll('%', '%25')));
  return `${steps.join('/')}${target.slice(path.length)}`;
}

interface Address {
  readonly host: string;
  readonly port: number;
  /** That says the port. */
  readonly variable: 'PORT' | 'ENTERPRISE_PORT' | 'OPERATIONS_PORT';
}

/** Another process listens there. */
export class AddressInUse extends Error {
  constructor({ host, port, variable }: Address) {
    super(`Port ${port} on ${host} is in use: stop that program, or set ${variable} to another one.`);
    this.name = 'AddressInUse';
  }
}

/** @returns the port that was bound. @throws with a clear sentence when it is taken */
export function listenOn(server: Server, address: Address): Promise<number> {
  const { host, port } = address;
  return new Promise((resolve, reject) => {
    const failed = (error: NodeJS.ErrnoException) => reject(error.code === 'EADDRINUSE' ? new AddressInUse(address) : error);
    server.once('error', failed);
    server.listen({ port, host, backlog: BACKLOG }, () => {
      server.off('error', failed);
      const bound = server.address();
      resolve(typeof bound === 'object' && bound !== null ? bound.port : port);
    });
  });
}

/**
 * Takes no new connections, lets what is running end, and cuts what is left when the time is over. No request is reset: a connection that is
 * closed with unread bytes of a request would be. So pending connections are accepted first, and idle ones are closed once no client has sent
 * anything for a while, right after the event loop has read all available bytes: the connection of a client that asks one request after the other
 * is idle while the next one is on its way.
 *
 * @param answered when what is cut has said so to its client: no connection is closed before
 */
export async function drain(server: Server, timeoutMs: number, answered: Promise<unknown> = Promise.resolve()): Promise<void> {
  await acceptWaiting(server);
  // `server.close` would close the idle ones at once.
  const closed = new Promise<void>((resolve) => void NetServer.prototype.close.call(server, () => resolve()));
  const open = openConnections.get(server) ?? new Set<Socket>();
  let [before, quietChecks] = [received(open), 0];
  const closeQuiet = () => {
    const now = received(open);
    const isQuiet = [...now].every(([socket, bytes]) => before.get(socket) === bytes);
    quietChecks = isQuiet ? quietChecks + 1 : 0;
    before = now;
    if (quietChecks < QUIET_CHECKS) return;
    server.closeIdleConnections();
    // Browsers and pools open connections in advance; those Node does not count as idle.
    for (const [socket, bytes] of now) if (bytes === 0) socket.destroy();
  };
  const idleCheck = setInterval(() => setImmediate(closeQuiet), IDLE_CHECK_MS);
  const timer = setTimeout(async () => {
    await answered;
    server.closeAllConnections();
  }, timeoutMs);
  await closed;
  clearInterval(idleCheck);
  clearTimeout(timer);
  // Ends what Node does for connections now and then.
  server.close();
}

const received = (sockets: Iterable<Socket>): ReadonlyMap<Socket, number> =>
  new Map(Array.from(sockets, (socket) => [socket, socket.bytesRead]));

/** Node accepts one connection a turn of the event loop, and reads it in the next. */
async function acceptWaiting(server: Server): Promise<void> {
  let accepted = 0;
  const count = () => {
    accepted += 1;
  };
  server.on('connection', count);
  const began = process.threadCpuUsage();
  const workedMs = () => process.threadCpuUsage(began).user / 1_000;
  for (let before = -1; before !== accepted && workedMs() < ACCEPT_WITHIN_MS; ) {
    before = accepted;
    for (let turn = 0; turn < TURNS_TO_READ; turn += 1) await turnOfLoop();
  }
  server.off('connection', count);
}

/** Bytes that are not an HTTP request have no route, but still get a 400. */
function answerUnreadable(
  error: NodeJS.ErrnoException,
  socket: Duplex,
  { problemReply, headers: defaults }: Pick<FrontDeps, 'problemReply' | 'headers'>,
): void {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy();
    return;
  }
  answerAndClose(unreadable(error.code), socket, { problemReply, headers: defaults });
}

const TUNNEL = new Problem('method_not_allowed', 'This is no proxy: it has no CONNECT.', {
  headers: { allow: 'DELETE, GET, HEAD, OPTIONS, PATCH, POST, PUT' },
});

function answerConnect(socket: Duplex, parts: Pick<FrontDeps, 'problemReply' | 'headers'>): void {
  // Nothing else listens there any more: without this, a connection that breaks ends the process.
  socket.on('error', () => {});
  answerAndClose(TUNNEL, socket, parts);
}

function answerAndClose(
  problem: Problem,
  socket: Duplex,
  { problemReply, headers: defaults }: Pick<FrontDeps, 'problemReply' | 'headers'>,
): void {
  const { status, headers, body } = problemReply(problem, requestIdsOf({}));
  const lines = Object.entries({
    ...defaults.api,
    ...headers,
    connection: 'close',
    'content-length': body.length,
  }).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.write(`HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${lines.join('')}\r\n`);
  socket.end(body);
}

function unreadable(code: string | undefined): Problem {
  switch (code) {
    case 'HPE_HEADER_OVERFLOW':
      return new Problem('headers_too_large', 'The headers are larger than 16 KiB: send fewer or shorter ones.');
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return new Problem('request_timeout', 'The headers did not arrive in time: send the request again.');
    default:
      return new Problem('malformed_request', 'The bytes received are no valid HTTP/1.1 request.');
  }
}
