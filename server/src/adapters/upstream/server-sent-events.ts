import { UpstreamCut } from './port.ts';

export interface ServerSentEvent {
  /** `message` where the stream names none. */
  readonly event: string;
  readonly data: string;
}

/** An event that never ends is no event; characters. */
const LONGEST_EVENT = 8 * 1024 * 1024;
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

  /** The events that this chunk completes. Throws {@link UpstreamCut} on an event without end. */
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
    if (this.#characters + this.#line.length > LONGEST_EVENT) throw new UpstreamCut('too_large');
    return events;
  }

  #take(line: string): ServerSentEvent | undefined {
    if (line === '') return this.#dispatch();
    const colon = line.indexOf(':');
    const field = colon < 0 ? line : line.slice(0, colon);
    const value = colon < 0 ? '' : line.slice(line[colon + 1] === ' ' ? colon + 2 : colon + 1);
    if (field === 'event') this.#event = value;
    if (field === 'data') {
      this.#data.push(value);
      this.#characters += value.length;
    }
    return undefined;
  }

  #dispatch(): ServerSentEvent | undefined {
    const event = this.#data.length === 0 ? undefined : { event: this.#event || 'message', data: this.#data.join('\n') };
    this.#event = '';
    this.#data = [];
    this.#characters = 0;
    return event;
  }
}
