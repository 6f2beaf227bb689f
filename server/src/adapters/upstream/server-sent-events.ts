import { UpstreamCut } from './port.ts';

export interface ServerSentEvent {
  /** `message` where the stream names none. */
  readonly event: string;
  readonly data: string;
}

/** What is longer is left out; characters. The events that are translated carry text, of some pages at most: pictures are not translated. */
const LONGEST_EVENT = 2 * 1024 * 1024;
/** How each line of an event begins; empty where it has just ended. */
const FIELD = /^(?:$|(?:data|event|id|retry)?:)/;
const LINE_END = /\r\n|\n|\r/g;

/**
 * Reads `text/event-stream` (WHATWG HTML §9.2.6) from chunks that are cut anywhere: inside a character, between CR and LF.
 * `id` and `retry` are for browsers that reconnect, and left aside.
 */
export class ServerSentEvents {
  readonly #decoder = new TextDecoder();
  /** The beginning of a line whose end has not come. Never searched again, so that a long line in small chunks stays cheap. */
  #line = '';
  #isAfterCr = false;
  #event = '';
  #data: string[] = [];
  #characters = 0;
  /** The line that is being read, or the event, is too large: it is dropped. */
  #isSkipping = false;
  #isTooLarge = false;
  #hasBegun = false;

  /** An event was too large, and is left out. */
  get isTooLarge(): boolean {
    return this.#isTooLarge;
  }

  /** The data of the event whose end has not come. */
  get begun(): string {
    return [...this.#data, ...(this.#line.startsWith('data:') ? [this.#line.slice('data:'.length)] : [])].join('\n');
  }

  /** The events that this chunk completes. Throws {@link UpstreamCut} on what is no event at all, while there was none before it. */
  push(chunk: Uint8Array): ServerSentEvent[] {
    return this.#read(this.#decoder.decode(chunk, { stream: true }));
  }

  /** The stream is through. An event that lacks only the blank line behind it counts: some servers leave that out. */
  end(): ServerSentEvent[] {
    return this.#read(`${this.#decoder.decode()}\n\n`);
  }

  #read(arrived: string): ServerSentEvent[] {
    const text = this.#isAfterCr && arrived.startsWith('\n') ? arrived.slice(1) : arrived;
    if (arrived !== '') this.#isAfterCr = arrived.endsWith('\r');
    const events: ServerSentEvent[] = [];
    let from = 0;
    for (const { 0: lineEnd, index } of text.matchAll(LINE_END)) {
      const event = this.#take(this.#line + text.slice(from, index));
      if (event) events.push(event);
      this.#line = '';
      from = index + lineEnd.length;
    }
    this.#line += text.slice(from);
    if (this.#characters + this.#line.length > LONGEST_EVENT) this.#skip();
    // A character stays, because an empty line would end the event.
    if (this.#isSkipping) this.#line = this.#line.slice(0, 1);
    return events;
  }

  #skip(): void {
    if (!this.#hasBegun && !FIELD.test(this.#line)) throw new UpstreamCut('reset', { cause: new SyntaxError('What came is no event') });
    this.#isTooLarge = true;
    this.#isSkipping = true;
    this.#data = [];
  }

  #take(line: string): ServerSentEvent | undefined {
    if (line === '') return this.#dispatch();
    const colon = line.indexOf(':');
    const field = colon < 0 ? line : line.slice(0, colon);
    const value = colon < 0 ? '' : line.slice(line[colon + 1] === ' ' ? colon + 2 : colon + 1);
    if (field === 'event') this.#event = value;
    if (field === 'data' && !this.#isSkipping) {
      this.#data.push(value);
      this.#characters += value.length;
    }
    return undefined;
  }

  #dispatch(): ServerSentEvent | undefined {
    const event =
      this.#data.length === 0 || this.#isSkipping ? undefined : { event: this.#event || 'message', data: this.#data.join('\n') };
    this.#event = '';
    this.#data = [];
    this.#characters = 0;
    this.#isSkipping = false;
    this.#hasBegun ||= event !== undefined;
    return event;
  }
}
