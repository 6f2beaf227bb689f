import type { ClientRequest, IncomingMessage } from 'node:http';
import { WebSocket } from 'ws';
import { WsSocket } from '../../kernel/ws-socket.ts';
import { cancelled, failed, faultOfConnection, type Refusal, timedOut } from './fault.ts';
import type { UpstreamConnection, UpstreamFault, UpstreamOpening } from './port.ts';

/** The largest event: a response.done of the longest answer with its sound is far smaller. */
const MOST_EVENT_BYTES = 32 * 1024 * 1024;
const MOST_REFUSAL_BYTES = 64 * 1024;

interface Dialling extends Pick<UpstreamOpening, 'timeoutMs' | 'signal'> {
  /** Names and values in turn. */
  readonly headers: readonly string[];
  readonly faultOf: (refusal: Refusal) => UpstreamFault;
}

/** Opens a WebSocket at a provider. Redirects are not followed: they would carry the key to another address. */
export function openSocket(url: URL, { headers, timeoutMs, signal, faultOf }: Dialling): Promise<UpstreamConnection | UpstreamFault> {
  if (signal.aborted) return Promise.resolve(cancelled(null));
  return new Promise((resolve) => {
    const ws = new WebSocket(url, {
      headers: pairsOf(headers),
      handshakeTimeout: timeoutMs,
      maxPayload: MOST_EVENT_BYTES,
      perMessageDeflate: false,
      followRedirects: false,
    });
    const onAbort = () => settle(cancelled(null));
    const settle = (outcome: UpstreamConnection | UpstreamFault): void => {
      signal.removeEventListener('abort', onAbort);
      if (!outcome.ok) ws.terminate();
      resolve(outcome);
    };
    signal.addEventListener('abort', onAbort);
    // Made before its first event can come.
    ws.once('open', () => settle({ ok: true, socket: new WsSocket(ws) }));
    ws.once('unexpected-response', (request, response) => {
      void refusalOf(request, response).then((refusal) => settle(faultOf(refusal)));
    });
    ws.on('error', (error) =>
      settle(isTimeout(error) ? timedOut(timeoutMs, null) : faultOfConnection(error, { status: null, wasSent: false })),
    );
    ws.once('close', () => settle(failed('The provider closed the connection before it had agreed to it.', null)));
  });
}

const isTimeout = ({ message }: Error): boolean => message.includes('handshake has timed out');

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
