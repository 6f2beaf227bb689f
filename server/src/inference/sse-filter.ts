/** What a provider said went wrong after its stream had begun. */
export interface StreamError {
  readonly message: string;
  readonly type: string;
  readonly code: string | null;
}

const EMPTY = Buffer.alloc(0);
const LF = 10;
const USAGE = Buffer.from('"usage"');
const ERROR = Buffer.from('"error"');
const DONE = Buffer.from('[DONE]');
const OPENING_BRACE = 123;
const SPACE = 32;
const COLON = 58;

/** An event that never ends is no event. */
const LONGEST_EVENT = 8 * 1024 * 1024;
/** How much of what was passed on is kept for an estimate, should the provider never say what it used. */
const KEPT_BYTES = 1024 * 1024;

type Json = Readonly<Record<string, unknown>>;

/**
 * Server-sent chat completion chunks on their way to the client. Whole events pass as the bytes they came in; only those that may carry
 * usage, an error or the end are looked into. Usage never passes: it is kept, and the gateway's own last chunk shows it to whom it was asked for.
 */
export class SseFilter {
  #carry: Buffer = EMPTY;
  #kept: Buffer[] = [];
  #keptBytes = 0;
  #passedBytes = 0;
  #tail: Buffer = EMPTY;
  #first: Json | undefined;
  #usage: unknown;
  #error: StreamError | undefined;
  #isDone = false;
  #isInvalid = false;

