import { createServer, type IncomingMessage, type Server, type ServerResponse, STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { InferenceDeps } from '../../inference/index.ts';
import { newRequestId } from '../../kernel/ids.ts';
import type { Log } from '../../kernel/log.ts';
import { Problem } from '../../kernel/problem.ts';
import { isDecodable, pathnameOf } from './path-table.ts';

type ProblemReply = InferenceDeps['problemReply'];
type Handler = (req: IncomingMessage, res: ServerResponse) => void;

interface FrontDeps {
  readonly inference: { handles(req: IncomingMessage): boolean; serve(req: IncomingMessage, res: ServerResponse): Promise<void> };
  readonly files: { handles(req: IncomingMessage): boolean; serve(req: IncomingMessage, res: ServerResponse): Promise<void> };
  readonly responses: { handles(req: IncomingMessage): boolean; serve(req: IncomingMessage, res: ServerResponse): Promise<void> };
  readonly videos: { handles(req: IncomingMessage): boolean; serve(req: IncomingMessage, res: ServerResponse): Promise<void> };
  readonly documents: { handles(req: IncomingMessage): boolean; serve(req: IncomingMessage, res: ServerResponse): Promise<void> };
  readonly mcp: { handles(req: IncomingMessage): boolean; serve(req: IncomingMessage, res: ServerResponse): Promise<void> };
  readonly people: { handles(req: IncomingMessage): boolean; serve(req: IncomingMessage, res: ServerResponse): Promise<void> };
  readonly events: { handles(req: IncomingMessage): boolean; serve(req: IncomingMessage, res: ServerResponse): Promise<void> };
  readonly mailAnswers: { handles(req: IncomingMessage): boolean; serve(req: IncomingMessage, res: ServerResponse): Promise<void> };
  readonly receipts: { handles(req: IncomingMessage): boolean; serve(req: IncomingMessage, res: ServerResponse): Promise<void> };
  readonly payments: { handles(req: IncomingMessage): boolean; serve(req: IncomingMessage, res: ServerResponse): Promise<void> };
  readonly pages: { handles(req: IncomingMessage): boolean; serve(req: IncomingMessage, res: ServerResponse): Promise<boolean> };
  readonly docs: { handles(req: IncomingMessage): boolean; serve(req: IncomingMessage, res: ServerResponse): void };
  readonly accountApi: Handler;
  readonly problemReply: ProblemReply;
  readonly log: Log;
}

const HEADERS_TIMEOUT_MS = 30_000;
const KEEP_ALIVE_MS = 75_000;
const IDLE_CHECK_MS = 50;

/** Connections on which nothing was asked yet: browsers and pools open them in advance, and Node does not count them as idle. */
const unusedConnections = new WeakMap<Server, Set<Socket>>();

/** One listener for everything: the hot path first, then what streams files, the few pages, and the account API, which also answers what does not exist. */
export function createFront(deps: FrontDeps): Server {
  const { inference, files, videos, responses, documents, mcp, people, events, mailAnswers, receipts, payments, docs, pages, accountApi } =
    deps;
  const { problemReply, log } = deps;
  const failed = (res: ServerResponse) => (error: unknown) => {
    log.error({ err: error }, 'an answer could not be written');
    res.destroy();
  };
  const answering = new WeakMap<Duplex, ServerResponse>();
  const server = createServer((req, res) => {
    req.url = withoutBrokenEscapes(req.url ?? '');
    const { socket } = req;
    answering.set(socket, res);
    res.once('close', () => answering.delete(socket));
    if (inference.handles(req)) void inference.serve(req, res).catch(failed(res));
    else if (files.handles(req)) void files.serve(req, res).catch(failed(res));
    else if (videos.handles(req)) void videos.serve(req, res).catch(failed(res));
    else if (responses.handles(req)) void responses.serve(req, res).catch(failed(res));
    else if (documents.handles(req)) void documents.serve(req, res).catch(failed(res));
    else if (mcp.handles(req)) void mcp.serve(req, res).catch(failed(res));
    else if (people.handles(req)) void people.serve(req, res).catch(failed(res));
    else if (events.handles(req)) void events.serve(req, res).catch(failed(res));
    else if (mailAnswers.handles(req)) void mailAnswers.serve(req, res).catch(failed(res));
    else if (receipts.handles(req)) void receipts.serve(req, res).catch(failed(res));
    else if (payments.handles(req)) void payments.serve(req, res).catch(failed(res));
    else if (docs.handles(req)) docs.serve(req, res);
    else if (pages.handles(req)) {
      void pages
        .serve(req, res)
        .then((served) => served || accountApi(req, res))
        .catch(failed(res));
    } else accountApi(req, res);
  });
  const unused = new Set<Socket>();
  unusedConnections.set(server, unused);
  server.on('connection', (socket: Socket) => {
    unused.add(socket);
    socket.once('close', () => unused.delete(socket));
  });
  server.on('request', ({ socket }: IncomingMessage) => unused.delete(socket));
  server.on('clientError', (error: NodeJS.ErrnoException, socket: Duplex) => {
    // What is written now would stand in the middle of the answer that is on its way.
    if (answering.get(socket)?.headersSent) socket.destroy();
    else answerUnreadable(error, socket, problemReply);
  });
  server.on('checkExpectation', ({ url = '' }: IncomingMessage, res: ServerResponse) => {
    const { status, headers, body } = problemReply(UNMET, { requestId: newRequestId(), clientRequestId: null });
    log.info({ path: url.slice(0, 200), code: UNMET.code }, 'request refused');
    // Its body was not read, and would be taken for the next request.
    res.writeHead(status, { ...headers, connection: 'close', 'content-length': body.length }).end(body);
  });
  server.headersTimeout = HEADERS_TIMEOUT_MS;
  // Bodies have their own limit, and plain completions may take minutes.
  server.requestTimeout = 0;
  // Longer than the idle limit of the usual load balancers (60 s): else one of them reuses a connection that is being closed.
  server.keepAliveTimeout = KEEP_ALIVE_MS;
  return server;
}

/** RFC 9110, section 10.1.1. Node itself would answer without a word. */
const UNMET = new Problem('expectation_failed', 'Of `Expect` only 100-continue is met here: leave the header out.');

/** What cannot be decoded is the id of nothing: taken as it stands, it is answered as every such id, by the operation that was meant. */
function withoutBrokenEscapes(target: string): string {
  if (!target.includes('%')) return target;
  const path = pathnameOf(target);
  const steps = path.split('/').map((step) => (isDecodable(step) ? step : step.replaceAll('%', '%25')));
  return `${steps.join('/')}${target.slice(path.length)}`;
}

/** Somebody else listens there. */
export class AddressInUse extends Error {
  constructor(host: string, port: number) {
    super(`Port ${port} on ${host} is in use: stop that program, or set PORT to another one.`);
    this.name = 'AddressInUse';
  }
}

/** @returns the port that was bound. @throws with a clear sentence when it is taken */
export function listenOn(server: Server, host: string, port: number): Promise<number> {
  return new Promise((resolve, reject) => {
    const failed = (error: NodeJS.ErrnoException) => reject(error.code === 'EADDRINUSE' ? new AddressInUse(host, port) : error);
    server.once('error', failed);
    server.listen(port, host, () => {
      server.off('error', failed);
      const address = server.address();
      resolve(typeof address === 'object' && address !== null ? address.port : port);
    });
  });
}

/** Takes no new connections, lets what is running end, and cuts what is left when the time is over. */
export async function drain(server: Server, timeoutMs: number): Promise<void> {
  const closed = new Promise<void>((resolve) => server.close(() => resolve()));
  for (const socket of unusedConnections.get(server) ?? []) socket.destroy();
  server.closeIdleConnections();
  // A kept connection becomes idle when its request ends; its client would keep it open for as long as it may.
  const idleCheck = setInterval(() => server.closeIdleConnections(), IDLE_CHECK_MS);
  const timer = setTimeout(() => server.closeAllConnections(), timeoutMs);
  await closed;
  clearInterval(idleCheck);
  clearTimeout(timer);
}

/** Bytes that are no HTTP request have no route, but still get an answer that says so. */
function answerUnreadable(error: NodeJS.ErrnoException, socket: Duplex, problemReply: ProblemReply): void {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy();
    return;
  }
  const { status, headers, body } = problemReply(unreadable(error.code), { requestId: newRequestId(), clientRequestId: null });
  const lines = Object.entries({ ...headers, connection: 'close', 'content-length': body.length }).map(
    ([name, value]) => `${name}: ${value}\r\n`,
  );
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
