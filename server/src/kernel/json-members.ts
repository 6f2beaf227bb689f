import { JsonTexts } from './json-text.ts';

/** A longer name of a member is none that anybody asks for. */
const LONGEST_NAME = 256;

const QUOTE = 0x22;
const [OTHER, STRING, COMMA, COLON, OPENING, CLOSING] = [0, 1, 2, 3, 4, 5];
const KINDS = new Uint8Array(256);
for (const [kind, characters] of [
  [STRING, '"'],
  [COMMA, ','],
  [COLON, ':'],
  [OPENING, '[{'],
  [CLOSING, ']}'],
] as const)
  for (const character of characters) KINDS[character.charCodeAt(0)] = kind;

const [OPEN_BRACE, CLOSED_BRACE] = [0x7b, 0x7d];
const BLANKS = new Set(Buffer.from(' \t\r\n'));
/** The bytes of a mark that some put in front of UTF-8. */
const BOM = new Set([0xef, 0xbb, 0xbf]);

/** Receives the members of an object as their bytes arrive. */
export interface MemberReader {
  begin(name: string): void;
  /** Some of the member's value, unchanged; a view of the chunk that it came in. */
  value(bytes: Buffer): void;
  /** @param elements how many values are in it, where it is an array; of an object more than none says only that it is not empty */
  end(elements: number): void;
}

/**
 * Splits the object of a JSON document into its members, of any size, as its bytes arrive: nothing is buffered, and nothing
 * is parsed. It does not check that the values are JSON.
 */
export class JsonMembers {
  readonly #reader: MemberReader;
  readonly #texts = new JsonTexts();
  /** 0: before the object, or behind it. 1: in it. Above: in the value of a member. */
  #level = 0;
  #state: 'before' | 'name' | 'colon' | 'value' | 'behind' | 'invalid' = 'before';
  /** The name that is being read, or was last. */
  #name: Buffer[] = [];
  #nameBytes = 0;
  #isInText = false;
  /** The chunk ended in the middle of an escape. */
  #isEscaped = false;
  #elements = 0;
  /** Something follows the last comma of the array or object that a value is. */
  #hasElement = false;

  constructor(reader: MemberReader) {
    this.#reader = reader;
  }

  /** The object has ended, and nothing follows it. */
  get isComplete(): boolean {
    return this.#state === 'behind';
  }

  /** What came is no object. */
  get isInvalid(): boolean {
    return this.#state === 'invalid';
  }

  take(chunk: Buffer): void {
    this.#texts.restart();
    let from = this.#state === 'value' ? 0 : -1;
    for (let at = 0; at < chunk.length && this.#state !== 'invalid'; ) {
      if (this.#isInText) {
        at = this.#throughText(chunk, at);
        continue;
      }
      const byte = chunk[at] ?? 0;
      if (this.#state === 'value') {
        at = this.#throughValue(chunk, at);
        if (this.#isInText || at === chunk.length) continue;
        this.#endMember(chunk.subarray(from, at), chunk[at] === CLOSED_BRACE);
        from = -1;
        at += 1;
        continue;
      }
      if (!BLANKS.has(byte)) from = this.#takeFrame(byte, at);
      at += 1;
    }
    if (this.#state === 'value' && from >= 0 && from < chunk.length) this.#reader.value(from === 0 ? chunk : chunk.subarray(from));
  }

  /** A character around the members. @returns where the value begins that follows; below zero where none does */
  #takeFrame(byte: number, at: number): number {
    if (this.#state === 'before' && byte === OPEN_BRACE) {
      this.#level = 1;
      this.#state = 'name';
    } else if (this.#state === 'name' && byte === QUOTE) {
      this.#name = [];
      this.#nameBytes = 0;
      this.#isInText = true;
    } else if (this.#state === 'name' && byte === CLOSED_BRACE) {
      this.#level = 0;
      this.#state = 'behind';
    } else if (this.#state === 'colon' && KINDS[byte] === COLON) {
      this.#state = 'value';
      this.#elements = 0;
      this.#hasElement = false;
      this.#reader.begin(this.#nameText());
      return at + 1;
    } else if (this.#state !== 'before' || !BOM.has(byte)) this.#state = 'invalid';
    return -1;
  }

  /** @returns where it stopped: at the end of the value, in a text in it, or at the chunk's end */
  #throughValue(chunk: Buffer, start: number): number {
    for (let at = start; at < chunk.length; at += 1) {
      const kind = KINDS[chunk[at] ?? 0] ?? OTHER;
      if (kind === OTHER) {
        if (!this.#hasElement && this.#level === 2 && !BLANKS.has(chunk[at] ?? 0)) this.#hasElement = true;
      } else if (kind === STRING) {
        if (this.#level === 2) this.#hasElement = true;
        this.#isInText = true;
        return at + 1;
      } else if (kind === OPENING) {
        if (this.#level === 2) this.#hasElement = true;
        this.#level += 1;
      } else if (this.#level === 1 && kind !== COLON) return at;
      else if (kind === CLOSING) {
        if (this.#level === 2) this.#countElement();
        this.#level -= 1;
      } else if (kind === COMMA && this.#level === 2) this.#countElement();
    }
    return chunk.length;
  }

  #countElement(): void {
    if (this.#hasElement) this.#elements += 1;
    this.#hasElement = false;
  }

  #throughText(chunk: Buffer, start: number): number {
    const from = this.#isEscaped ? start + 1 : start;
    const end = this.#texts.endOf(chunk, from, chunk.length);
    this.#isEscaped = end > chunk.length;
    this.#isInText = chunk[end] !== QUOTE;
    if (this.#state === 'name') this.#keepName(chunk.subarray(start, end));
    return this.#isInText ? chunk.length : end + 1;
  }

  #keepName(part: Buffer): void {
    this.#nameBytes += part.length;
    if (this.#nameBytes > LONGEST_NAME) this.#state = 'invalid';
    else this.#name.push(part);
    if (!this.#isInText && this.#state === 'name') this.#state = 'colon';
  }

  #nameText(): string {
    const written = Buffer.concat(this.#name).toString('utf8');
    try {
      return String(JSON.parse(`"${written}"`));
    } catch {
      return written;
    }
  }

  #endMember(rest: Buffer, isLast: boolean): void {
    this.#state = isLast ? 'behind' : 'name';
    this.#level = isLast ? 0 : 1;
    if (rest.length > 0) this.#reader.value(rest);
    this.#reader.end(this.#elements);
  }
}
