import type { Dispatcher } from 'undici';
import { AnswerBody } from './answer-body.ts';
import { isPage, mayBePage } from './answered-page.ts';
import { ContentDecoding, isDecodable, isPlain } from './content-decoding.ts';
import { begun, cancelled, failed, faultOfConnection, headerIn, type Refusal, timedOut, unanswered } from './fault.ts';
import { type UpstreamAnswer, UpstreamCut, type UpstreamFault } from './port.ts';

type Controller = Dispatcher.DispatchController;
type Headers = Refusal['headers'];

/** More of a refusal than this is not read: its first lines say what is wrong. */
const MAX_REFUSAL_BYTES = 16 * 1024;
/** A provider that is at work for long says so every few seconds; those that send hints send one. */
const MOST_HEADS_AHEAD = 100;
/** How long a refusal may take to arrive once its status is known. */
const REFUSAL_TIMEOUT_MS = 2000;

/** What undici is told when we end a call; one for all, since nobody reads its stack. */
const CANCELLED = new Error('The gateway cancelled the call.');

const PAGE = 'A page came where the provider answers: a proxy or a portal on the way, or a base URL that is none of an API.';

export interface ExchangeOptions {
  readonly firstByteTimeoutMs: number;
  readonly idleTimeoutMs: number;
  /** As of an {@link UpstreamCall}. */
  readonly onOverdue?: (() => void) | undefined;
  /** The caller's: ends the exchange at whatever point it is. */
  readonly signal: AbortSignal;
  /** What an answer without success means. */
  readonly faultOf: (refusal: Refusal) => UpstreamFault;
  /** Told once, with the answer at its first body byte or with what took its place. */
  readonly settle: (outcome: UpstreamAnswer | UpstreamFault) => void;
}

/** One HTTP request as undici's dispatcher tells of it: becomes an {@link AnswerBody}, or a fault. */
export class HttpExchange implements Dispatcher.DispatchHandler {
  readonly #options: ExchangeOptions;
  #timer: NodeJS.Timeout | undefined;
  #controller: Controller | undefined;
  #wasSent = false;
  #status: number | null = null;
  #headers: Headers = {};
  /** Parts of an answer without success. */
  #refusal: Buffer[] | undefined;
  #refusalBytes = 0;
  /** Those that came ahead of the answer's. */
  #heads = 0;
  /** Of a body in an encoding that was not asked for. */
  #decoding: ContentDecoding | undefined;
  /** The beginning of a body that may be a page. */
  #beginning: Buffer | undefined;
  #body: AnswerBody | undefined;
  #isSettled = false;

  constructor(options: ExchangeOptions) {
    this.#options = options;
    // Timers run before sockets are read: if it was this process that stood still, the answer may be waiting.
    this.#timer = setTimeout(() => setImmediate(() => this.#giveUp()), options.firstByteTimeoutMs);
    options.signal.addEventListener('abort', this);
  }

  /** The caller's signal was aborted. */
  handleEvent(): void {
    if (this.#body) {
      this.#body.abort();
    } else {
      this.#settle(cancelled(this.#status));
      this.cut();
    }
  }

