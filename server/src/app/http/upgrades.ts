import { type IncomingMessage, type Server, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { pathnameOf } from './target.ts';

/** A connection that a client asks to make a WebSocket of. */
export interface Upgrade {
  readonly socket: Duplex;
  /** What came behind the request. */
  readonly head: Buffer;
  /** From here on nobody else writes on the connection. */
  take(): void;
}

const asked = new WeakMap<IncomingMessage, Upgrade>();

/** How long a client that is refused has to read why. */
const LINGER_MS = 5_000;

/** Undefined where the request asks for none. */
export const upgradeOf = (req: IncomingMessage): Upgrade | undefined => asked.get(req);

/** Where there is none, a request for a WebSocket is answered as any other. */
export const isForWebSocket = ({ method, headers, url = '' }: IncomingMessage): boolean =>
  method === 'GET' && headers.upgrade?.toLowerCase() === 'websocket' && pathnameOf(url).replace(/\/$/, '').endsWith('/realtime');

/** A request for a WebSocket takes the way of every other, and is refused with an HTTP answer. */
export function handleUpgrades(server: Server, handle: (req: IncomingMessage, res: ServerResponse) => void): void {
  server.on('upgrade', (req: IncomingMessage, socket: Duplex, head: Buffer) => {
    // Nothing else listens there any more: without this, a connection that breaks ends the process.
    socket.on('error', () => {});
    const res = new ServerResponse(req);
    // Of the connection alone `net.Socket` has what is written on.
    res.assignSocket(socket as IncomingMessage['socket']);
    res.shouldKeepAlive = false;
    res.once('finish', () => {
      socket.end();
      setTimeout(() => socket.destroy(), LINGER_MS).unref();
    });
    asked.set(req, { socket, head, take: () => res.detachSocket(socket as IncomingMessage['socket']) });
    handle(req, res);
  });
}
