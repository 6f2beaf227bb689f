import type { ReceiptUsage } from '@tallygate/contract';
import { andThen, inOrder, type Soon } from '../../kernel/soon.ts';
import type { Delivered, RunTools, ShownCost, StreamError, StreamFilter } from './answer-form.ts';
import { dataOf, eventSoFar, isJsonText, type Json, jsonOf, LONGEST_PARSED, mayTellUsage, nameOf, readLarge, USAGE } from './event-data.ts';
import { END_OF_EVENT, EventFrames, eventsOf, isKeepAlive, writtenEvent } from './event-frames.ts';
import { ToldUsage } from './told-usage.ts';
import { atLeast, isRecord, reportedUsage } from './usage.ts';
import { mostOfSeveral } from './usage-anywhere.ts';

/** What distinguishes the event streams whose events name their type, responses, messages, images, speech, transcripts, or can be given one. */
export interface EventForm {
  /** The type of an event, where events do not name it: an empty one where it is no event of the stream. */
  typeOf?(event: Json): string;
  /** No event says that it completes the answer: the last of those that belong to the end does, once the body is through. */
  readonly endsWithBody?: true;
  /** Whether events of the type are parsed; others pass as the bytes they came in. The final ones have to be among them. */
  isWatched(type: string): boolean;
  /** Whether the event completes the answer. */
  isFinal(type: string): boolean;
  /** Whether the event says nothing of the answer yet: it waits for the next one, until which another provider may still answer. */
  isOpening?(type: string): boolean;
  /** Whether the event, a watched one, belongs to the end: it is kept back with the final one, for the cost. */
  isEnding?(type: string): boolean;
  /** A watched event on its way through. */
  rewrite?(event: Json): Json;
  /** What the provider says in the event that it has used by then, with the events before it; of the final one, of the whole. */
  readUsage(event: Json): ReceiptUsage | undefined;
  /** The service tier that it names. */
  tierOf?(event: Json): string | undefined;
  /** The final event, or one that belongs to the end. */
  withCost(event: Json, cost: ShownCost): Json;
  /** The code of an error, where it stands in another place than `code`. */
  codeOf?(error: Json): unknown;
  /** What of the answer the event carries as text; for an estimate. */
  textOf(event: Json): string;
  /** The text of the whole answer, where the final event repeats it; some send nothing else. */
  wholeTextOf?(final: Json): string;
  /** What is kept of a complete answer. */
  valueOf?(final: Json): unknown;
  /** What the provider has run by then, where the request lets it run anything. */
  tools?(): RunTools;
}

const EMPTY = Buffer.alloc(0);
const KEPT_BYTES = 256 * 1024;

/** Passes whole events on, keeps the final one back for the cost, and stops at an error. */
export class TypedEventStream implements StreamFilter {
  readonly contentType = 'text/event-stream';
  readonly #form: EventForm;
  readonly #frames = new EventFrames();
  /** Events, and the text of those that are large. */
  #kept: (Buffer | string)[] = [];
  #keptBytes = 0;
  #passedBytes = 0;
  #hasPassed = false;
  #final: Json | undefined;
  /** Events that wait for the next one, and one that belongs to the end. */
  #opening: Buffer[] = [];
  #ending: Json | undefined;
  /** What the provider says with an error, or behind its end. */
  #used: ReceiptUsage | undefined;
  readonly #told = new ToldUsage();
  #serviceTier: string | undefined;
  #error: StreamError | undefined;
  #isInvalid = false;
  #isUnreadable = false;
  #isTooComplex = false;
  #sequence = -1;

  constructor(form: EventForm) {
    this.#form = form;
  }

  push(chunk: Buffer): Soon<Buffer> {
    if (!this.isOver) return this.#take(this.#frames.push(chunk));
    this.#hearBehindEnd(this.#frames.push(chunk));
    return EMPTY;
  }

  /** Some servers leave out the blank line behind the last event: where that is whole, it counts. */
  end(): Soon<Buffer> {
    const { isTooLarge } = this.#frames;
    const rest = this.#frames.end();
    if (this.isOver || isTooLarge || rest.length === 0) return this.#ended(EMPTY);
    if (rest.length <= LONGEST_PARSED && jsonOf(dataOf(rest.toString('utf8'))) === undefined) {
      this.#hear(eventSoFar(rest) ?? {}, false);
      return EMPTY;
    }
    return andThen(this.#take(Buffer.concat([rest, END_OF_EVENT])), (last) => this.#ended(last));
  }

  #ended(last: Buffer): Buffer {
    if (!this.#form.endsWithBody || this.isOver) return last;
    this.#final = this.#ending;
    this.#ending = undefined;
    return last;
  }

  get isOver(): boolean {
    return this.#final !== undefined || this.#error !== undefined || this.#isNoStream;
  }

  get isInvalid(): boolean {
    return this.#isNoStream || (!this.#hasPassed && this.#final === undefined && !this.isTooLarge);
  }

  get isTooLarge(): boolean {
    return this.#frames.isTooLarge || this.#isTooComplex;
  }

  /** An event behind others was none of these: from there on only the usage is wanted. */
  get isUnreadable(): boolean {
    return this.#isUnreadable;
  }

  /** Nothing of it has passed, and nothing will. */
  get #isNoStream(): boolean {
    return this.#isInvalid || (this.#frames.isInvalid && !this.#hasPassed);
  }

