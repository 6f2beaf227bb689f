import { jsonFaultPosition } from './json-fault.ts';
import { JsonTexts } from './json-text.ts';
import { LongText } from './long-text.ts';
import { breather } from './turn.ts';

/** What is longer is parsed in pieces of about this many bytes. Each takes a fraction of a millisecond. */
const PIECE_BYTES = 65_536;

/** Of the arrays and objects that have no end: in how many of them a fault is looked for. A request has fewer. */
const MOST_SEARCHED = 300;

const [QUOTE, BACKSLASH, LETTER_U] = [0x22, 0x5c, 0x75];

const [OTHER, STRING, COMMA, COLON, ARRAY, OBJECT, ARRAY_END, OBJECT_END] = [0, 1, 2, 3, 4, 5, 6, 7];
const KINDS = new Uint8Array(256);
for (const [kind, character] of [
  [STRING, '"'],
  [COMMA, ','],
  [COLON, ':'],
  [ARRAY, '['],
  [OBJECT, '{'],
  [ARRAY_END, ']'],
  [OBJECT_END, '}'],
] as const)
  KINDS[character.charCodeAt(0)] = kind;

/** A large text is no JSON. */
export class JsonFault extends SyntaxError {
  /** Where it stops being JSON, counted in bytes from 0, give or take some; its length where it ends too early. */
  readonly byte: number;

  constructor(byte: number) {
    super(`The text stops being JSON at byte ${byte}`);
    this.byte = byte;
  }
}

/**
 * What `JSON.parse` makes of the bytes. That takes 20 ms for 10 MB: what is large is parsed in pieces, and other work has its turn between
 * them. What is small is parsed at once.
 * @throws SyntaxError where `JSON.parse` does; a `JsonFault` where the text is large, and a `WideTextFault` for a text in it that is too long
 */
export function readJson(bytes: Buffer): unknown {
  return bytes.length <= PIECE_BYTES ? parsed(bytes, 0, bytes.length) : new PieceReader(bytes).read();
}

const parsed = (bytes: Buffer, from: number, to: number): unknown => JSON.parse(bytes.toString('utf8', from, to));

/** An array or object whose end has not been reached. */
interface Open {
  readonly isArray: boolean;
  readonly at: number;
  /** What of it has been parsed; undefined as long as it may still be parsed with what is around it. */
  elements: unknown[] | undefined;
  members: Record<string, unknown> | undefined;
  /** Where what has not been parsed begins. */
  from: number;
  /** Where the element or member begins that is being read, and where its name ends. */
  member: number;
  colon: number;
  /** A large value has been added: nothing but a comma or the end may follow. */
  isBehindValue: boolean;
}

/**
 * Finds where the elements and members of large arrays and objects begin and end, and has them parsed some at a time. A bracket that closes
 * another kind, or a comma with nothing behind it, is left to `JSON.parse` to refuse.
 */
