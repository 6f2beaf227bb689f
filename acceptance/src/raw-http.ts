import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import type { Gateway } from './gateway.ts';

/** An answer to bytes that no HTTP client would send. */
export interface RawAnswer {
  readonly status: number;
  readonly head: string;
  readonly body: string;
}

export function openSocket(gateway: Gateway): Socket {
  const { hostname, port } = new URL(gateway.url);
  return connect(Number(port), hostname).on('error', () => {}); // A refused client may be cut off while it still writes.
}

/** Writes the pieces as they are and reads until the server closes; `Connection: close` is the caller's to send. */
export async function sendRaw(gateway: Gateway, ...pieces: readonly (string | Buffer)[]): Promise<RawAnswer> {
  const socket = openSocket(gateway);
  for (const piece of pieces) socket.write(piece);
  return readAnswer(socket);
}

export async function readAnswer(socket: Socket): Promise<RawAnswer> {
  const received: Buffer[] = [];
  socket.on('data', (chunk: Buffer) => received.push(chunk));
  await once(socket, 'close');
  const text = Buffer.concat(received).toString('utf8');
  const [head = '', ...rest] = text.split('\r\n\r\n');
  const body = rest.join('\r\n\r\n');
  const isChunked = /^transfer-encoding: chunked$/im.test(head);
  return { status: Number(/^HTTP\/1\.1 (\d{3})/.exec(head)?.[1] ?? 0), head, body: isChunked ? unchunked(body) : body };
}

/** RFC 9112, section 7.1, for bodies whose characters are bytes. */
const unchunked = (body: string): string => body.replaceAll(/(?:^|\r\n)[0-9a-f]+\r\n/gi, '').trimEnd();