  get serviceTier(): string | undefined {
    return this.#serviceTier;
  }

  get error(): StreamError | undefined {
    return this.#error;
  }

  get isComplete(): boolean {
    return this.#final !== undefined && !this.isTooLarge && !this.#isUnreadable;
  }

  get usage(): ReceiptUsage | undefined {
    const used = (this.#final && this.#form.readUsage(this.#final)) ?? this.#used;
    return reportedUsage(used, () => this.isTooLarge || this.#isUnreadable || this.delivered().text !== '');
  }

  get usageSaid(): ReceiptUsage | undefined {
    return this.#told.with(this.#form.readUsage(eventSoFar(this.#frames.begun) ?? {}));
  }

  get hasUsageDecreased(): boolean {
    return this.#told.hasDecreased;
  }

  get value(): unknown {
    return this.#final && this.#form.valueOf?.(this.#final);
  }

  delivered(): Delivered {
    const text = this.#kept.map((kept) => (typeof kept === 'string' ? kept : this.#textOf(kept))).join('');
    const last = this.#final ? this.#form.textOf(this.#final) : '';
    if (text + last === '' && this.#final) return { text: this.#form.wholeTextOf?.(this.#final) ?? '', scale: 1, ...this.#tools() };
    return { text: text + last, scale: this.#keptBytes === 0 ? 1 : this.#passedBytes / this.#keptBytes, ...this.#tools() };
  }

  #tools(): Pick<Delivered, 'tools'> {
    const tools = this.#form.tools?.();
    return tools ? { tools } : {};
  }

  #textOf(events: Buffer): string {
    return eventsOf(events)
      .map((event) => jsonOf(dataOf(event.toString('utf8'))))
      .map((event) => (event ? this.#form.textOf(event) : ''))
      .join('');
  }

  lastBytes(cost: ShownCost): Soon<Buffer> {
    const last = [this.#ending, this.#final].filter((event) => event !== undefined);
    return andThen(
      inOrder(last, (event) => writtenEvent(this.#form.withCost(event, cost))),
      (written) => joined([...this.#opened(), ...written]),
    );
  }

  errorBytes({ message, code }: StreamError): Buffer {
    const sequence_number = this.#sequence + 1;
    const event = { type: 'error', code: code ?? 'server_error', message, param: null, sequence_number };
    return Buffer.from(`event: error\ndata: ${JSON.stringify(event)}\n\n`);
  }

  /** Of what comes behind an event that was left out, only the usage is wanted. */
  #take(events: Buffer): Soon<Buffer> {
    if (events.length === 0) return EMPTY;
    return andThen(
      inOrder(eventsOf(events), (event) => this.#takeEvent(event)),
      (taken) => this.#passed(taken.filter((event) => event !== undefined)),
    );
  }

  #passed(events: readonly Buffer[]): Buffer {
    if (this.isTooLarge) return EMPTY;
    return joined(events);
  }

  /** In place of the bytes, of which not all are kept. */
  #keep(kept: Buffer | string, bytes: number): void {
    this.#passedBytes += bytes;
    if (this.#keptBytes >= KEPT_BYTES) return;
    this.#kept.push(kept);
    this.#keptBytes += bytes;
  }

  #takeEvent(event: Buffer): Soon<Buffer | undefined> {
    if (this.isOver) this.#hearBehindEnd(event);
    if (this.isOver || !this.#isOfInterest(event)) return undefined;
    const isLarge = event.length > LONGEST_PARSED;
    return andThen(isLarge ? this.#passLarge(event) : this.#passEvent(event), (passed) => {
      if (!passed || this.#isUnreadable) return undefined;
      this.#sequence += 1;
      if (!isLarge) this.#keep(passed, passed.length);
      return joined([...this.#opened(), passed]);
    });
  }

  #opened(): Buffer[] {
    const opened = this.#opening;
    this.#opening = [];
    return opened;
  }

  /** Behind an event that was left out, most need not be parsed. */
  #isOfInterest(event: Buffer): boolean {
    if (event.length > LONGEST_PARSED || (!this.isTooLarge && !this.#isUnreadable)) return true;
    return mayTellUsage(event) || this.#form.isFinal(typeIn(event));
  }

  #passEvent(bytes: Buffer): Soon<Buffer | undefined> {
    // Before the first event another provider may still answer, and then they mean nothing.
    if (isKeepAlive(bytes)) return undefined;
    const text = bytes.toString('utf8');
    const data = dataOf(text);
    // Comments keep connections alive; before the first event another provider may still answer.
    if (data === undefined) return /^(:|event:|id:|retry:|\s*$)/.test(text) ? undefined : this.#refuse(bytes);
    if (data === '[DONE]') return undefined;
    const name = nameOf(text);
    if (this.#passesAsItIs(name)) {
      if (!isJsonText(data)) return this.#refuse(bytes);
      if (!this.#hasPassed && this.#form.isOpening?.(name ?? '')) return this.#wait(bytes);
      this.#hasPassed = true;
      // Inside a JSON string a quote is escaped: the pattern is found in keys and whole values only.
      if (bytes.includes(USAGE)) this.#hear(jsonOf(data) ?? {});
      return bytes;
    }
    const event = jsonOf(data);
    if (!event) return this.#refuse(bytes);
    const several = mostOfSeveral(bytes);
    if (several) this.#hear({ usage: several }, false);
    return this.#passWatched(event, bytes);
  }

  /** A large event is read whole, in pieces: nothing else may be kept of it. */
  async #passLarge(bytes: Buffer): Promise<Buffer | undefined> {
    const large = await readLarge(bytes);
    if (!large) return this.#refuse(bytes);
    const { name, value } = large;
    if (!value) {
      this.#isTooComplex = true;
      return undefined;
    }
    if (this.#passesAsItIs(name)) {
      this.#hasPassed = true;
      this.#hear(value);
    }
    const passed = this.#passesAsItIs(name) ? bytes : await this.#passWatched(value, bytes);
    if (passed) this.#keep(this.#form.textOf(value), passed.length);
    return passed;
  }

  #passesAsItIs(name: string | undefined): boolean {
    return name !== undefined && name !== 'error' && !this.#form.typeOf && !this.#form.isWatched(name);
  }

  #passWatched(event: Json, bytes: Buffer): Soon<Buffer | undefined> {
    const type = this.#form.typeOf?.(event) ?? (typeof event['type'] === 'string' ? event['type'] : '');
    this.#serviceTier = this.#form.tierOf?.(event) ?? this.#serviceTier;
    if (event['error'] || type === 'error' || type === 'response.failed') {
      this.#error = errorOf(event, this.#form);
      this.#used = this.#form.readUsage(event);
      return undefined;
    }
    if (type === '') return this.#refuse(bytes);
    if (this.#form.isFinal(type)) {
      this.#hear(event);
      this.#final = event;
      return undefined;
    }
    this.#hear(event);
    if (!this.#hasPassed && this.#form.isOpening?.(type)) return this.#wait(bytes);
    this.#hasPassed = true;
    if (this.#form.isEnding?.(type)) return this.#keepBack(event);
    return this.#form.rewrite && this.#form.isWatched(type) ? writtenEvent(this.#form.rewrite(event)) : bytes;
  }

  #wait(bytes: Buffer): undefined {
    this.#opening.push(bytes);
    return undefined;
  }

  /** Where one came before, that one passes. */
  #keepBack(event: Json): Soon<Buffer | undefined> {
    const before = this.#ending;
    this.#ending = event;
    return before && writtenEvent(before);
  }

  #hear(event: Json, isWhole = true): void {
    this.#told.hear(this.#form.readUsage(event), isWhole);
  }

  /** Of what comes behind the end only its usage is wanted: an `error` is followed by the response that failed. */
  #hearBehindEnd(events: Buffer): void {
    if (this.#isNoStream) return;
    for (const bytes of eventsOf(events).filter((event) => event.length <= LONGEST_PARSED && event.includes(USAGE))) {
      const said = this.#form.readUsage(jsonOf(dataOf(bytes.toString('utf8'))) ?? {});
      if (said) this.#used = atLeast(this.#used, said);
      this.#told.hear(said, true);
    }
  }

  /** While nothing has passed, another provider may still answer. Later on, this one's answer is read on for its usage. */
  #refuse(event: Buffer): undefined {
    this.#hear(eventSoFar(event) ?? {}, false);
    if (this.#hasPassed || this.isTooLarge) this.#isUnreadable = true;
    else this.#isInvalid = true;
    return undefined;
  }
}

/** A large event is not copied. */
const joined = (events: readonly Buffer[]): Buffer => (events.length === 1 && events[0] ? events[0] : Buffer.concat(events));

/** The type that the event says it is of, without parsing it. */
const typeIn = (event: Buffer): string => /"type" *: *"([^"]*)"/.exec(event.toString('latin1'))?.[1] ?? '';

function errorOf(event: Json, { codeOf }: EventForm): StreamError {
  const { response } = event;
  const error = isRecord(event['error']) ? event['error'] : isRecord(response) && isRecord(response['error']) ? response['error'] : event;
  const text = (value: unknown) => (typeof value === 'string' ? value.slice(0, 500) : undefined);
  return {
    message: text(error['message']) ?? 'The provider broke the stream off.',
    type: 'server_error',
    code: text(error['code']) ?? text(codeOf?.(error)) ?? null,
  };
}