class PieceReader {
  readonly #bytes: Buffer;
  readonly #open: Open[] = [];
  readonly #rest = breather();
  /** The start of the string that is being read; below zero outside of strings. */
  #textAt = -1;
  #longText: { readonly start: number; readonly end: number } | undefined;
  readonly #texts = new JsonTexts();
  #root: { readonly value: unknown; readonly end: number } | undefined;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  /** @throws JsonFault */
  async read(): Promise<unknown> {
    const { length } = this.#bytes;
    for (let at = 0; at < length; ) {
      at = this.#scan(at, Math.min(at + PIECE_BYTES, length));
      if (this.#longText) await this.#readLongText(this.#longText);
      await this.#rest();
    }
    // One text, number or word.
    if (!this.#root && this.#open.length === 0) return this.#parsed('', 0, length, '');
    if (!this.#root || this.#open.length > 0 || this.#textAt >= 0) throw this.#fault(length);
    this.#requireBlank(this.#root.end, length);
    return this.#root.value;
  }

  /** @returns where it stopped: behind a long text, which has to be read first, or at `to` */
  #scan(from: number, to: number): number {
    const bytes = this.#bytes;
    for (let at = from; at < to; at += 1) {
      if (this.#textAt < 0) {
        const kind = KINDS[bytes[at] ?? 0] ?? OTHER;
        if (kind === OTHER) continue;
        if (kind !== STRING) {
          this.#take(kind, at);
          continue;
        }
        this.#textAt = at;
        at += 1;
      }
      at = this.#throughText(at, to);
      if (this.#longText) return at + 1;
      // Its end, or that of an escape, may come after it.
      if (at >= to) return this.#textAt < 0 ? at + 1 : at;
    }
    return to;
  }

  #take(kind: number, at: number): void {
    if (kind === ARRAY || kind === OBJECT) {
      if (this.#root) throw new JsonFault(at);
      this.#open.push({
        isArray: kind === ARRAY,
        at,
        elements: undefined,
        members: undefined,
        from: at + 1,
        member: at + 1,
        colon: -1,
        isBehindValue: false,
      });
      return;
    }
    const open = this.#open.at(-1);
    if (!open) throw new JsonFault(at);
    if (kind === COLON) {
      if (open.colon < 0) open.colon = at;
    } else if (kind === COMMA) this.#nextMember(open, at);
    else this.#close(open, kind === ARRAY_END, at);
  }

  #nextMember(open: Open, at: number): void {
    const isLong = at - open.from > PIECE_BYTES;
    if (open.isBehindValue) this.#requireBlank(open.from, at);
    else if (isLong) this.#parseRun(open, at);
    if (open.isBehindValue || isLong) open.from = at + 1;
    open.isBehindValue = false;
    open.member = at + 1;
    open.colon = -1;
  }

  #close(open: Open, isArray: boolean, at: number): void {
    if (open.isArray !== isArray) throw this.#fault(at);
    this.#open.pop();
    const isBegun = open.elements !== undefined || open.members !== undefined;
    if (!isBegun && at - open.at <= PIECE_BYTES && this.#open.length > 0) return;
    if (open.isBehindValue) this.#requireBlank(open.from, at);
    else if (isBegun || !this.#isBlank(open.from, at)) this.#parseRun(open, at);
    this.#add(isArray ? elementsOf(open) : membersOf(open), open.at, at + 1);
  }

  /** Elements or members that are not large, as many as there are. */
  #parseRun(open: Open, to: number): void {
    if (open.isArray) {
      const elements = this.#parsed('[', open.from, to, ']') as unknown[];
      if (elements.length === 0) throw new JsonFault(to);
      const all = elementsOf(open);
      for (const element of elements) all.push(element);
      return;
    }
    const members = this.#parsed('{', open.from, to, '}') as Record<string, unknown>;
    const names = Object.keys(members);
    if (names.length === 0) throw new JsonFault(to);
    const all = membersOf(open);
    for (const name of names) setMember(all, name, members[name]);
  }

  /** A large value, from `start` to `end`. */
  #add(value: unknown, start: number, end: number): void {
    const open = this.#open.at(-1);
    if (!open) {
      if (this.#root) throw new JsonFault(start);
      this.#requireBlank(0, start);
      this.#root = { value, end };
      return;
    }
    if (open.isBehindValue) throw new JsonFault(start);
    // Up to the comma before it.
    if (open.member > open.from) this.#parseRun(open, open.member - 1);
    if (open.isArray) {
      this.#requireBlank(open.member, start);
      elementsOf(open).push(value);
    } else {
      const name = open.colon < 0 ? undefined : this.#parsed('', open.member, open.colon, '');
      if (typeof name !== 'string') throw new JsonFault(open.member);
      this.#requireBlank(open.colon + 1, start);
      setMember(membersOf(open), name, value);
    }
    open.from = end;
    open.isBehindValue = true;
  }

