import type { ReceiptUsage } from '@tallygate/contract';
import { andThen, type Soon } from '../../kernel/soon.ts';
import { breather } from '../../kernel/turn.ts';
import type { StreamError } from './answer-form.ts';
import { type ChoiceUsages, textOfChunk, usageOfChunk } from './chat-chunk.ts';
import { finishedIn, isBlank, isPlain, isWhole, needsCare, streamError } from './chat-events.ts';
import { dataOf, eventSoFar, type Json, jsonOf, LONGEST_PARSED, mayTellUsage, nameOf } from './event-data.ts';
import { dataEventsOf, END_OF_EVENT, EventFrames, eventsOf, isKeepAlive } from './event-frames.ts';
import { inShort, largeChunkOf } from './large-chunk.ts';
import { tierSaid } from './service-tier.ts';
import { ToldUsage } from './told-usage.ts';
import { leastUsage, readUsage, reportedUsage } from './usage.ts';
import { mostOfSeveral, usageAnywhere } from './usage-anywhere.ts';

const EMPTY = Buffer.alloc(0);
const CHOICES = Buffer.from('"choices"');
const COLON = 58;
/** How much of what was passed on is kept for an estimate, should the provider never say what it used. */
const KEPT_BYTES = 256 * 1024;
/** More events than any provider sends behind the one with the finish reason. */
const TAIL_PIECES = 32;
/** Of pieces before the last. */
const TAIL_BYTES = 64 * 1024;

/**
 * Server-sent chat completion chunks on their way to the client. Whole events pass as the bytes they came in; beyond whether they are JSON,
 * only those that may carry usage, an error or the end are looked into. Usage never passes: it is kept, and the gateway's own last chunk shows it to whom it was asked for.
 */
export class SseFilter {
  readonly #frames: EventFrames;
  #kept: Buffer[] = [];
  #keptBytes = 0;
  #passedBytes = 0;
  /** What was passed on last: whether the stream was finished is only asked at its end. */
  readonly #tail: Buffer[] = [];
  #tailBytes = 0;
  /** Asked of each event behind it that can't be read: it is looked through once. */
  #isFinished: boolean | undefined;
  /** The chunk that the stream's own last one is modelled on: the first, or the first with a choice where a preamble without one precedes. */
  #first: Json | undefined;
  #hasChoice = false;
  #usage: unknown;
  readonly #byChoice: ChoiceUsages = new Map();
  readonly #told = new ToldUsage();
  /** Text came behind the usage: it was none of the whole. */
  #hasGoneOn = false;
  #serviceTier: string | undefined;
  #error: StreamError | undefined;
  #isDone = false;
  #isInvalid = false;
  #isUnreadable = false;
  /** The provider closed the stream in the middle of an event. */
  #isCutShort = false;

  /** @param longestEvent an event with more bytes is left out; 32 MiB by default */
  constructor(longestEvent?: number) {
    this.#frames = new EventFrames(longestEvent);
  }

  /** Takes bytes in, gives back those that may go on: whole events, none of them the last. */
  push(chunk: Buffer): Soon<Buffer> {
    if (!this.isOver) return this.#take(this.#frames.push(chunk));
    this.#hearBehindEnd(this.#frames.push(chunk));
    return EMPTY;
  }

  /** The provider closed the stream. Some leave out the blank line behind the last event: where that is whole, it counts. */
  end(): Soon<Buffer> {
    const { isTooLarge } = this.#frames;
    const rest = this.#frames.end();
    if (isTooLarge) this.#isCutShort = true;
    return this.#isCutShort ? EMPTY : andThen(isWhole(rest), (whole) => this.#end(rest, whole));
  }

