/** One part of a multipart body. Its content has to be read to the end before the next part is asked for. */
export interface Part {
  /** By lower-case name. */
  readonly headers: ReadonlyMap<string, string>;
  readonly content: AsyncIterable<Uint8Array>;
}

/** The bytes are no multipart body; the message ends a sentence that begins with `The body`. */
export class MalformedMultipart extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'MalformedMultipart';
  }
}

const CRLF = Buffer.from('\r\n');
const HEADERS_END = Buffer.from('\r\n\r\n');
const DASHES = '--';
const MAX_PADDING_BYTES = 256;
const MAX_HEADER_BYTES = 8 * 1024;

/**
 * The parts of a multipart body (RFC 2046, section 5.1.1), pulled: nothing is read from `source` before it is requested, so a slow reader of a
 * part stops the sender. Strict, as RFC 7578 allows: what cannot be a part is an error and never left out without a word.
 *
 * @throws MalformedMultipart from the parts and from their contents; what `source` throws passes through both
 */
export async function* partsOf(source: AsyncIterable<Uint8Array>, boundary: string): AsyncGenerator<Part, void, undefined> {
  const delimiter = Buffer.from(`\r\n--${boundary}`);
  // The first delimiter may be at the very beginning, without the line break of all others.
  const input = new Input(source, CRLF);
  for await (const _preamble of input.until(delimiter));
  while (await isFollowedByPart(input)) {
    const headers = parseHeaders(await input.short(HEADERS_END, MAX_HEADER_BYTES, 'has a part whose headers are longer than 8 KiB'));
    const content = input.until(delimiter);
    yield { headers, content };
    if (input.isInside) throw new Error('The content of a part was not read to its end');
  }
  await input.skipRest();
}

/** Behind a delimiter: two dashes for the last one, else white space and a line break. */
async function isFollowedByPart(input: Input): Promise<boolean> {
  if ((await input.peek(DASHES.length)) === DASHES) return false;
  const padding = await input.short(CRLF, MAX_PADDING_BYTES, 'has a boundary that goes on with other text');
  if (!/^[ \t]*$/.test(padding.toString('latin1'))) throw new MalformedMultipart('has a boundary that goes on with other text');
  return true;
}

const utf8 = new TextDecoder('utf-8', { fatal: true });
const HEADER = /^([!#$%&'*+.^_`|~0-9A-Za-z-]+):[ \t]*(.*?)[ \t]*$/;

function parseHeaders(bytes: Buffer): Map<string, string> {
  const headers = new Map<string, string>();
  for (const line of decode(bytes).split('\r\n')) {
    const [, name, value] = HEADER.exec(line) ?? [];
    // A folded header (RFC 7578 has none) begins with white space, so it ends here as well.
    // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is looked for
    if (name === undefined || value === undefined || /[\0-\x08\x0a-\x1f\x7f]/.test(value))
      throw new MalformedMultipart('has a part with a line among its headers that is none');
    const key = name.toLowerCase();
    if (headers.has(key)) throw new MalformedMultipart(`has a part with two headers ${key.slice(0, 40)}`);
    headers.set(key, value);
  }
  return headers;
}

function decode(bytes: Buffer): string {
  try {
    return utf8.decode(bytes);
  } catch (cause) {
    throw new MalformedMultipart('has a part whose headers are not UTF-8', { cause });
  }
}

/** What has arrived and was not taken yet, with the source behind it. */
class Input {
  readonly #source: AsyncIterator<Uint8Array>;
  #arrived: Buffer;
  /** Whether an `until` has begun and not come to its delimiter. */
  isInside = false;

  constructor(source: AsyncIterable<Uint8Array>, first: Buffer) {
    this.#source = source[Symbol.asyncIterator]();
    this.#arrived = first;
  }

  /** Everything before the delimiter, in pieces; the delimiter itself is taken and not given. */
  async *until(delimiter: Buffer): AsyncGenerator<Buffer, void, undefined> {
    this.isInside = true;
    for (;;) {
      const at = this.#arrived.indexOf(delimiter);
      if (at !== -1) {
        const last = this.#take(at);
        this.#take(delimiter.length);
        if (last.length > 0) yield last;
        this.isInside = false;
        return;
      }
      // What could be the beginning of the delimiter stays until more has come.
      const sure = this.#arrived.length - delimiter.length + 1;
      if (sure > 0) yield this.#take(sure);
      await this.#readMore();
    }
  }

  /** What is before the delimiter, when that is no more than `maxBytes`. */
  async short(delimiter: Buffer, maxBytes: number, otherwise: string): Promise<Buffer> {
    for (;;) {
      const at = this.#arrived.subarray(0, maxBytes + delimiter.length).indexOf(delimiter);
      if (at !== -1) {
        const found = this.#take(at);
        this.#take(delimiter.length);
        return found;
      }
      if (this.#arrived.length >= maxBytes + delimiter.length) throw new MalformedMultipart(otherwise);
      await this.#readMore();
    }
  }

  async peek(length: number): Promise<string> {
    while (this.#arrived.length < length) await this.#readMore();
    return this.#arrived.toString('latin1', 0, length);
  }

  /** An epilogue has no meaning, but what is sent has to be read. */
  async skipRest(): Promise<void> {
    this.#arrived = CRLF;
    while (!(await this.#source.next()).done);
  }

  #take(length: number): Buffer {
    const taken = this.#arrived.subarray(0, length);
    this.#arrived = this.#arrived.subarray(length);
    return taken;
  }

  async #readMore(): Promise<void> {
    const { done, value } = await this.#source.next();
    if (done) throw new MalformedMultipart('ends before its last boundary');
    this.#arrived = Buffer.concat([this.#arrived, value]);
  }
}
