/** One event of a `text/event-stream` (WHATWG HTML, 9.2). */
export interface ServerSentEvent {
  /** The `event:` field; `message` when there was none. */
  readonly event: string;
  readonly data: string;
}

/** Splits bytes that arrive in arbitrary pieces into events. Comments are skipped; an event that is cut short is dropped. */
export async function* readServerSentEvents(pieces: AsyncIterable<Uint8Array>): AsyncGenerator<ServerSentEvent, void, undefined> {
  let event = '';
  let data: string[] = [];
  for await (const line of readLines(pieces)) {
    if (line === '') {
      if (data.length > 0) yield { event: event || 'message', data: data.join('\n') };
      event = '';
      data = [];
      continue;
    }
    const colon = line.indexOf(':');
    if (colon === 0) continue;
    const field = colon === -1 ? line : line.slice(0, colon);
    // One space after the colon belongs to the syntax, further ones to the value.
    const value = colon === -1 ? '' : line.slice(line[colon + 1] === ' ' ? colon + 2 : colon + 1);
    if (field === 'data') data.push(value);
    else if (field === 'event') event = value;
  }
}

/** Lines ending in LF, CR or CRLF. What follows the last line end is not a line. */
async function* readLines(pieces: AsyncIterable<Uint8Array>): AsyncGenerator<string, void, undefined> {
  // The decoder keeps the first bytes of a character whose rest is in the next piece.
  const decoder = new TextDecoder();
  let partial = '';
  let endedInCr = false;
  for await (const piece of pieces) {
    let text = decoder.decode(piece, { stream: true });
    if (text === '') continue;
    // A CR at the end of the last piece has ended its line already: an LF that follows belongs to it.
    if (endedInCr && text.startsWith('\n')) text = text.slice(1);
    endedInCr = text.endsWith('\r');
    if (!/[\r\n]/.test(text)) {
      partial += text;
      continue;
    }
    const lines = (partial + text).split(/\r\n|\n|\r/);
    partial = lines.pop() ?? '';
    yield* lines;
  }
}
