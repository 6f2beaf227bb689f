import { createHash, randomBytes } from 'node:crypto';
import type { OutgoingHttpHeaders } from 'node:http';

const GUID = '258EAFA5-E914-47DA-95CA-C5AB0DC85B11';

export const newHandshakeKey = (): string => randomBytes(16).toString('base64');

/** What proves that the other side has understood the handshake (RFC 6455, 4.2.2). */
export const acceptOf = (key: string): string =>
  createHash('sha1')
    .update(key + GUID)
    .digest('base64');

interface Agreement {
  /** The client's `Sec-WebSocket-Key`. */
  readonly key: string;
  readonly protocol: string | undefined;
  readonly headers: Readonly<OutgoingHttpHeaders>;
}

/** The answer that makes a WebSocket of a connection. */
export function handshakeAnswer({ key, protocol, headers }: Agreement): string {
  const all = {
    ...{ Upgrade: 'websocket', Connection: 'Upgrade', 'Sec-WebSocket-Accept': acceptOf(key), 'Sec-WebSocket-Protocol': protocol },
    ...headers,
  };
  const lines = Object.entries(all).flatMap(([name, value]) => (value === undefined ? [] : [`${name}: ${value}`]));
  return `HTTP/1.1 101 Switching Protocols\r\n${lines.join('\r\n')}\r\n\r\n`;
}
