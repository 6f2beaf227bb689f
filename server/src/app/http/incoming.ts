import { createHash } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { Problem } from '../../kernel/problem.ts';

export interface IncomingLimits {
  /** Of the whole body. */
  readonly maxBytes: number;
  /** How long nothing at all may arrive while we wait for it. */
  readonly idleTimeoutMs: number;
  /** From the call to the last byte. */
  readonly timeoutMs: number;
}

/** Throws away what is still to come of a refused body, for as long as the front allows: a client that is cut off while it writes never reads why. */
export function discardRest(request: IncomingMessage): void {
  if (request.readableEnded || request.destroyed) return;
  request.on('error', () => {});
  request.resume();
}

/** The body of a request, a chunk at a time, hashed and measured as it passes. The socket is read on demand only. */
export class Incoming implements AsyncIterable<Uint8Array> {
  readonly #request: IncomingMessage;
  readonly #limits: IncomingLimits;
  readonly #deadline: number;
  readonly #hash = createHash('sha256');
  #bytes = 0;

  constructor(request: IncomingMessage, limits: IncomingLimits) {
    this.#request = request;
    this.#limits = limits;
    this.#deadline = performance.now() + limits.timeoutMs;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** Of all that was read, in hex; to be asked once. */
  sha256(): string {
    return this.#hash.digest('hex');
  }

  /** @throws Problem `payload_too_large` (before reading, where the length is declared), `request_timeout` */
  async *[Symbol.asyncIterator](): AsyncGenerator<Uint8Array, void, undefined> {
    const { maxBytes } = this.#limits;
    if (Number(this.#request.headers['content-length'] ?? 0) > maxBytes) throw tooLarge(maxBytes);
    for (;;) {
      const chunk = await this.#next();
      if (chunk === undefined) return;
      this.#bytes += chunk.length;
      if (this.#bytes > maxBytes) throw tooLarge(maxBytes);
      this.#hash.update(chunk);
      yield chunk;
    }
  }

  /** Undefined at the end. */
  #next(): Promise<Buffer | undefined> {
    const request = this.#request;
    if (request.readableEnded) return Promise.resolve(undefined);
    if (request.destroyed) return Promise.reject(hungUp());
    const { idleTimeoutMs, timeoutMs } = this.#limits;
    const untilDeadlineMs = this.#deadline - performance.now();
    return new Promise((resolve, reject) => {
      const settle = () => {
        clearTimeout(timer);
        request.off('data', onData).off('end', onEnd).off('close', onClose).off('error', onClose);
        request.pause();
      };
      const onData = (chunk: Buffer) => {
        settle();
        resolve(chunk);
      };
      const onEnd = () => {
        settle();
        resolve(undefined);
      };
      const onClose = () => {
        settle();
        reject(hungUp());
      };
      const onTimeout = () => {
        settle();
        reject(untilDeadlineMs < idleTimeoutMs ? tooSlow(timeoutMs) : silent(idleTimeoutMs));
      };
      const timer = setTimeout(onTimeout, Math.max(0, Math.min(idleTimeoutMs, untilDeadlineMs)));
      request.on('data', onData).on('end', onEnd).on('close', onClose).on('error', onClose);
      request.resume();
    });
  }
}

const hungUp = (): Problem => new Problem('request_timeout', 'The connection closed before the whole body had arrived.');
const tooLarge = (maxBytes: number): Problem =>
  new Problem('payload_too_large', `The body is larger than the ${maxBytes} bytes that this endpoint accepts.`);

/** The connection is in the middle of a body that is not read any more, so it cannot be used again. */
const CLOSE = { headers: { connection: 'close' } };
const tooSlow = (timeoutMs: number): Problem =>
  new Problem('request_timeout', `The body did not arrive within ${timeoutMs / 1000} seconds: send it again.`, CLOSE);
const silent = (idleTimeoutMs: number): Problem =>
  new Problem('request_timeout', `Nothing of the body arrived for ${idleTimeoutMs / 1000} seconds: send it again.`, CLOSE);
