import type { OutgoingHttpHeaders } from 'node:http';
import { Writable } from 'node:stream';
import type { StreamReceiver } from '../client-stream.ts';
import { jsonOf } from '../event-data.ts';
import { FIRST_OF_RUN } from './background-responses.ts';
import type { Json } from './stored-responses.ts';
import { toldEvents } from './told-events.ts';

/** So long events wait for those behind them, milliseconds: one write for many. */
const GATHER_MS = 100;
/** The creation has written its own. */
const LEFT_OUT = new Set(['response.created', 'response.queued']);
const EMPTY = Buffer.alloc(0);

/** Receives a response's stream and keeps its events, numbered on from those of the creation. */
export class EventRecorder extends Writable implements StreamReceiver {
  headersSent = false;
  /** What was answered instead of a stream. */
  refusal: Json | undefined;
  /** What ended the stream before its end. */
  error: Json | undefined;
  readonly #save: (events: readonly Json[]) => Promise<void>;
  #status = 0;
  #carry: Buffer = EMPTY;
  #waiting: Json[] = [];
  #next = FIRST_OF_RUN;
  #timer: NodeJS.Timeout | undefined;
  #saving: Promise<void> = Promise.resolve();

  constructor(save: (events: readonly Json[]) => Promise<void>) {
    super();
    this.#save = save;
  }

  get nextSequence(): number {
    return this.#next;
  }

  writeHead(status: number, _headers: OutgoingHttpHeaders): this {
    this.headersSent = true;
    this.#status = status;
    return this;
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: (error?: Error | null) => void): void {
    const bytes = this.#carry.length === 0 ? chunk : Buffer.concat([this.#carry, chunk]);
    const end = this.#status === 200 ? bytes.lastIndexOf('\n\n') + 2 : 0;
    const isWhole = end >= 2;
    this.#carry = isWhole ? bytes.subarray(end) : bytes;
    if (!isWhole) done();
    else this.#record(bytes.subarray(0, end)).then(() => done(), done);
  }

  async #record(bytes: Buffer): Promise<void> {
    for (const event of await toldEvents(bytes)) this.#take(event);
    if (this.#waiting.length > 0) this.#timer ??= setTimeout(() => this.#flush(), GATHER_MS);
  }

  override _final(done: (error?: Error | null) => void): void {
    if (this.#status !== 200) this.refusal = jsonOf(this.#carry.toString('utf8'));
    this.#flush();
    this.#saving.then(() => done(), done);
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    clearTimeout(this.#timer);
    done(error);
  }

  #take(event: Json): void {
    if (LEFT_OUT.has(String(event['type']))) return;
    if (event['type'] === 'error') {
      this.error = event;
      return;
    }
    this.#waiting.push({ ...event, sequence_number: this.#next });
    this.#next += 1;
  }

  #flush(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const events = this.#waiting;
    this.#waiting = [];
    if (events.length === 0) return;
    this.#saving = this.#saving.then(() => this.#save(events));
    // A write that fails is reported at the end, and ends it now: nobody could follow any more.
    this.#saving.catch((error: unknown) => this.destroy(error instanceof Error ? error : new Error(String(error))));
  }
}
