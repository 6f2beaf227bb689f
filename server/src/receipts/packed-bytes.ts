/** Texts that many receipts have are one byte. The list is part of the form: entries are added at its end, and none is ever changed. */
const KNOWN_TEXTS = [
  ...['', '1', '0.5', '/v1/chat/completions', '/v1/completions', '/v1/responses', '/v1/embeddings', '/v1/moderations', '/v1/messages'],
  ...['/v1/images/generations', '/v1/images/edits', '/v1/images/variations', '/v1/audio/speech', '/v1/audio/transcriptions'],
  ...['/v1/audio/translations', '/v1/videos', '/v1/realtime', 'openai', 'anthropic', 'google', 'azure', 'bedrock', 'mistral', 'groq'],
  ...['/v1/rerank', 'cohere', 'jina'],
];
const KNOWN = new Map(KNOWN_TEXTS.map((text, at) => [text, at]));
const MOST_BYTES = 65_536;
const SMALL = 2 ** 31;
/** Seven groups of seven bits are below 2^53. */
const EXACT_BITS = 49n;
const FIRST_INEXACT_FACTOR = 2 ** 49;

/** Bytes written one after the other. Numbers have seven bits a byte (LEB128). */
export class PackedWriter {
  #bytes = Buffer.alloc(512);
  #at = 0;

  /** @param value 0 to 255 */
  byte(value: number): void {
    this.#room(1);
    this.#bytes[this.#at] = value;
    this.#at += 1;
  }

  /** @throws RangeError for a negative number or a fraction */
  number(value: number): void {
    if (value >= SMALL) {
      this.amount(BigInt(value));
      return;
    }
    if (!Number.isInteger(value) || value < 0) throw new RangeError(`${value} has no packed form`);
    let rest = value;
    for (; rest > 0x7f; rest >>>= 7) this.byte((rest & 0x7f) | 0x80);
    this.byte(rest);
  }

  /** @throws RangeError for a negative amount */
  amount(value: bigint): void {
    if (value < BigInt(SMALL) && value >= 0n) {
      this.number(Number(value));
      return;
    }
    if (value < 0n) throw new RangeError(`${value} has no packed form`);
    let rest = value;
    for (; rest > 0x7fn; rest >>= 7n) this.byte(Number(rest & 0x7fn) | 0x80);
    this.byte(Number(rest));
  }

  text(value: string): void {
    const known = KNOWN.get(value);
    if (known !== undefined) {
      this.number(known * 2);
      return;
    }
    const length = Buffer.byteLength(value);
    this.number(length * 2 + 1);
    this.#room(length);
    this.#at += this.#bytes.write(value, this.#at);
  }

  /** @param length of the bytes. @throws RangeError for other hex */
  hex(value: string, length: number): void {
    this.#room(length);
    if (value.length !== length * 2 || this.#bytes.write(value, this.#at, length, 'hex') !== length)
      throw new RangeError(`${value} is not ${length} bytes in hex`);
    this.#at += length;
  }

  done(): Buffer {
    return Buffer.from(this.#bytes.subarray(0, this.#at));
  }

  #room(length: number): void {
    const needed = this.#at + length;
    if (needed <= this.#bytes.length) return;
    if (needed > MOST_BYTES) throw new RangeError('A receipt this large has no packed form');
    const larger = Buffer.alloc(Math.max(needed, this.#bytes.length * 2));
    this.#bytes.copy(larger);
    this.#bytes = larger;
  }
}

/** Reads what a {@link PackedWriter} has written. @throws RangeError where the bytes end too soon */
export class PackedReader {
  readonly #bytes: Buffer;
  #at = 0;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  byte(): number {
    const value = this.#bytes[this.#at];
    if (value === undefined) throw new RangeError('A packed receipt ends too soon');
    this.#at += 1;
    return value;
  }

  number(): number {
    return Number(this.#value());
  }

  /** An amount as a decimal number. */
  amountText(): string {
    return String(this.#value());
  }

  /** A number while it is exact as one: nearly all are, and a bigint takes an allocation for each of its bytes. */
  #value(): number | bigint {
    let value = 0;
    for (let factor = 1; factor < FIRST_INEXACT_FACTOR; factor *= 128) {
      const next = this.byte();
      value += (next & 0x7f) * factor;
      if (next < 0x80) return value;
    }
    let large = BigInt(value);
    for (let shift = EXACT_BITS; ; shift += 7n) {
      const next = this.byte();
      large |= BigInt(next & 0x7f) << shift;
      if (next < 0x80) return large;
    }
  }

  text(): string {
    const said = this.number();
    if (said % 2 === 1) return this.#take((said - 1) / 2).toString();
    const known = KNOWN_TEXTS[said / 2];
    if (known === undefined) throw new RangeError(`A packed receipt names the text ${said / 2}, which is not known`);
    return known;
  }

  hex(length: number): string {
    return this.#take(length).toString('hex');
  }

  #take(length: number): Buffer {
    const end = this.#at + length;
    if (end > this.#bytes.length) throw new RangeError('A packed receipt ends too soon');
    const taken = this.#bytes.subarray(this.#at, end);
    this.#at = end;
    return taken;
  }
}
