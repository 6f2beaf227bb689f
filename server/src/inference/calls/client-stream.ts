import { createHash, type Hash } from 'node:crypto';
import type { OutgoingHttpHeaders } from 'node:http';
import type { Writable } from 'node:stream';
import type { Soon } from '../../kernel/soon.ts';
import { breather } from '../../kernel/turn.ts';
import type { Reply } from './reply.ts';

const UNBUFFERED = { 'x-accel-buffering': 'no' };
const EVENT_STREAM = 'text/event-stream';
const CLIENT_STALL_MS = 60_000;
/** Hashed at a time, a millisecond each. */
const PIECE_BYTES = 1024 * 1024;
/** Longer streams are told again in fewer events. */
const MOST_SENT_BYTES = 16 * 1024 * 1024;
const PING = Buffer.from(': ping\n\n');

/** What a stream is sent to: an HTTP answer, or a store that keeps its events for later. */
export interface StreamReceiver extends Writable {
  readonly headersSent: boolean;
  writeHead(status: number, headers: OutgoingHttpHeaders): this;
}

/** The header that says what an answer is. */
export const answerType = (contentType: string): { readonly 'content-type': string } => ({
  'content-type': contentType === EVENT_STREAM ? `${EVENT_STREAM}; charset=utf-8` : contentType,
});

/** The client's side of a stream: its head with the first bytes, every byte in the digest, back-pressure as a promise. */
export class ClientStream {
  readonly #res: StreamReceiver;
  #digest = createHash('sha256');
  /** A large piece is being made ready: nothing may be written in front of it. */
  #isBusy = false;
  #lastWriteTick = 0;
  #isEventStream = false;
  /** What was sent, for those that keep it; undefined where nobody does, or where it is too much. */
  #sent: Buffer[] | undefined;
  #sentBytes = 0;
  /** Nobody reads any more, or the last was said: what comes from now on is not for the client. */
  #isDetached = false;
  #resume: (() => void) | undefined;

  constructor(res: StreamReceiver, { keepsSent }: { readonly keepsSent: boolean }) {
    this.#res = res;
    if (keepsSent) this.#sent = [];
  }

  /** All that was sent so far, and `last`; undefined where it is more than is kept. */
  sentWith(last: Buffer): Buffer | undefined {
    return this.#sentBytes + last.length > MOST_SENT_BYTES ? undefined : this.#sent && Buffer.concat([...this.#sent, last]);
  }

  get isOpen(): boolean {
    return this.#res.headersSent;
  }

  /** Whether anybody is there to be written to. */
  get isAttached(): boolean {
    return !this.#isDetached && !this.#res.destroyed;
  }

  /** The client has left. What it was sent stays in the digest, and nothing else. */
  detach(): void {
    this.#isDetached = true;
    this.#resume?.();
  }

  open(headers: OutgoingHttpHeaders, contentType: string): void {
    this.#isEventStream = contentType === EVENT_STREAM;
    this.#res.writeHead(200, { ...headers, ...UNBUFFERED, ...answerType(contentType) });
  }

  /**
   * Returns a promise when the client is slower than the provider, or the bytes are many; it resolves when there is room, or when the client
   * is gone.
   */
  write(bytes: Buffer): void | Promise<void> {
    if (!this.isAttached) return undefined;
    if (bytes.length > PIECE_BYTES) return this.#writeLarge(bytes);
    this.#digest.update(bytes);
    return this.#send(bytes);
  }

  /** What is not sent in the end, because the client was told of something else meanwhile, is not in the digest. */
  async #writeLarge(bytes: Buffer): Promise<void> {
    this.#isBusy = true;
    const digest = await withPieces(this.#digest.copy(), bytes);
    this.#isBusy = false;
    if (!this.isAttached) return;
    this.#digest = digest;
    await this.#send(bytes);
  }

  #send(bytes: Buffer): void | Promise<void> {
    this.#keep(bytes);
    this.#lastWriteTick = performance.now();
    if (this.#res.write(bytes) || this.#res.destroyed) return undefined;
    const { promise, resolve } = Promise.withResolvers<void>();
    // A client that reads nothing for so long is gone in all but name, and would keep its hold and its provider for ever.
    const stalled = setTimeout(() => this.#res.destroy(), CLIENT_STALL_MS);
    const proceed = () => {
      clearTimeout(stalled);
      this.#res.off('drain', proceed);
      this.#res.off('close', proceed);
      this.#resume = undefined;
      resolve();
    };
    this.#resume = proceed;
    this.#res.on('drain', proceed);
    this.#res.on('close', proceed);
    return promise;
  }

  #keep(bytes: Buffer): void {
    this.#sentBytes += bytes.length;
    if (this.#sentBytes > MOST_SENT_BYTES) this.#sent = undefined;
    this.#sent?.push(bytes);
  }

  /** Keeps proxies and clients with idle limits from giving up on a model that thinks for long. Event-stream parsers skip comments. */
  ping(afterSilenceMs: number): void {
    if (this.#isEventStream && !this.#isBusy && performance.now() - this.#lastWriteTick >= afterSilenceMs) void this.write(PING);
  }

  /** Nothing may be written any more but `last`. The digest of everything written and of `last`, which is to be written next, hex. */
  digestWith(last: Buffer): string {
    return this.#digest.update(last).digest('hex');
  }

  /** The same of one that may be large. */
  digestWithLarge(last: Buffer): Soon<string> {
    return last.length <= PIECE_BYTES ? this.digestWith(last) : withPieces(this.#digest, last).then((digest) => digest.digest('hex'));
  }

  /** Ends a whole answer. */
  end(last: Buffer): void {
    this.#isDetached = true;
    this.#res.end(last);
  }

  /** Ends an answer that is not whole: with an error, or, where none can be told apart in it, by breaking the connection. */
  breakOff(error: Buffer | undefined): void {
    this.detach();
    if (!error) {
      this.#res.destroy();
      return;
    }
    // A client that reads nothing does not read this either.
    const stalled = setTimeout(() => this.#res.destroy(), CLIENT_STALL_MS).unref();
    this.#res.once('close', () => clearTimeout(stalled));
    this.#res.end(error, () => clearTimeout(stalled));
  }

  /** A problem in place of an answer, while nothing was said. */
  refuse({ status, headers, body }: Reply): void {
    this.#isDetached = true;
    this.#res.writeHead(status, headers).end(body);
  }
}

/** Hashing many bytes takes long: other work has its turn meanwhile. */
async function withPieces(digest: Hash, bytes: Buffer): Promise<Hash> {
  const rest = breather();
  for (let at = 0; at < bytes.length; at += PIECE_BYTES) {
    digest.update(bytes.subarray(at, at + PIECE_BYTES));
    await rest();
  }
  return digest;
}
