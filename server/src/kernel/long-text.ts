import { nextTurn } from './turn.ts';

/** A string that is made of more bytes gets a turn of its own: some 0.5 ms for each megabyte. */
const LARGE_BYTES = 4 * 1024 * 1024;
/** Characters of a text that are not all in Latin-1 take two bytes each. What is longer than this is base64, which is. */
export const MOST_WIDE_CHARACTERS = 28 * 1024 * 1024;

/** A text is too long to become a string without holding the event loop. */
export class WideTextFault extends SyntaxError {
  constructor() {
    super(`A text that is not all in Latin-1 may have ${MOST_WIDE_CHARACTERS} characters`);
  }
}

/**
 * A string of many megabytes, of pieces. Added to one another they would be joined by whoever looks at them first, in the same turn, and be moved
 * by the garbage collector until then. Here each is measured, then written, and forgotten, and the whole is made at once.
 */
export class LongText {
  readonly #bytes: Buffer;
  #length = 0;
  #isWide = false;
  #written: Buffer | undefined;
  #at = 0;

  /** @param bytes as JSON has it, between its quotes */
  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  /** Each character is a byte: there is nothing to write. Known once all is measured. */
  get isPlain(): boolean {
    return this.#length === this.#bytes.length;
  }

  /** @throws WideTextFault */
  measure(piece: string, bytes: number): void {
    this.#length += piece.length;
    this.#isWide ||= piece.length < bytes && BEYOND_LATIN1.test(piece);
    if (this.#isWide && this.#length > MOST_WIDE_CHARACTERS) throw new WideTextFault();
  }

  write(piece: string): void {
    this.#written ??= Buffer.allocUnsafe(this.#isWide ? 2 * this.#length : this.#length);
    this.#at += this.#written.write(piece, this.#at, this.#encoding);
  }

  async whole(): Promise<string> {
    const bytes = this.#written ?? this.#bytes;
    const isLarge = bytes.length > LARGE_BYTES;
    if (isLarge) await nextTurn();
    const text = bytes.toString(this.#encoding);
    if (isLarge) await nextTurn();
    return text;
  }

  get #encoding(): 'utf16le' | 'latin1' {
    return this.#isWide ? 'utf16le' : 'latin1';
  }
}

const BEYOND_LATIN1 = /[^\0-\xff]/;