  #end(rest: Buffer, isWhole: boolean): Soon<Buffer> {
    this.#isCutShort = !isWhole;
    if (!isWhole) this.#hearBegun(rest);
    return this.isOver || !isWhole || isBlank(rest) ? EMPTY : this.#take(Buffer.concat([rest, END_OF_EVENT]));
  }

  /** Nothing more is taken in: the end was announced, an error was, or the bytes are no event stream. */
  get isOver(): boolean {
    return this.#isDone || this.#isNoStream || this.#error !== undefined;
  }

  /** Whether the bytes so far are none of a chat completion stream. */
  get isInvalid(): boolean {
    return this.#isNoStream || (this.#first === undefined && !this.isTooLarge);
  }

  /** An event was too large to be kept: from there on nothing is passed on, and the rest is looked through for its usage. */
  get isTooLarge(): boolean {
    return this.#frames.isTooLarge;
  }

  /** An event behind others was no JSON: from there on as with one that is too large. */
  get isUnreadable(): boolean {
    return this.#isUnreadable;
  }

  /** Nothing of it has passed, and nothing will. */
  get #isNoStream(): boolean {
    return this.#isInvalid || (this.#frames.isInvalid && this.#passedBytes === 0);
  }

  get serviceTier(): string | undefined {
    return this.#serviceTier;
  }

  get error(): StreamError | undefined {
    return this.#error;
  }

  /** The most that the provider has said by now. */
  get usageSaid(): ReceiptUsage | undefined {
    return this.#told.with(leastIn(this.#frames.begun)) ?? leastUsage(usageAnywhere(Buffer.concat(this.#tail)));
  }

  get hasUsageDecreased(): boolean {
    return this.#told.hasDecreased;
  }

  #hearBegun(event: Buffer): void {
    this.#told.hear(leastIn(event), false);
  }

  /** The provider's last usage, or the one with its error; undefined where text came behind it, or where it is zero beside a text. */
  get usage(): unknown {
    if (this.#hasGoneOn) return undefined;
    return reportedUsage(readUsage(this.#usage), () => this.#hasContent) && this.#usage;
  }

  get #hasContent(): boolean {
    return this.isTooLarge || this.#isUnreadable || this.delivered().text !== '';
  }

  /** Whether the stream came to its end: `[DONE]`, or from providers that leave it out, a finish reason. */
  get isComplete(): boolean {
    if (this.isTooLarge || this.#isUnreadable) return false;
    return this.#isDone || (!this.isOver && !this.#isCutShort && this.#frames.isEmpty && this.#isTailFinished());
  }

  /** A chunk without choices that shows the usage, in the name of the stream's other chunks. */
  usageChunk(usage: Json, { object = 'chat.completion.chunk', id: own }: { object?: string; id?: string | undefined } = {}): string {
    const { id: given, created, model, system_fingerprint, service_tier } = this.#first ?? {};
    return `data: ${JSON.stringify({ id: own ?? given, object, created, model, service_tier, system_fingerprint, choices: [], usage })}\n\n`;
  }

  /** The text that was passed on (content, reasoning, refusals, tool calls), and by how much it has to be scaled up where not all of it was kept. */
  delivered(): { text: string; scale: number } {
    const text = dataEventsOf(Buffer.concat(this.#kept))
      .map((event) => textOfChunk(jsonOf(dataOf(event.toString('utf8')))))
      .join('');
    return { text, scale: this.#keptBytes === 0 ? 1 : this.#passedBytes / this.#keptBytes };
  }

  #take(events: Buffer): Soon<Buffer> {
    if (events.length === 0) return EMPTY;
    return events.length > LONGEST_PARSED ? this.#takeLarge(events) : this.#takeSmall(events);
  }

  #takeSmall(events: Buffer): Buffer {
    if (!this.isTooLarge && !this.#isUnreadable) return this.#pass(events);
    this.#filter(events);
    return EMPTY;
  }

  async #takeLarge(events: Buffer): Promise<Buffer> {
    const rest = breather();
    const passed: Buffer[] = [];
    for (const event of eventsOf(events)) {
      if (this.isOver) this.#hearBehindEnd(event);
      else passed.push(event.length > LONGEST_PARSED ? await this.#takeLargeEvent(event) : this.#takeSmall(event));
      await rest();
    }
    return joined(passed.filter(({ length }) => length > 0));
  }

  /** Passes as the bytes it came in. Of any other form than one line with one object nobody sends events as large. */
  async #takeLargeEvent(event: Buffer): Promise<Buffer> {
    const chunk = await largeChunkOf(event);
    if (!chunk) this.#refuseLarge();
    const passed = chunk && this.#filterChunk(chunk, event);
    if (!passed || this.isOver || this.isTooLarge || this.#isUnreadable) return EMPTY;
    this.#keep(inShort(chunk), passed.length);
    return passed;
  }

  #refuseLarge(): void {
    if (this.#first === undefined) this.#isInvalid = true;
    else this.#refuse([]);
  }

  #pass(events: Buffer): Buffer {
    const isOrdinary = this.#hasChoice && this.#usage === undefined && isPlain(events) && !needsCare(events);
    const passed = isOrdinary ? events : this.#filter(events);
    this.#keep(passed, passed.length);
    return passed;
  }

  #filter(bytes: Buffer): Buffer {
    const passed: Buffer[] = [];
    for (const event of eventsOf(bytes)) {
      if (this.isOver) this.#hearBehindEnd(event);
      if (this.isOver || !this.#isOfInterest(event)) continue;
      const kept = this.#filterEvent(event, passed);
      if (this.isOver) continue;
      if (kept && !this.#isUnreadable) passed.push(kept);
    }
    return joined(passed);
  }

  /** Behind an event that was left out, most need not be parsed. Text behind the usage shows that this was none of the whole. */
  #isOfInterest(event: Buffer): boolean {
    if (!this.isTooLarge && !this.#isUnreadable) return true;
    return mayTellUsage(event) || (this.#usage !== undefined && !this.#hasGoneOn && event.includes(CHOICES));
  }

  #filterEvent(event: Buffer, before: readonly Buffer[]): Buffer | undefined {
    // Before the first chunk they are withheld: while the client has seen nothing, another provider may still answer.
    if (isKeepAlive(event)) return this.#first === undefined ? undefined : event;
    const text = event.toString('utf8');
    const data = dataOf(text);
    if (data === undefined) {
      if (this.#first !== undefined) return event;
      // Bytes that are no field at all are no event stream.
      if (!/^(:|event:|id:|retry:|\s*$)/.test(text)) this.#isInvalid = true;
      return undefined;
    }
    if (data === '[DONE]') {
      this.#isDone = true;
      return undefined;
    }
    const chunk = jsonOf(data);
    if (this.#first !== undefined && chunk === undefined) {
      this.#hearBegun(event);
      // Its reader would throw. Behind the end nothing is lost with it, before it the reader is told what happened.
      if (!(finishedIn(before) ?? this.#isTailFinished())) this.#refuse(before);
      return undefined;
    }
    if (chunk) this.#told.hear(leastUsage(mostOfSeveral(event)), false);
    const name = chunk?.['choices'] ? undefined : nameOf(text);
    if (name === 'usage' && chunk && !chunk['usage']) return this.#filterChunk({ usage: chunk }, event);
    return this.#filterChunk(name === 'error' ? { error: chunk ?? data, ...chunk } : chunk, event);
  }

  #filterChunk(chunk: Json | undefined, event: Buffer): Buffer | undefined {
    this.#serviceTier = tierSaid(chunk) ?? this.#serviceTier;
    if (chunk?.['error']) {
      this.#error = streamError(chunk['error']);
      this.#usage = usageOfChunk(chunk);
      this.#hasGoneOn = false;
      return undefined;
    }
    const choices = chunk?.['choices'];
    if (!this.#hasChoice && Array.isArray(choices)) {
      this.#first = chunk;
      this.#hasChoice = choices.length > 0;
    }
    if (this.#first === undefined) this.#isInvalid = true;
    const { usage: atTop, ...rest } = chunk ?? {};
    const usage = usageOfChunk(chunk, this.#byChoice);
    if (typeof usage !== 'object' || usage === null) {
      if (this.#usage !== undefined && textOfChunk(chunk) !== '') this.#hasGoneOn = true;
      return event;
    }
    this.#hear(usage);
    if (!Array.isArray(choices) || choices.length === 0) return undefined;
    // To write a large one anew would take too long: its usage may be seen. What Groq and others tell elsewhere passes.
    return event.length > LONGEST_PARSED || !atTop ? event : Buffer.from(`data: ${JSON.stringify(rest)}\n\n`);
  }

  /** Some tell of it with every chunk: it grows. What is no usage tells nothing. */
  #hear(usage: unknown): void {
    const [read, least] = [readUsage(usage), leastUsage(usage)];
    this.#told.hear(least, read !== undefined);
    if (!read) return;
    if (read.output_tokens >= (readUsage(this.#usage)?.output_tokens ?? 0)) this.#usage = usage;
    this.#hasGoneOn = false;
  }

  /** Some tell of it behind an error, or behind what they call the end. */
  #hearBehindEnd(events: Buffer): void {
    if (this.#isNoStream) return;
    for (const event of eventsOf(events))
      if (event.length <= LONGEST_PARSED) this.#hear(usageOfChunk(jsonOf(dataOf(event.toString('utf8'))), this.#byChoice));
  }

  /** While nothing has passed, another provider may still answer. Later on, this one's answer is read on for its usage. */
  #refuse(before: readonly Buffer[]): void {
    if (this.isTooLarge || this.#passedBytes > 0 || before.length > 0) this.#isUnreadable = true;
    else this.#error = streamError('The provider sent something that is no event of a stream.');
  }

  #isTailFinished(): boolean {
    this.#isFinished ??= finishedIn(this.#tail) ?? false;
    return this.#isFinished;
  }

  #keepTail(piece: Buffer): void {
    this.#isFinished = undefined;
    this.#tail.push(piece);
    this.#tailBytes += piece.length;
    while (this.#tail.length > TAIL_PIECES || (this.#tail.length > 1 && this.#tailBytes > TAIL_BYTES))
      this.#tailBytes -= this.#tail.shift()?.length ?? 0;
  }

  /** @param bytes of what was passed on, which the piece stands for */
  #keep(piece: Buffer, bytes: number): void {
    if (piece.length === 0) return;
    if (piece[0] !== COLON || piece.includes('data:')) this.#keepTail(piece);
    this.#passedBytes += bytes;
    if (this.#keptBytes >= KEPT_BYTES) return;
    this.#kept.push(piece);
    this.#keptBytes += piece.length;
  }
}

const joined = (pieces: readonly Buffer[]): Buffer => (pieces.length === 1 && pieces[0] ? pieces[0] : Buffer.concat(pieces));

/** Of an event that breaks off, or cannot be read to its end. */
const leastIn = (event: Buffer): ReceiptUsage | undefined => leastUsage(usageOfChunk(eventSoFar(event)));