  /** @returns where the text ends, at its last quote, or where it stopped in it: at `to` or behind */
  #throughText(from: number, to: number): number {
    const at = this.#texts.endOf(this.#bytes, from, to);
    if (this.#bytes[at] !== QUOTE) return at;
    const start = this.#textAt;
    this.#textAt = -1;
    const open = this.#open.at(-1);
    const isName = open && !open.isArray && open.colon < 0;
    if (open && !isName && at - start > PIECE_BYTES) this.#longText = { start, end: at };
    return at;
  }

  async #readLongText({ start, end }: { readonly start: number; readonly end: number }): Promise<void> {
    this.#longText = undefined;
    const text = new LongText(this.#bytes.subarray(start + 1, end));
    await this.#eachPiece(start + 1, end, (piece, bytes) => text.measure(piece, bytes));
    if (!text.isPlain) await this.#eachPiece(start + 1, end, (piece) => text.write(piece));
    this.#add(await text.whole(), start, end + 1);
  }

  async #eachPiece(from: number, end: number, take: (piece: string, bytes: number) => void): Promise<void> {
    for (let at = from; at < end; ) {
      const to = this.#endOfPiece(at, end);
      take(String(this.#parsed('"', at, to, '"')), to - at);
      at = to;
      await this.#rest();
    }
  }

  /** Inside of neither a character nor an escape. */
  #endOfPiece(from: number, end: number): number {
    const bytes = this.#bytes;
    let to = from + PIECE_BYTES;
    if (to >= end) return end;
    while (((bytes[to] ?? 0) & 0xc0) === 0x80 && to > from + 1) to -= 1;
    let backslash = to - 1;
    while (backslash > to - 6 && bytes[backslash] !== BACKSLASH) backslash -= 1;
    if (bytes[backslash] !== BACKSLASH) return to;
    let first = backslash;
    while (first > from && bytes[first - 1] === BACKSLASH) first -= 1;
    const beginsEscape = (backslash - first) % 2 === 0;
    const length = bytes[backslash + 1] === LETTER_U ? 6 : 2;
    return beginsEscape && backslash + length > to && backslash > from ? backslash : to;
  }

  #isBlank(from: number, to: number): boolean {
    for (let at = from; at < to; at += 1) {
      const byte = this.#bytes[at];
      if (byte !== 0x20 && byte !== 0x0a && byte !== 0x0d && byte !== 0x09) return false;
    }
    return true;
  }

  #requireBlank(from: number, to: number): void {
    if (!this.#isBlank(from, to)) throw new JsonFault(from);
  }

  #parsed(before: string, from: number, to: number, behind: string): unknown {
    const text = this.#bytes.toString('utf8', from, to);
    try {
      return JSON.parse(before + text + behind);
    } catch {
      throw this.#faultIn(before, from, to) ?? new JsonFault(to);
    }
  }

  /** What does not fit at `at` may go back to a quote that is missing: the first fault is in what has not been parsed yet. */
  #fault(at: number): JsonFault {
    for (const [index, { isArray, from }] of this.#open.slice(0, MOST_SEARCHED).entries()) {
      const fault = this.#faultIn(isArray ? '[' : '{', from, this.#open[index + 1]?.at ?? at);
      if (fault) return fault;
    }
    return new JsonFault(at);
  }

  /** Looks for it as far as the part may be long that is parsed at once. */
  #faultIn(before: string, from: number, to: number): JsonFault | undefined {
    const text = before + this.#bytes.toString('utf8', from, Math.min(to, from + 2 * PIECE_BYTES));
    const position = jsonFaultPosition(text);
    return position < text.length ? new JsonFault(from + Buffer.byteLength(text.slice(before.length, position))) : undefined;
  }
}

function elementsOf(open: Open): unknown[] {
  open.elements ??= [];
  return open.elements;
}

function membersOf(open: Open): Record<string, unknown> {
  open.members ??= {};
  return open.members;
}

/** Also one that is called `__proto__`, which an assignment would not make a member. */
function setMember(object: Record<string, unknown>, name: string, value: unknown): void {
  if (name === '__proto__') Object.defineProperty(object, name, { value, enumerable: true, configurable: true, writable: true });
  else object[name] = value;
}