  /** Takes bytes in, gives back those that may go on: whole events, none of them the last. */
  push(chunk: Buffer): Buffer {
    if (this.isOver) return EMPTY;
    const buffer = this.#carry.length === 0 ? chunk : Buffer.concat([this.#carry, chunk]);
    const end = endOfLastEvent(buffer);
    this.#carry = end === buffer.length ? EMPTY : buffer.subarray(end);
    if (this.#carry.length > LONGEST_EVENT) this.#isInvalid = true;
    if (end === 0) return EMPTY;
    const events = buffer.subarray(0, end);
    const passed = this.#first === undefined || needsCare(events) ? this.#filter(events) : events;
    this.#keep(passed);
    return passed;
  }

  /** Nothing more is taken in: the end was announced, an error was, or the bytes are no event stream. */
  get isOver(): boolean {
    return this.#isDone || this.#isInvalid || this.#error !== undefined;
  }

  /** Whether the bytes so far are none of a chat completion stream. */
  get isInvalid(): boolean {
    return this.#isInvalid || this.#first === undefined;
  }

  get error(): StreamError | undefined {
    return this.#error;
  }

  /** The last usage that the provider sent. */
  get usage(): unknown {
    return this.#usage;
  }

  /** Whether the stream came to its end: `[DONE]`, or from providers that leave it out, a finish reason. */
  get isComplete(): boolean {
    return this.#isDone || (!this.isOver && this.#carry.length === 0 && /"finish_reason"\s*:\s*"/.test(this.#tail.toString('utf8')));
  }

  /** A chunk without choices that shows the usage, in the name of the stream's other chunks. */
  usageChunk(usage: Json): string {
    const { id, created, model, system_fingerprint, service_tier } = this.#first ?? {};
    return `data: ${JSON.stringify({ id, object: 'chat.completion.chunk', created, model, service_tier, system_fingerprint, choices: [], usage })}\n\n`;
  }

  /** The text that was passed on (content, reasoning, refusals, tool calls), and by how much it has to be scaled up where not all of it was kept. */
  delivered(): { text: string; scale: number } {
    const text = eventsOf(Buffer.concat(this.#kept))
      .map((event) => textOfChunk(jsonOf(dataOf(event.toString('utf8')))))
      .join('');
    return { text, scale: this.#keptBytes === 0 ? 1 : this.#passedBytes / this.#keptBytes };
  }

  #filter(bytes: Buffer): Buffer {
    const passed: Buffer[] = [];
    for (const event of eventsOf(bytes)) {
      const kept = this.#filterEvent(event);
      if (this.isOver) break;
      if (kept) passed.push(kept);
    }
    return passed.length === 1 && passed[0] ? passed[0] : Buffer.concat(passed);
  }

  #filterEvent(event: Buffer): Buffer | undefined {
    const text = event.toString('utf8');
    const data = dataOf(text);
    if (data === undefined) {
      // A comment or a lone field is harmless, but bytes that are no field at all are no event stream.
      if (!/^(:|event:|id:|retry:|\s*$)/.test(text)) this.#isInvalid = true;
      return event;
    }
    if (data === '[DONE]') {
      this.#isDone = true;
      return undefined;
    }
    const chunk = jsonOf(data);
    if (chunk?.['error']) {
      this.#error = streamError(chunk['error']);
      return undefined;
    }
    if (!chunk || !Array.isArray(chunk['choices'])) {
      if (this.#first === undefined) this.#isInvalid = true;
      return event;
    }
    this.#first ??= chunk;
    const { usage, ...rest } = chunk;
    if (typeof usage !== 'object' || usage === null) return event;
    this.#usage = usage;
    return chunk['choices'].length === 0 ? undefined : Buffer.from(`data: ${JSON.stringify(rest)}\n\n`);
  }

  #keep(passed: Buffer): void {
    if (passed.length === 0) return;
    this.#tail = passed;
    this.#passedBytes += passed.length;
    if (this.#keptBytes + passed.length > KEPT_BYTES) return;
    this.#kept.push(passed);
    this.#keptBytes += passed.length;
  }
}

/** Where the last whole event ends: behind a blank line, with either kind of line end. */
function endOfLastEvent(buffer: Buffer): number {
  const { length } = buffer;
  if (length > 1 && buffer[length - 1] === LF && buffer[length - 2] === LF) return length;
  const [lf, crlf] = [buffer.lastIndexOf('\n\n'), buffer.lastIndexOf('\r\n\r\n')];
  return Math.max(lf < 0 ? 0 : lf + 2, crlf < 0 ? 0 : crlf + 4);
}

function eventsOf(bytes: Buffer): Buffer[] {
  const events: Buffer[] = [];
  for (let from = 0; from < bytes.length; ) {
    const [lf, crlf] = [bytes.indexOf('\n\n', from), bytes.indexOf('\r\n\r\n', from)];
    const isCrlf = crlf >= 0 && (lf < 0 || crlf < lf);
    const end = isCrlf ? crlf + 4 : lf < 0 ? bytes.length : lf + 2;
    events.push(bytes.subarray(from, end));
    from = end;
  }
  return events;
}

/** Inside a JSON string a quote is escaped, so these patterns are found in keys only. `"usage":null`, which every chunk may have, needs no care. */
function needsCare(events: Buffer): boolean {
  if (events.includes(DONE) || events.includes(ERROR)) return true;
  for (let at = events.indexOf(USAGE); at >= 0; at = events.indexOf(USAGE, at + USAGE.length)) {
    let next = at + USAGE.length;
    while (events[next] === SPACE || events[next] === COLON) next += 1;
    if (events[next] === OPENING_BRACE) return true;
  }
  return false;
}

/** The event's data, its lines joined (WHATWG HTML §9.2.6); undefined when it has none. */
function dataOf(event: string): string | undefined {
  const lines = event.split(/\r?\n/).flatMap((line) => /^data: ?(.*)$/.exec(line)?.[1] ?? []);
  return lines.length === 0 ? undefined : lines.join('\n').trim();
}

function jsonOf(data: string | undefined): Json | undefined {
  if (data === undefined) return undefined;
  try {
    const value: unknown = JSON.parse(data);
    return isRecord(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

const isRecord = (value: unknown): value is Json => typeof value === 'object' && value !== null && !Array.isArray(value);
const textOr = (value: unknown, otherwise: string): string => (typeof value === 'string' ? value : otherwise);

const streamError = (error: unknown): StreamError =>
  isRecord(error)
    ? {
        message: textOr(error['message'], 'The provider broke the stream off.').slice(0, 500),
        type: textOr(error['type'], 'server_error'),
        code: textOr(error['code'], '') || null,
      }
    : { message: textOr(error, 'The provider broke the stream off.').slice(0, 500), type: 'server_error', code: null };

/** Everything in a chunk (or a whole answer) that the model wrote. */
export function textOfChunk(chunk: Json | undefined): string {
  const choices = Array.isArray(chunk?.['choices']) ? chunk['choices'] : [];
  return choices
    .filter(isRecord)
    .map((choice) => textOfMessage(choice['delta'] ?? choice['message']))
    .join('');
}

function textOfMessage(message: unknown): string {
  if (!isRecord(message)) return '';
  const written = ['content', 'reasoning_content', 'reasoning', 'refusal'].map((field) => textOr(message[field], ''));
  const calls = Array.isArray(message['tool_calls']) ? message['tool_calls'].filter(isRecord) : [];
  const called = calls.map(({ function: called }) =>
    isRecord(called) ? textOr(called['name'], '') + textOr(called['arguments'], '') : '',
  );
  return [...written, ...called].join('');
}
