import type { RawData, WebSocket } from 'ws';
import { type EventSocket, MOST_REASON_BYTES, type SocketEnd } from './event-socket.ts';

/** What waits to be written on a connection before its sender is told to wait. */
const MOST_WAITING_BYTES = 1024 * 1024;
/** A connection that says nothing for so long is asked whether it is there, and cut when it does not answer within as long again. */
const PING_MS = 20_000;
/** So long the other side may not take what is sent, or not agree to a close. */
const SLOW_MS = 60_000;
const CLOSE_MS = 5_000;
/** Of statuses that `ws` closes with by itself, and without a word. */
const REASONS: Readonly<Record<number, string>> = {
  1002: 'this is no WebSocket frame',
  1007: 'a text has to be in UTF-8',
  1009: 'the event is too large',
};

interface Frame {
  readonly bytes: Buffer;
  readonly isText: boolean;
}

/** A connection of `ws`. Its frames are not compressed: a few bytes could be any number of them. */
export class WsSocket implements EventSocket {
  readonly #ws: WebSocket;
  readonly #waiting: Frame[] = [];
  readonly #ended = Promise.withResolvers<SocketEnd>();
  readonly #pulse: NodeJS.Timeout;
  #wake: (() => void) | undefined;
  #hasEnded = false;
  #isAlive = true;

  /** From here on its frames are kept for `pump`. */
  constructor(ws: WebSocket) {
    this.#ws = ws;
    ws.on('message', (data, isBinary) => this.#keep(data, !isBinary));
    ws.on('pong', () => this.#lives());
    ws.on('ping', () => this.#lives());
    const close = ws.close.bind(ws);
    ws.close = (code, reason) => close(code, reason ?? REASONS[code ?? 0]);
    ws.on('error', () => this.#broken());
    ws.on('close', (code, reason) => this.#end({ code, reason: reason.toString() }));
    this.#pulse = setInterval(() => this.#beat(), PING_MS).unref();
    if (ws.readyState === ws.CLOSED) this.#end({ code: 1006, reason: '' });
  }

  async pump(take: (frame: Buffer, isText: boolean) => void | Promise<void>): Promise<SocketEnd> {
    try {
      for (;;) {
        const frame = this.#waiting.shift();
        if (frame) {
          await take(frame.bytes, frame.isText);
        } else if (this.#hasEnded) return await this.#ended.promise;
        else await this.#next();
      }
    } catch (thrown) {
      this.#ws.terminate();
      throw thrown;
    }
  }

  send(frame: string | Buffer): void | Promise<void> {
    const ws = this.#ws;
    if (ws.readyState !== ws.OPEN) return undefined;
    if (ws.bufferedAmount <= MOST_WAITING_BYTES) {
      ws.send(frame, { binary: false }, () => {});
      return undefined;
    }
    return new Promise((resolve) => {
      const slow = setTimeout(() => ws.terminate(), SLOW_MS).unref();
      const done = () => {
        clearTimeout(slow);
        resolve();
      };
      // Called with an error where the connection ends before.
      ws.send(frame, { binary: false }, done);
    });
  }

  close(code: number, reason: string): void {
    const ws = this.#ws;
    // What is held back would keep the other side's close frame from being read.
    ws.resume();
    ws.close(code, cut(reason));
    setTimeout(() => ws.terminate(), CLOSE_MS).unref();
  }

  #keep(data: RawData, isText: boolean): void {
    this.#isAlive = true;
    if (this.#ws.readyState !== this.#ws.OPEN) return;
    const bytes = Buffer.isBuffer(data) ? data : Buffer.concat(Array.isArray(data) ? data : [new Uint8Array(data)]);
    this.#waiting.push({ bytes, isText });
    // What is in the buffers of the kernel stays there.
    this.#ws.pause();
    this.#wake?.();
  }

  async #next(): Promise<void> {
    const woken = new Promise<void>((resolve) => {
      this.#wake = resolve;
    });
    if (this.#ws.readyState !== this.#ws.CONNECTING) this.#ws.resume();
    await woken;
    this.#wake = undefined;
  }

  /** Where the other side broke the rules, it is being told so: it may be in the middle of what it says. */
  #broken(): void {
    const ws = this.#ws;
    if (ws.readyState !== ws.CLOSING) ws.terminate();
    else setTimeout(() => ws.terminate(), CLOSE_MS).unref();
  }

  #lives(): void {
    this.#isAlive = true;
  }

  #beat() {
    const ws = this.#ws;
    // Of a connection that is held back nothing is read, its answers neither.
    if (ws.isPaused || ws.readyState !== ws.OPEN) return;
    if (!this.#isAlive) return ws.terminate();
    this.#isAlive = false;
    ws.ping();
  }

  #end(end: SocketEnd): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    clearInterval(this.#pulse);
    this.#ended.resolve(end);
    this.#wake?.();
  }
}

/** A close frame has room for little, in whole characters. */
function cut(reason: string): string {
  const bytes = Buffer.from(reason);
  return bytes.length <= MOST_REASON_BYTES ? reason : bytes.toString('utf8', 0, MOST_REASON_BYTES - 3).replace(/\uFFFD+$/, '');
}