  pause(): void {
    if (this.#decoding) this.#decoding.pause();
    else this.#controller?.pause();
  }

  resume(): void {
    if (this.#decoding) this.#decoding.resume();
    else this.#controller?.resume();
  }

  cut(): void {
    this.#decoding?.close();
    this.#controller?.abort(CANCELLED);
  }

  /** The signal may outlive the exchange, so it must not keep it. */
  release(): void {
    this.#options.signal.removeEventListener('abort', this);
  }

  onRequestStart(controller: Controller): void {
    // Timed out, or cancelled, while it waited for a connection. Throwing takes the request back; aborting would also close the connection.
    if (this.#isSettled) throw CANCELLED;
    this.#controller = controller;
  }

  /** The whole request was written to the connection. */
  onRequestSent(): void {
    this.#wasSent = true;
  }

  onResponseStart(controller: Controller, status: number, headers: Headers): void {
    if (this.#isSettled) return;
    if (status < 200) {
      this.#hearAhead(status);
      return;
    }
    this.#status = status;
    this.#headers = headers;
    const encoding = (headerIn(headers, 'content-encoding') ?? '').trim().toLowerCase();
    if (isDecodable(encoding)) this.#decoding = new ContentDecoding(encoding, controller, { take: this.#take, end: this.#end });
    if (status >= 300) {
      this.#refusal = [];
      clearTimeout(this.#timer);
      this.#timer = setTimeout(() => this.#refuse(), Math.min(REFUSAL_TIMEOUT_MS, this.#options.idleTimeoutMs));
    } else if (!this.#decoding && !isPlain(encoding)) {
      this.#settle(begun(`The provider answered in the encoding ${encoding.slice(0, 40)}, which was not asked for.`, status));
      this.cut();
    } else if (mayBePage(this.#contentType)) this.#beginning = Buffer.alloc(0);
  }

  /** 103 and its like come before the answer. */
  #hearAhead(status: number): void {
    this.#heads += 1;
    if (this.#heads <= MOST_HEADS_AHEAD) return;
    this.#settle(unanswered(`The provider sent more than ${MOST_HEADS_AHEAD} heads with a status below 200 before its answer.`, status));
    this.cut();
  }

  onResponseData(_: Controller, chunk: Buffer): void {
    if (this.#decoding) this.#decoding.push(chunk);
    else this.#take(chunk);
  }

  onResponseEnd(): void {
    if (this.#decoding) this.#decoding.end();
    else this.#end();
  }

  onResponseError(_: Controller | null, error: Error): void {
    if (this.#decoding) this.#decoding.end(error);
    else this.#end(error);
  }

  readonly #take = (chunk: Buffer): void => {
    if (this.#body) {
      this.#body.push(chunk);
    } else if (this.#refusal) {
      this.#refusal.push(chunk);
      this.#refusalBytes += chunk.length;
      if (this.#refusalBytes > MAX_REFUSAL_BYTES) this.#refuse();
    } else if (this.#beginning) {
      this.#begin(Buffer.concat([this.#beginning, chunk]));
    } else if (!this.#isSettled) {
      this.#open().push(chunk);
    }
  };

  /** The body is through, or has broken off. */
  readonly #end = (error?: Error): void => {
    if (this.#beginning?.length && !this.#isSettled) this.#open().push(this.#beginning);
    if (this.#body) this.#body.end(error && new UpstreamCut('reset', { cause: error }));
    else if (this.#refusal) this.#settleRefusal();
    else if (error) this.#settle(faultOfConnection(error, { status: this.#status, wasSent: this.#wasSent }));
    else if (!this.#isSettled) this.#open().end();
    // The provider may go on sending what cannot be decoded.
    if (error && this.#decoding) this.#controller?.abort(CANCELLED);
  };

  #begin(beginning: Buffer): void {
    if (this.#isSettled) return;
    this.#beginning = beginning;
    const isFound = isPage(beginning);
    if (isFound === undefined) return;
    if (isFound) {
      // Nothing that generates answers with one, so nobody bills it: it is as if a connection had failed.
      this.#settle(failed(PAGE, null));
      this.cut();
    } else {
      this.#beginning = undefined;
      this.#open().push(beginning);
    }
  }

  /** The first byte did not come in time. */
  #giveUp(): void {
    if (this.#isSettled || this.#refusal) return;
    const { onOverdue } = this.#options;
    // What still waits for a connection was never sent, and costs nothing.
    if (onOverdue && this.#controller) {
      onOverdue();
      return;
    }
    this.#settle(timedOut(this.#options.firstByteTimeoutMs, this.#status));
    this.cut();
  }

  get #contentType(): string | null {
    return headerIn(this.#headers, 'content-type');
  }

  #open(): AnswerBody {
    this.#body = new AnswerBody({ status: this.#status ?? 200, headers: this.#headers }, this, this.#options);
    this.#settle(this.#body);
    return this.#body;
  }

  /** Enough of the refusal is known; the rest of it is not waited for. */
  #refuse(): void {
    if (this.#isSettled) return;
    this.#settleRefusal();
    this.cut();
  }

  #settleRefusal(): void {
    const body = Buffer.concat(this.#refusal ?? []).subarray(0, MAX_REFUSAL_BYTES);
    this.#settle(this.#options.faultOf({ status: this.#status ?? 0, headers: this.#headers, body }));
  }

  #settle(outcome: UpstreamAnswer | UpstreamFault): void {
    if (this.#isSettled) return;
    this.#isSettled = true;
    clearTimeout(this.#timer);
    if (!outcome.ok) this.release();
    this.#options.settle(outcome);
  }
}
