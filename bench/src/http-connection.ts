import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import type { Tally } from './tally.ts';

/** What came back for one request. Times are milliseconds from the moment it was written. */
export interface Answer {
  readonly status: number;
  readonly head: string;
  /** As it came over the wire: chunked framing is left in. */
  readonly body: Buffer;
  readonly firstByteMs: number;
  readonly totalMs: number;
}

/** A request as bytes, ready to be written, and where to. */
export interface Shot {
  readonly origin: string;
  readonly bytes: Buffer;
  readonly tally: Tally;
}

interface Head {
  readonly text: string;
  readonly status: number;
  /** Undefined for a chunked body. */
  readonly length: number | undefined;
}

const HEAD_END = '\r\n\r\n';
const LAST_CHUNK = Buffer.from('0\r\n\r\n');

/**
 * One kept-alive HTTP/1.1 connection, one request at a time. An HTTP client that costs as much as the proxies under test would be what is
 * measured; this one writes prepared bytes and reads no more than it must to find an answer's end.
 */
export class HttpConnection {
  readonly #socket: Socket;
  #parts: Buffer[] = [];
  #head: Head | undefined;
  #bodyBytes = 0;
  #sentAt = 0;
  #firstByteAt = 0;
  #tally: Tally | undefined;
  #waiting: PromiseWithResolvers<Answer> | undefined;

  private constructor(socket: Socket) {
    this.#socket = socket;
    socket.setNoDelay(true);
    socket.on('data', (chunk: Buffer) => this.#take(chunk));
    socket.on('error', (error) => this.#waiting?.reject(error));
    socket.on('close', () => this.#waiting?.reject(new Error('The server closed the connection before its answer was complete')));
  }

  static async open(origin: string): Promise<HttpConnection> {
    const { hostname, port } = new URL(origin);
    const socket = connect(Number(port), hostname);
    await once(socket, 'connect');
    return new HttpConnection(socket);
  }

  send({ bytes, tally }: Shot): Promise<Answer> {
    this.#parts = [];
    this.#head = undefined;
    this.#bodyBytes = 0;
    this.#firstByteAt = 0;
    this.#waiting = Promise.withResolvers<Answer>();
    this.#sentAt = performance.now();
    this.#tally = tally;
    this.#socket.write(bytes);
    return this.#waiting.promise;
  }

  /** Sends it and reads nothing: what cannot be sent piles up on the other side, or does not come to be. */
  sendUnread({ bytes }: Shot): void {
    this.#socket.pause();
    this.#socket.write(bytes);
  }

  close(): void {
    this.#socket.destroy();
  }

  #take(chunk: Buffer): void {
    this.#parts.push(chunk);
    if (this.#head) this.#bodyBytes += chunk.length;
    else this.#readHead();
    if (!this.#head) return;
    if (this.#bodyBytes > 0 && this.#firstByteAt === 0) this.#firstByteAt = performance.now();
    const isComplete = this.#head.length === undefined ? this.#endsWithLastChunk(chunk) : this.#bodyBytes >= this.#head.length;
    if (isComplete) this.#finish(this.#head);
  }

  #readHead(): void {
    const bytes = Buffer.concat(this.#parts);
    const end = bytes.indexOf(HEAD_END);
    if (end < 0) return;
    const text = bytes.toString('latin1', 0, end);
    const length = /\r\ncontent-length: *(\d+)/i.exec(text)?.[1];
    this.#head = { text, status: Number(text.slice(9, 12)), length: length === undefined ? undefined : Number(length) };
    this.#parts = [bytes.subarray(end + HEAD_END.length)];
    this.#bodyBytes = bytes.length - end - HEAD_END.length;
  }

  #endsWithLastChunk(chunk: Buffer): boolean {
    const tail = chunk.length < LAST_CHUNK.length ? Buffer.concat(this.#parts) : chunk;
    return tail.subarray(-LAST_CHUNK.length).equals(LAST_CHUNK);
  }

  #finish({ status, text }: Head): void {
    const totalMs = performance.now() - this.#sentAt;
    const waiting = this.#waiting;
    this.#waiting = undefined;
    if (status === 200) this.#tally?.count();
    waiting?.resolve({ status, head: text, body: Buffer.concat(this.#parts), firstByteMs: this.#firstByteAt - this.#sentAt, totalMs });
  }
}

/** @throws unless the answer is a success: a bench of refusals would be a fast one */
export function requireSuccess(answer: Answer): Answer {
  if (answer.status !== 200) throw new Error(`Expected an answer, got ${answer.status}: ${answer.body.toString().slice(0, 400)}`);
  return answer;
}
