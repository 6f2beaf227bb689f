import { nextTurn, TURN_MS } from '../../kernel/turn.ts';
import { CollectedBody } from './collected-body.ts';
import { headerIn, type Refusal } from './fault.ts';
import { type UpstreamAnswer, type UpstreamCall, UpstreamCut } from './port.ts';

/** The end of the connection that a body flows from. `resume` may deliver chunks before it returns. */
interface Tap {
  pause(): void;
  resume(): void;
  /** Ends the call at the provider. */
  cut(): void;
  /** Told once: nothing of the body is wanted any more. */
  release(): void;
}

interface Reader {
  take(chunk: Buffer): void | Promise<void>;
  done(): void;
  fail(reason: unknown): void;
}

/** What may pile up until the relay begins to read, bytes. A plain answer is usually smaller and then never pauses its connection. */
const HIGH_WATER_BYTES = 64 * 1024;
/** The reader gets no more at once: of the smallest events that are no JSON, each of which throws an error, so many take some milliseconds. */
const PIECE_BYTES = 8 * 1024;

/**
 * A body between an HTTP connection that pushes and a relay that takes its time. Costs no promise and no timer a chunk:
 * one promise for the whole body, and one timer that looks at the time of the last byte when it fires. Other work has its turn between two
 * pieces, whatever the reader does with them.
 */
