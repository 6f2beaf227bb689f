import type { ReceiptUsage } from '@tallygate/contract';
import type { ShownCost, StreamError, StreamFilter } from './answer-form.ts';
import { dataOf, eventsOf, jsonOf } from './sse-filter.ts';
import { isRecord } from './usage.ts';
import type { Delivered } from './work.ts';

type Json = Readonly<Record<string, unknown>>;

/** What distinguishes the event streams whose events name their type: responses, images, speech, transcripts. */
export interface EventForm {
  /** Whether events of the type are parsed; others pass as the bytes they came in. The final ones have to be among them. */
  isWatched(type: string): boolean;
  /** Whether the event completes the answer. */
  isFinal(type: string): boolean;
  /** A watched event on its way through. */
  rewrite?(event: Json): Json;
  readUsage(final: Json): ReceiptUsage | undefined;
  withCost(final: Json, cost: ShownCost): Json;
  /** What of the answer the event carries as text; for an estimate. */
  textOf(event: Json): string;
  /** What is kept of a complete answer. */
  valueOf?(final: Json): unknown;
}

const EMPTY = Buffer.alloc(0);
/** An event that never ends is no event: images come as one line of base64. */
const LONGEST_EVENT = 64 * 1024 * 1024;
const KEPT_BYTES = 1024 * 1024;

/** Passes whole events on, keeps the final one back for the cost, and stops at an error. */
export class TypedEventStream implements StreamFilter {
  readonly contentType = 'text/event-stream';
  readonly #form: EventForm;
  #carry: Buffer = EMPTY;
  /** Chunks since the carry was last joined: an event of many chunks is joined once it may have ended. */
  #arrived: Buffer[] = [];
  #arrivedBytes = 0;
  #kept: Buffer[] = [];
  #keptBytes = 0;
  #passedBytes = 0;
  #hasPassed = false;
  #final: Json | undefined;
  #error: StreamError | undefined;
  #isInvalid = false;
  #sequence = -1;

  constructor(form: EventForm) {
    this.#form = form;
  }

  push(chunk: Buffer): Buffer {
    if (this.isOver) return EMPTY;
    this.#arrived.push(chunk);
    this.#arrivedBytes += chunk.length;
    if (this.#carry.length + this.#arrivedBytes > LONGEST_EVENT) this.#isInvalid = true;
    // Only a line end can complete an event; base64 has none.
    if (!chunk.includes('\n')) return EMPTY;
    const bytes = Buffer.concat([this.#carry, ...this.#arrived]);
    this.#arrived = [];
    this.#arrivedBytes = 0;
    const end = endOfLastEvent(bytes);
    this.#carry = bytes.subarray(end);
    return this.#pass(bytes.subarray(0, end));
  }

  end(): Buffer {
    const rest = Buffer.concat([this.#carry, ...this.#arrived]);
    this.#carry = EMPTY;
    this.#arrived = [];
    if (this.isOver || jsonOf(dataOf(rest.toString('utf8'))) === undefined) return EMPTY;
    return this.#pass(Buffer.concat([rest, Buffer.from('\n\n')]));
  }

  get isOver(): boolean {
    return this.#final !== undefined || this.#error !== undefined || this.#isInvalid;
  }

  get isInvalid(): boolean {
    return this.#isInvalid || (!this.#hasPassed && this.#final === undefined);
  }

  get error(): StreamError | undefined {
    return this.#error;
  }

  get isComplete(): boolean {
    return this.#final !== undefined;
  }

  get usage(): ReceiptUsage | undefined {
    return this.#final && this.#form.readUsage(this.#final);
  }

  get value(): unknown {
    return this.#final && this.#form.valueOf?.(this.#final);
  }

  delivered(): Delivered {
    const text = eventsOf(Buffer.concat(this.#kept))
      .map((event) => jsonOf(dataOf(event.toString('utf8'))))
      .map((event) => (event ? this.#form.textOf(event) : ''))
      .join('');
    const last = this.#final ? this.#form.textOf(this.#final) : '';
    return { text: text + last, scale: this.#keptBytes === 0 ? 1 : this.#passedBytes / this.#keptBytes };
  }

  lastBytes(cost: ShownCost): Buffer {
    return this.#final ? Buffer.from(written(this.#form.withCost(this.#final, cost))) : EMPTY;
  }

  errorBytes({ message, code }: StreamError): Buffer {
    const sequence_number = this.#sequence + 1;
    return Buffer.from(written({ type: 'error', code: code ?? 'server_error', message, param: null, sequence_number }));
  }

  #pass(bytes: Buffer): Buffer {
    const passed: Buffer[] = [];
    for (const event of eventsOf(bytes)) {
      const kept = this.#passEvent(event);
      if (kept) passed.push(kept);
      if (this.isOver) break;
    }
    const out = passed.length === 1 && passed[0] ? passed[0] : Buffer.concat(passed);
    this.#passedBytes += out.length;
    if (this.#keptBytes < KEPT_BYTES && out.length > 0) {
      this.#kept.push(out);
      this.#keptBytes += out.length;
    }
    return out;
  }

  #passEvent(bytes: Buffer): Buffer | undefined {
    const text = bytes.toString('utf8');
    const data = dataOf(text);
    // Comments keep connections alive; before the first event another provider may still answer.
    if (data === undefined) return this.#refuseOrDrop(text);
    if (data === '[DONE]') return undefined;
    const named = /^event: *(\S+)/m.exec(text)?.[1];
    if (named !== undefined && named !== 'error' && !this.#form.isWatched(named)) {
      this.#hasPassed = true;
      this.#sequence += 1;
      return bytes;
    }
    const event = jsonOf(data);
    if (!event) {
      this.#isInvalid = true;
      return undefined;
    }
    return this.#passWatched(event, bytes);
  }

  #passWatched(event: Json, bytes: Buffer): Buffer | undefined {
    const type = typeof event['type'] === 'string' ? event['type'] : '';
    if (event['error'] || type === 'error' || type === 'response.failed') {
      this.#error = errorOf(event);
      return undefined;
    }
    if (type === '') {
      this.#isInvalid = true;
      return undefined;
    }
    if (this.#form.isFinal(type)) {
      this.#final = event;
      return undefined;
    }
    this.#hasPassed = true;
    this.#sequence += 1;
    return this.#form.rewrite && this.#form.isWatched(type) ? Buffer.from(written(this.#form.rewrite(event))) : bytes;
  }

  #refuseOrDrop(text: string): Buffer | undefined {
    if (!/^(:|event:|id:|retry:|\s*$)/.test(text)) this.#isInvalid = true;
    return undefined;
  }
}

const written = (event: Json): string => `event: ${String(event['type'])}\ndata: ${JSON.stringify(event)}\n\n`;

function errorOf(event: Json): StreamError {
  const { response } = event;
  const error = isRecord(event['error']) ? event['error'] : isRecord(response) && isRecord(response['error']) ? response['error'] : event;
  const text = (value: unknown) => (typeof value === 'string' ? value.slice(0, 500) : undefined);
  return {
    message: text(error['message']) ?? 'The provider broke the stream off.',
    type: 'server_error',
    code: text(error['code']) ?? null,
  };
}

/** Where the last whole event ends: behind a blank line, with either kind of line end. */
function endOfLastEvent(bytes: Buffer): number {
  const [lf, crlf] = [bytes.lastIndexOf('\n\n'), bytes.lastIndexOf('\n\r\n')];
  return Math.max(lf < 0 ? 0 : lf + 2, crlf < 0 ? 0 : crlf + 3);
}
