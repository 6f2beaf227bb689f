import { type IncomingMessage, request, type Server } from 'node:http';
import { duplexPair } from 'node:stream';
import type { CallGateway } from '../../discovery/index.ts';

interface InnerCallDeps {
  /** The gateway's own listener, once it is there. */
  readonly front: () => Server;
}

/** On whose behalf the gateway is called. */
export interface OuterCaller {
  /** Of the request that came from outside: credential and program are theirs. */
  readonly headers: IncomingMessage['headers'];
  /** Where they are. */
  readonly peerAddress: string | null;
}

/** What says who is calling, and with which program. */
const PASSED_ON = ['authorization', 'x-api-key', 'api-key', 'x-web-session-token', 'user-agent'] as const;

/**
 * Calls the gateway from inside, over a connection that is only memory (node:http takes any duplex stream as a connection). So a call takes
 * the very way of one from outside: credential, scopes, limits, holds, receipts and refusals are those of the API, because it is the API.
 */
export const createInnerCall =
  ({ front }: InnerCallDeps) =>
  ({ headers: outer, peerAddress }: OuterCaller): CallGateway =>
  ({ method, path, headers, body }, signal) =>
    new Promise((resolve, reject) => {
      const [near, far] = duplexPair();
      // There is no client on this connection, so no timeout is needed.
      const socket = Object.assign(far, { remoteAddress: peerAddress ?? undefined, setTimeout: () => far });
      front().emit('connection', socket);
      const passed = Object.fromEntries(PASSED_ON.flatMap((name) => (outer[name] === undefined ? [] : [[name, outer[name]]])));
      const call = request({
        createConnection: () => near,
        ...{ method, path, signal },
        headers: { ...headers, ...passed, host: outer.host ?? 'localhost', 'content-length': body?.byteLength ?? 0 },
      });
      call.on('error', reject);
      call.on('response', (response) => {
        const chunks: Buffer[] = [];
        response.on('data', (chunk: Buffer) => chunks.push(chunk));
        response.on('error', reject);
        response.on('end', () => {
          const said = Object.entries(response.headers).flatMap(([name, value]) => (typeof value === 'string' ? [[name, value]] : []));
          resolve({ status: response.statusCode ?? 0, headers: Object.fromEntries(said), body: Buffer.concat(chunks) });
        });
      });
      call.end(body);
    });
