import { EventLines } from '../../kernel/event-lines.ts';
import { GrowingBuffer } from '../../kernel/growing-buffer.ts';
import { joined } from '../../kernel/joined.ts';
import { andThen, type Soon } from '../../kernel/soon.ts';
import { writtenJson } from '../../kernel/written-json.ts';
import { WithoutComments } from './without-comments.ts';

const EMPTY = Buffer.alloc(0);
export const END_OF_EVENT = Buffer.from('\n\n');
const LF = 10;
const CR = 13;
const COLON = 58;
/** What ends an event at most, less its first line's own end. */
const CRLF_END = 3;
/** The longest end of an event, less its last byte: how much of it the chunk before may hold. */
const SEAM_BYTES = 2;
/** How each line of an event begins that is no comment. */
const FIELD = /^(?:data|event|id|retry)?:/;
const LONGEST_FIELD_NAME = 6;
/** Pictures come as one line of base64, the largest of them in 25 MB. What is longer is not kept. */
const LONGEST_EVENT = 32 * 1024 * 1024;
/** Of an event with more bytes the comments are not kept: millions of them would be looked through at once when its end comes. */
const LONGEST_WITH_COMMENTS = 64 * 1024;

/** Whole server-sent events out of chunks that are cut anywhere. */
export class EventFrames {
  readonly #lines = new EventLines();
  readonly #longestEvent: number;
  /** An event whose end has not come, and the last bytes of it. */
  readonly #carry = new GrowingBuffer();
  #carriedBytes = 0;
  #seam: Buffer = EMPTY;
  /** What leaves out the comments of that event; undefined while it is small. */
  #withoutComments: WithoutComments | undefined;
  #isTooLarge = false;
  #isInvalid = false;
  /** The event whose end has not come is too large. */
  #isSkipping = false;

  constructor(longestEvent = LONGEST_EVENT) {
    this.#longestEvent = longestEvent;
  }

  /** The events that this chunk completes. */
  push(received: Buffer): Buffer {
    const chunk = this.#lines.push(received);
    if (chunk.length === 0) return EMPTY;
    // Only the chunk is searched, not what is carried: an event of many chunks would be searched as many times.
    const end = endOfLastEvent(this.#seam.length === 0 ? chunk : Buffer.concat([this.#seam, chunk])) - this.#seam.length;
    if (end <= 0) {
      this.#hold(chunk);
      return EMPTY;
    }
    const head = end === chunk.length ? chunk : chunk.subarray(0, end);
    const events = this.#isSkipping ? behindFirst(Buffer.concat([this.#seam, head])) : this.#with(head);
    this.#release();
    if (end < chunk.length) this.#hold(chunk.subarray(end));
    return events;
  }

  /** What is left behind the last whole event. */
  end(): Buffer {
    const rest = this.#with(this.#lines.end());
    this.#release();
    return rest;
  }

  /** The event whose end has not come; nothing of one that is too large. */
  get begun(): Buffer {
    return this.#carry.bytes;
  }

  /** Nothing is left behind the last whole event. */
  get isEmpty(): boolean {
    return this.#carriedBytes === 0;
  }

  /** An event was too large to be kept, and is left out. */
  get isTooLarge(): boolean {
    return this.#isTooLarge;
  }

  /** What came has neither end nor the form of an event. */
  get isInvalid(): boolean {
    return this.#isInvalid;
  }

  #with(head: Buffer): Buffer {
    const kept = this.#withoutComments?.take(head) ?? head;
    if (this.#carry.length === 0) return kept;
    this.#carry.add(kept);
    return this.#carry.take();
  }

  #hold(chunk: Buffer): void {
    if (this.#isSkipping) this.#carriedBytes += chunk.length;
    else this.#keep(chunk);
    this.#seam = Buffer.concat([this.#seam, chunk.subarray(-SEAM_BYTES)]).subarray(-SEAM_BYTES);
    if (this.#carriedBytes <= this.#longestEvent || this.#isSkipping) return;
    if (!FIELD.test(this.#carry.take().toString('latin1', 0, LONGEST_FIELD_NAME))) this.#isInvalid = true;
    this.#isTooLarge = true;
    this.#isSkipping = true;
  }

  #keep(chunk: Buffer): void {
    this.#carry.add(this.#withoutComments?.take(chunk) ?? chunk);
    if (!this.#withoutComments && this.#carry.length > LONGEST_WITH_COMMENTS) {
      this.#withoutComments = new WithoutComments();
      this.#carry.add(this.#withoutComments.take(this.#carry.take()));
    }
    this.#carriedBytes = this.#carry.length;
  }

  #release(): void {
    this.#carry.clear();
    this.#withoutComments = undefined;
    this.#carriedBytes = 0;
    this.#seam = EMPTY;
    this.#isSkipping = false;
  }
}

/** Where the last whole event ends: behind a blank line, with either kind of line end. */
function endOfLastEvent(buffer: Buffer): number {
  const { length } = buffer;
  if (length > 1 && buffer[length - 1] === LF && buffer[length - 2] === LF) return length;
  const [lf, crlf] = [buffer.lastIndexOf('\n\n'), buffer.lastIndexOf('\n\r\n')];
  return Math.max(lf < 0 ? 0 : lf + 2, crlf < 0 ? 0 : crlf + 3);
}

function endOfFirstEvent(bytes: Buffer): number {
  const [lf, crlf] = [bytes.indexOf('\n\n'), bytes.indexOf('\n\r\n')];
  const isCrlf = crlf >= 0 && (lf < 0 || crlf < lf);
  return isCrlf ? crlf + 3 : lf < 0 ? bytes.length : lf + 2;
}

const behindFirst = (bytes: Buffer): Buffer => bytes.subarray(endOfFirstEvent(bytes));

/** Goes through the bytes once: keep-alives of three bytes each must not cost the square of their number. */
export function eventsOf(bytes: Buffer): Buffer[] {
  const events: Buffer[] = [];
  let from = 0;
  for (let at = bytes.indexOf(LF); at >= 0; at = bytes.indexOf(LF, at + 1)) {
    const isCrlf = bytes[at + 1] === CR && bytes[at + 2] === LF;
    if (!isCrlf && bytes[at + 1] !== LF) continue;
    at += isCrlf ? 2 : 1;
    events.push(bytes.subarray(from, at + 1));
    from = at + 1;
  }
  if (from < bytes.length) events.push(bytes.subarray(from));
  return events;
}

/** Whether it is nothing but one comment or a blank line, as keep-alives are. */
export const isKeepAlive = (event: Buffer): boolean =>
  event[0] === LF || event[0] === CR || (event[0] === COLON && event.indexOf(LF) >= event.length - CRLF_END);

/** The events that may carry data. */
export const dataEventsOf = (bytes: Buffer): Buffer[] => eventsOf(bytes).filter((event) => !isKeepAlive(event));

/** The event that the object is, written with its type as its name, where it has one. */
export const writtenEvent = (event: Readonly<Record<string, unknown>>): Soon<Buffer> =>
  andThen(writtenJson(event), (json) => joined([Buffer.from(headOf(event)), json, END_OF_EVENT]));

const headOf = ({ type }: Readonly<Record<string, unknown>>): string => (type === undefined ? 'data: ' : `event: ${String(type)}\ndata: `);
