import { isWellFormed } from './canonical.ts';
import { type RefusalCode, Refused } from './refusal.ts';

const SPACE = /[ \t\n\r]*/y;
const LITERAL = /true|false|null/y;
const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
const INTEGER = /^(?:0|-?[1-9]\d*)$/;
/** A receipt nests three deep. Without a bound, a megabyte of brackets would exhaust the stack. */
const MAX_DEPTH = 32;

/**
 * Reads JSON as a verifier has to: what could be read in two ways is refused. `JSON.parse` takes the last of two members
 * of one name where other readers take the first, and turns 1.0 or 12345678901234567890 into a number that is not what
 * was written; a receipt could then say one thing to the verifier and another to the accountant.
 *
 * Throws `Refused` with `malformed_json`, `duplicate_member` or `bad_number`.
 */
export function readJson(text: string): unknown {
  const reader = new JsonReader(text);
  const value = reader.value(0);
  reader.end();
  return value;
}

class JsonReader {
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  value(depth: number): unknown {
    if (depth > MAX_DEPTH) this.#refuse('malformed_json', `nested more than ${MAX_DEPTH} deep`);
    this.#take(SPACE);
    switch (this.#text[this.#at]) {
      case '{':
        return this.#object(depth);
      case '[':
        return this.#array(depth);
      case '"':
        return this.#string();
      case 't':
      case 'f':
      case 'n':
        return this.#literal();
      default:
        return this.#number();
    }
  }

  end(): void {
    this.#take(SPACE);
    if (this.#at < this.#text.length) this.#refuse('malformed_json', 'text after the end of the value');
  }

  #object(depth: number): object {
    const members = new Map<string, unknown>();
    for (const _ of this.#items('{', '}')) {
      const start = this.#at;
      const name = this.#string();
      if (members.has(name)) this.#refuse('duplicate_member', `a second member ${JSON.stringify(name)}`, start);
      this.#expect(':');
      members.set(name, this.value(depth + 1));
    }
    // fromEntries defines members, and so makes "__proto__" one like any other.
    return Object.fromEntries(members);
  }

  #array(depth: number): unknown[] {
    const items: unknown[] = [];
    for (const _ of this.#items('[', ']')) items.push(this.value(depth + 1));
    return items;
  }

  /** Stops before each item between `open` and `close`; the caller reads it. */
  *#items(open: string, close: string): Generator<void> {
    this.#expect(open);
    if (this.#sees(close)) return;
    do {
      this.#take(SPACE);
      yield;
    } while (this.#sees(','));
    this.#expect(close);
  }

  #string(): string {
    const start = this.#at;
    if (this.#text[start] !== '"') this.#refuse('malformed_json', 'expected a string');
    let end = start + 1;
    while (end < this.#text.length && this.#text[end] !== '"') end += this.#text[end] === '\\' ? 2 : 1;
    this.#at = end + 1;
    const text =
      unquote(this.#text.slice(start, this.#at)) ??
      this.#refuse('malformed_json', 'a string that does not end, or with a wrong escape or a control character', start);
    return isWellFormed(text) ? text : this.#refuse('malformed_json', 'a string with a lone surrogate', start);
  }

  #literal(): unknown {
    const word = this.#take(LITERAL) ?? this.#refuse('malformed_json', 'expected a value');
    return word === 'null' ? null : word === 'true';
  }

  #number(): number {
    const start = this.#at;
    const digits = this.#take(NUMBER) ?? this.#refuse('malformed_json', 'expected a value');
    const number = Number(digits);
    if (!INTEGER.test(digits)) this.#refuse('bad_number', `${digits} is not written as an integer`, start);
    if (!Number.isSafeInteger(number)) this.#refuse('bad_number', `${digits} is beyond ±(2^53 − 1)`, start);
    return number;
  }

  #take(token: RegExp): string | undefined {
    token.lastIndex = this.#at;
    const found = token.exec(this.#text)?.[0];
    if (found !== undefined) this.#at += found.length;
    return found;
  }

  #sees(mark: string): boolean {
    this.#take(SPACE);
    if (this.#text[this.#at] !== mark) return false;
    this.#at += 1;
    return true;
  }

  #expect(mark: string): void {
    if (!this.#sees(mark)) this.#refuse('malformed_json', `expected ${mark}`);
  }

  #refuse(code: RefusalCode, what: string, at: number = this.#at): never {
    const before = this.#text.slice(0, at).split('\n');
    throw new Refused(code, `Line ${before.length}, column ${(before.at(-1)?.length ?? 0) + 1}: ${what}.`);
  }
}

/** `JSON.parse` is strict about escapes, control characters and the closing quote. */
function unquote(quoted: string): string | undefined {
  try {
    const text: unknown = JSON.parse(quoted);
    return typeof text === 'string' ? text : undefined;
  } catch {
    return undefined;
  }
}
