import type { ReceiptUsage } from '@tallygate/contract';
import type { ShownCost, StreamError, StreamFilter } from './answer-form.ts';
import { EventFrames, eventsOf, isKeepAlive } from './event-frames.ts';
import { dataOf, isJsonText, jsonOf } from './sse-filter.ts';
import { atLeast, isRecord, reportedUsage } from './usage.ts';
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
  /** What the provider says in the event that it has used by then, with the events before it; of the final one, of the whole. */
  readUsage(event: Json): ReceiptUsage | undefined;
  withCost(final: Json, cost: ShownCost): Json;
  /** What of the answer the event carries as text; for an estimate. */
  textOf(event: Json): string;
  /** The text of the whole answer, where the final event repeats it; some send nothing else. */
  wholeTextOf?(final: Json): string;
  /** What is kept of a complete answer. */
  valueOf?(final: Json): unknown;
}

const EMPTY = Buffer.alloc(0);
const USAGE = Buffer.from('"usage"');
const KEPT_BYTES = 256 * 1024;

/** Passes whole events on, keeps the final one back for the cost, and stops at an error. */
export class TypedEventStream implements StreamFilter {
  readonly contentType = 'text/event-stream';
  readonly #form: EventForm;
  readonly #frames = new EventFrames();
  #kept: Buffer[] = [];
  #keptBytes = 0;
  #passedBytes = 0;
  #hasPassed = false;
  #final: Json | undefined;
  /** What the provider says with an error, or behind it. */
  #used: ReceiptUsage | undefined;
  #said: ReceiptUsage | undefined;
  #error: StreamError | undefined;
  #isInvalid = false;
  #isUnreadable = false;
  #sequence = -1;

  constructor(form: EventForm) {
    this.#form = form;
  }

  push(chunk: Buffer): Buffer {
    if (this.#error !== undefined) this.#hearBehindError(this.#frames.push(chunk));
    return this.isOver ? EMPTY : this.#take(this.#frames.push(chunk));
  }

  end(): Buffer {
    const { isTooLarge } = this.#frames;
    const rest = this.#frames.end();
    if (this.isOver || isTooLarge || jsonOf(dataOf(rest.toString('utf8'))) === undefined) return EMPTY;
    return this.#take(Buffer.concat([rest, Buffer.from('\n\n')]));
  }

  get isOver(): boolean {
    return this.#final !== undefined || this.#error !== undefined || this.#isNoStream;
  }

  get isInvalid(): boolean {
    return this.#isNoStream || (!this.#hasPassed && this.#final === undefined && !this.isTooLarge);
  }

  get isTooLarge(): boolean {
    return this.#frames.isTooLarge;
  }

  /** An event behind others was none of these: from there on only the usage is wanted. */
  get isUnreadable(): boolean {
    return this.#isUnreadable;
  }

  /** Nothing of it has passed, and nothing will. */
  get #isNoStream(): boolean {
    return this.#isInvalid || (this.#frames.isInvalid && !this.#hasPassed);
  }

  get error(): StreamError | undefined {
    return this.#error;
  }

  get isComplete(): boolean {
    return this.#final !== undefined && !this.isTooLarge && !this.#isUnreadable;
  }

  get usage(): ReceiptUsage | undefined {
    const used = this.#final ? this.#form.readUsage(this.#final) : this.#used;
    return reportedUsage(used, () => this.isTooLarge || this.#isUnreadable || this.delivered().text !== '');
  }

  get usageSaid(): ReceiptUsage | undefined {
    return this.#said;
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
    if (text + last === '' && this.#final) return { text: this.#form.wholeTextOf?.(this.#final) ?? '', scale: 1 };
    return { text: text + last, scale: this.#keptBytes === 0 ? 1 : this.#passedBytes / this.#keptBytes };
  }

  lastBytes(cost: ShownCost): Buffer {
    return this.#final ? Buffer.from(written(this.#form.withCost(this.#final, cost))) : EMPTY;
  }

  errorBytes({ message, code }: StreamError): Buffer {
    const sequence_number = this.#sequence + 1;
    return Buffer.from(written({ type: 'error', code: code ?? 'server_error', message, param: null, sequence_number }));
  }

  /** Of what comes behind an event that was left out, only the usage is wanted. */
  #take(events: Buffer): Buffer {
    if (events.length === 0) return EMPTY;
    const passed = this.#pass(events);
    return this.isTooLarge ? EMPTY : passed;
  }

  #pass(bytes: Buffer): Buffer {
    const passed: Buffer[] = [];
    for (const event of eventsOf(bytes)) {
      if (this.#error !== undefined) this.#hearBehindError(event);
      if (this.isOver) continue;
      const kept = this.#passEvent(event);
      if (kept && !this.#isUnreadable) {
        passed.push(kept);
        this.#sequence += 1;
      }
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
    // Before the first event another provider may still answer, and then they mean nothing.
    if (isKeepAlive(bytes)) return undefined;
    const text = bytes.toString('utf8');
    const data = dataOf(text);
    // Comments keep connections alive; before the first event another provider may still answer.
    if (data === undefined) return this.#refuseOrDrop(text);
    if (data === '[DONE]') return undefined;
    const named = /^event: *(\S+)/m.exec(text)?.[1];
    if (named !== undefined && named !== 'error' && !this.#form.isWatched(named)) {
      if (!isJsonText(data)) return this.#refuse();
      this.#hasPassed = true;
      // Inside a JSON string a quote is escaped: the pattern is found in keys and whole values only.
      if (bytes.includes(USAGE)) this.#hear(jsonOf(data) ?? {});
      return bytes;
    }
    const event = jsonOf(data);
    if (!event) return this.#refuse();
    return this.#passWatched(event, bytes);
  }

  #passWatched(event: Json, bytes: Buffer): Buffer | undefined {
    const type = typeof event['type'] === 'string' ? event['type'] : '';
    if (event['error'] || type === 'error' || type === 'response.failed') {
      this.#error = errorOf(event);
      this.#used = this.#form.readUsage(event);
      return undefined;
    }
    if (type === '') return this.#refuse();
    if (this.#form.isFinal(type)) {
      this.#hear(event);
      this.#final = event;
      return undefined;
    }
    this.#hasPassed = true;
    this.#hear(event);
    return this.#form.rewrite && this.#form.isWatched(type) ? Buffer.from(written(this.#form.rewrite(event))) : bytes;
  }

  #hear(event: Json): void {
    const said = this.#form.readUsage(event);
    if (said) this.#said = atLeast(this.#said, said);
  }

  /** Of what comes behind an error only its usage is wanted: an `error` is followed by the response that failed. */
  #hearBehindError(events: Buffer): void {
    for (const bytes of eventsOf(events)) {
      const said = this.#form.readUsage(jsonOf(dataOf(bytes.toString('utf8'))) ?? {});
      if (said) this.#used = atLeast(this.#used, said);
    }
  }

  #refuseOrDrop(text: string): Buffer | undefined {
    return /^(:|event:|id:|retry:|\s*$)/.test(text) ? undefined : this.#refuse();
  }

  /** While nothing has passed, another provider may still answer. Later on, this one's answer is read on for its usage. */
  #refuse(): undefined {
    if (this.#hasPassed || this.isTooLarge) this.#isUnreadable = true;
    else this.#isInvalid = true;
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
