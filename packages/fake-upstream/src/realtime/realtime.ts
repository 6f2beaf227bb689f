import type { IncomingMessage, Server } from 'node:http';
import type { Duplex } from 'node:stream';
import { WebSocketServer } from 'ws';
import type { ResponseStep } from './response-step.ts';
import { FakeRealtimeSession } from './session.ts';

/** A refusal in place of a connection. */
export interface ConnectionRefusal {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: object;
}

/** The provider's realtime API: a session for each connection. */
export interface FakeRealtime {
  /** In the order in which they were opened. */
  readonly sessions: readonly FakeRealtimeSession[];
  /** The next session that is opened from now on. */
  nextSession(): Promise<FakeRealtimeSession>;
  /** Each answers one response of any session; without one, a response is eight tokens long. */
  script(...steps: readonly ResponseStep[]): void;
  /** The next connection is refused so. */
  refuseNext(refusal: ConnectionRefusal): void;
  /** Forgets script and sessions. */
  reset(): void;
}

/** Adds it to a server. @returns it, and what cuts its connections */
export function realtimeOn(server: Server): { readonly realtime: FakeRealtime; readonly close: () => void } {
  const sockets = new WebSocketServer({ noServer: true, perMessageDeflate: false, handleProtocols: () => false });
  const sessions: FakeRealtimeSession[] = [];
  const steps: ResponseStep[] = [];
  const refusals: ConnectionRefusal[] = [];
  const waiting: ((session: FakeRealtimeSession) => void)[] = [];
  server.on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    const refusal = refusals.shift();
    if (refusal) return refuse(socket, refusal);
    sockets.handleUpgrade(request, socket, head, (ws) => {
      const session = new FakeRealtimeSession(ws, {
        path: request.url ?? '/',
        headers: request.headers,
        nextStep: () => steps.shift() ?? {},
      });
      sessions.push(session);
      for (const opened of waiting.splice(0)) opened(session);
    });
  });
  return {
    realtime: {
      sessions,
      nextSession: () => new Promise((resolve) => waiting.push(resolve)),
      script: (...more) => void steps.push(...more),
      refuseNext: (refusal) => void refusals.push(refusal),
      reset: () => {
        sessions.length = 0;
        steps.length = 0;
        refusals.length = 0;
      },
    },
    close: () => {
      for (const ws of sockets.clients) ws.terminate();
    },
  };
}

function refuse(socket: Duplex, { status, headers = {}, body = {} }: ConnectionRefusal): void {
  const text = JSON.stringify(body);
  const all = { 'content-type': 'application/json', 'content-length': String(Buffer.byteLength(text)), connection: 'close', ...headers };
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.end(`HTTP/1.1 ${status} Refused\r\n${lines.join('')}\r\n${text}`);
}