export class AnswerBody implements UpstreamAnswer {
  readonly ok = true;
  readonly status: number;
  readonly contentType: string | null;
  readonly #headers: Refusal['headers'];
  readonly #tap: Tap;
  readonly #idleTimeoutMs: number;
  readonly #onOverdue: (() => void) | undefined;
  readonly #queue: Buffer[] = [];
  #queuedBytes = 0;
  #reader: Reader | undefined;
  /** How the body ended at the provider's side; the reader learns of it after the chunks before it. */
  #end: 'complete' | UpstreamCut | undefined;
  /** Reader and timer are through: nothing that comes later matters. */
  #isSettled = false;
  #isPaused = false;
  /** The reader has not finished with the chunk it holds. */
  #isWaiting = false;
  /** For how long the reader has worked since others had their turn. */
  #busyMs = 0;
  #lastByteAt = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(
    { status, headers }: Pick<Refusal, 'status' | 'headers'>,
    tap: Tap,
    { idleTimeoutMs, onOverdue }: Pick<UpstreamCall, 'idleTimeoutMs' | 'onOverdue'>,
  ) {
    this.status = status;
    this.#headers = headers;
    this.contentType = headerIn(headers, 'content-type');
    this.#tap = tap;
    this.#idleTimeoutMs = idleTimeoutMs;
    this.#onOverdue = onOverdue;
  }

  header(name: string): string | null {
    return headerIn(this.#headers, name);
  }

  collect(maxBytes: number, onTooLarge?: () => void): Promise<Buffer> {
    const collected = new CollectedBody(maxBytes, onTooLarge);
    return new Promise((resolve, reject) => {
      const done = () => {
        try {
          resolve(collected.whole());
        } catch (error) {
          reject(error);
        }
      };
      const fail = (reason: unknown) => reject(reason instanceof UpstreamCut ? collected.cut(reason) : reason);
      this.#read({ take: (part) => collected.take(part), done, fail });
    });
  }

  /** When `onChunk` throws or rejects, the call is cancelled and `pump` rejects with that very error. */
  pump(onChunk: (chunk: Buffer) => void | Promise<void>): Promise<void> {
    return new Promise((resolve, reject) => this.#read({ take: onChunk, done: resolve, fail: reject }));
  }

  abort(): void {
    this.#breakOff('aborted');
  }

  /** The connection delivered a chunk. Comes after `pause` too: undici empties its parser when the provider closes. */
  push(chunk: Buffer): void {
    if (this.#isSettled || this.#end) return;
    this.#lastByteAt = performance.now();
    this.#queue.push(chunk);
    this.#queuedBytes += chunk.length;
    if (this.#reader && !this.#isWaiting && this.#queue.length === 1) this.#drain();
    else if (this.#queuedBytes >= HIGH_WATER_BYTES) this.#pause();
  }

  /** The connection delivered the last byte, or will not: with the reason why. */
  end(cut?: UpstreamCut): void {
    if (this.#isSettled || this.#end) return;
    this.#end = cut ?? 'complete';
    if (this.#reader && !this.#isWaiting && this.#queue.length === 0) this.#settle(this.#reader, this.#end);
  }

  #read(reader: Reader): void {
    this.#reader = reader;
    if (this.#isSettled) {
      if (this.#end instanceof UpstreamCut) reader.fail(this.#end);
      return;
    }
    this.#lastByteAt = performance.now();
    if (!this.#end) this.#watch(this.#idleTimeoutMs);
    this.#drain();
  }

  #drain(): void {
    const reader = this.#reader;
    if (!reader) return;
    while (!this.#isWaiting && !this.#isSettled) {
      const piece = this.#nextPiece();
      if (!piece) break;
      this.#hand(reader, piece);
    }
    if (this.#isWaiting || this.#isSettled) return;
    if (this.#end) this.#settle(reader, this.#end);
    else if (this.#isPaused) {
      this.#isPaused = false;
      this.#tap.resume();
    }
  }

  #nextPiece(): Buffer | undefined {
    const [chunk] = this.#queue;
    if (!chunk) return undefined;
    const piece = chunk.length > PIECE_BYTES ? chunk.subarray(0, PIECE_BYTES) : chunk;
    if (piece === chunk) this.#queue.shift();
    else this.#queue[0] = chunk.subarray(PIECE_BYTES);
    this.#queuedBytes -= piece.length;
    return piece;
  }

  #hand(reader: Reader, piece: Buffer): void {
    const began = performance.now();
    let wait: void | Promise<void>;
    try {
      wait = reader.take(piece);
    } catch (error) {
      this.#giveUp(error);
      return;
    }
    this.#busyMs += performance.now() - began;
    if (this.#busyMs >= TURN_MS) wait = Promise.resolve(wait).then(nextTurn);
    if (wait !== undefined) this.#waitFor(wait);
  }

  #waitFor(wait: Promise<void>): void {
    const began = performance.now();
    this.#isWaiting = true;
    this.#pause();
    wait.then(
      () => {
        // What was waited for may have been work: the next turn comes the sooner.
        this.#busyMs = this.#busyMs >= TURN_MS ? 0 : this.#busyMs + performance.now() - began;
        this.#isWaiting = false;
        this.#lastByteAt = performance.now();
        this.#drain();
      },
      (error: unknown) => this.#giveUp(error),
    );
  }

  #pause(): void {
    this.#isPaused = true;
    this.#tap.pause();
  }

  #watch(ms: number): void {
    this.#timer = setTimeout(() => {
      if (this.#idleMsLeft() > 0) this.#watch(this.#idleMsLeft());
      // Timers run before sockets are read: if it was this process that stood still, bytes may be waiting.
      else setImmediate(() => this.#judge());
    }, ms);
  }

  #judge(): void {
    if (this.#isSettled) return;
    const left = this.#idleMsLeft();
    if (left > 0) this.#watch(left);
    else if (this.#onOverdue) this.#onOverdue();
    else this.#breakOff('idle_timeout');
  }

  /** While the relay holds a chunk, the provider is not the one to wait for. */
  #idleMsLeft(): number {
    return this.#isWaiting ? this.#idleTimeoutMs : this.#lastByteAt + this.#idleTimeoutMs - performance.now();
  }

  #breakOff(reason: UpstreamCut['reason']): void {
    if (this.#isSettled) return;
    const cut = new UpstreamCut(reason);
    this.#end = cut;
    this.#giveUp(cut);
  }

  /** Ends it from our side, at once: chunks that nobody has taken are dropped. */
  #giveUp(reason: unknown): void {
    if (this.#isSettled) return;
    this.#queue.length = 0;
    this.#release();
    this.#tap.cut();
    this.#reader?.fail(reason);
  }

  #settle(reader: Reader, end: 'complete' | UpstreamCut): void {
    this.#release();
    if (end === 'complete') reader.done();
    else reader.fail(end);
  }

  #release(): void {
    this.#isSettled = true;
    clearTimeout(this.#timer);
    this.#tap.release();
  }
}
