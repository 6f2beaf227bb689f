import { type ClientRequest, type IncomingMessage, request } from 'node:http';
import { request as requestOverTls } from 'node:https';
import { acceptOf, newHandshakeKey } from '../../kernel/web-socket/handshake.ts';
import { WebSocketConnection } from '../../kernel/web-socket/web-socket.ts';
import { cancelled, failed, faultOfConnection, type Refusal, timedOut } from './fault.ts';
import type { UpstreamConnection, UpstreamFault, UpstreamOpening } from './port.ts';

/** The largest event: a response.done of the longest answer with its sound is far smaller. */
const MOST_EVENT_BYTES = 32 * 1024 * 1024;
const MOST_REFUSAL_BYTES = 64 * 1024;

interface Dialling extends Pick<UpstreamOpening, 'timeoutMs' | 'signal' | 'newReservation'> {
  /** Names and values in turn. */
  readonly headers: readonly string[];
  readonly faultOf: (refusal: Refusal) => UpstreamFault;
}

/** Opens a WebSocket at a provider. Redirects are not followed: they would carry the key to another address. */
export function openSocket(
  url: URL,
  { headers, timeoutMs, signal, newReservation, faultOf }: Dialling,
): Promise<UpstreamConnection | UpstreamFault> {
  if (signal.aborted) return Promise.resolve(cancelled(null));
  return new Promise((resolve) => {
    const key = newHandshakeKey();
    const dialled = (url.protocol === 'https:' ? requestOverTls : request)(url, {
      agent: false,
      headers: { ...pairsOf(headers), ...HANDSHAKE, 'sec-websocket-key': key },
    });
    const onAbort = () => settle(cancelled(null));
    const late = setTimeout(() => settle(timedOut(timeoutMs, null)), timeoutMs);
    const settle = (outcome: UpstreamConnection | UpstreamFault): void => {
      clearTimeout(late);
      signal.removeEventListener('abort', onAbort);
      if (!outcome.ok) dialled.destroy();
      resolve(outcome);
    };
    signal.addEventListener('abort', onAbort);
    dialled.once('upgrade', (response, socket, head) => {
      if (signal.aborted || !isAgreement(response, key)) {
        socket.destroy();
        settle(failed('The provider did not agree to a WebSocket as it is asked to.', null));
        return;
      }
      // Made before its first event can come.
      const options = { role: 'client', mostBytes: MOST_EVENT_BYTES, head, newReservation } as const;
      settle({ ok: true, socket: new WebSocketConnection(socket, options) });
    });
    dialled.once('response', (response) => {
      void refusalOf(dialled, response).then((refusal) => settle(faultOf(refusal)));
    });
    // Also of a connection that was given up, which nobody waits for any more.
    dialled.on('error', (error) => settle(faultOfConnection(error, { status: null, wasSent: false })));
    dialled.once('close', () => settle(failed('The provider closed the connection before it had agreed to it.', null)));
    dialled.end();
  });
}

const HANDSHAKE = { connection: 'Upgrade', upgrade: 'websocket', 'sec-websocket-version': '13' };

/** Neither an extension nor a protocol was asked for. */
const isAgreement = ({ headers }: IncomingMessage, key: string): boolean =>
  headers.upgrade?.toLowerCase() === 'websocket' &&
  headers['sec-websocket-accept'] === acceptOf(key) &&
  headers['sec-websocket-extensions'] === undefined &&
  headers['sec-websocket-protocol'] === undefined;

function pairsOf(headers: readonly string[]): Record<string, string> {
  const pairs: Record<string, string> = {};
  for (let at = 0; at + 1 < headers.length; at += 2) pairs[headers[at] ?? ''] = headers[at + 1] ?? '';
  return pairs;
}

/** As much of it as a refusal needs; what breaks off is read as far as it came. */
async function refusalOf(dialled: ClientRequest, response: IncomingMessage): Promise<Refusal> {
  const parts: Buffer[] = [];
  let bytes = 0;
  try {
    for await (const part of response) {
      parts.push(part);
      bytes += part.length;
      if (bytes >= MOST_REFUSAL_BYTES) break;
    }
  } catch {
    // The status says enough.
  } finally {
    dialled.destroy();
  }
  return { status: response.statusCode ?? 0, headers: response.headers, body: Buffer.concat(parts).subarray(0, MOST_REFUSAL_BYTES) };
}
