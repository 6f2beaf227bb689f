import { randomBytes } from 'node:crypto';
import { isSmall, jsonPieces } from '../../kernel/written-json.ts';

/** Its hexadecimal digits are base64 too, as images have to be: 48 of them, and four of a number. */
const NAME_BYTES = 24;
const NUMBER_DIGITS = 4;
const LINE_END = 0x0a;

/**
 * What is large in the answer of a tool. The MCP server writes an answer at once, which holds the event loop for half a second where it has
 * thousands of embeddings. So it writes a name in place of each large part, and the part follows in pieces on the way to the client.
 */
export class LargeParts {
  readonly #name = randomBytes(NAME_BYTES).toString('hex');
  readonly #parts: (() => AsyncIterable<string>)[] = [];

  /** A value of the answer. */
  value<T>(value: T): T | string {
    return isSmall(value) ? value : this.#named(() => jsonPieces(value));
  }

  /** A value as JSON in a text of the answer. */
  jsonText(value: unknown): string {
    return isSmall(value) ? JSON.stringify(value) : this.#named(() => quoted(jsonPieces(value)));
  }

  /** The answer as the MCP server writes it, line by line, with its parts. */
  async *written(answer: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array, void, undefined> {
    let chunks: Uint8Array[] = [];
    for await (const chunk of answer) {
      chunks.push(chunk);
      if (chunk.at(-1) !== LINE_END) continue;
      yield* this.#filled(Buffer.concat(chunks));
      chunks = [];
    }
    yield* this.#filled(Buffer.concat(chunks));
  }

  async *#filled(lines: Buffer): AsyncGenerator<Uint8Array, void, undefined> {
    if (this.#parts.length === 0) return yield lines;
    const pattern = new RegExp(`"${this.#name}(\\d{${NUMBER_DIGITS}})"`);
    for (const [at, text] of lines.toString().split(pattern).entries()) {
      // Every other one is the number of a part.
      const part = at % 2 === 1 ? this.#parts[Number(text)] : undefined;
      if (!part) yield Buffer.from(text);
      else for await (const piece of part()) yield Buffer.from(piece);
    }
  }

  #named(part: () => AsyncIterable<string>): string {
    this.#parts.push(part);
    return this.#name + String(this.#parts.length - 1).padStart(NUMBER_DIGITS, '0');
  }
}

async function* quoted(pieces: AsyncIterable<string>): AsyncGenerator<string, void, undefined> {
  yield '"';
  for await (const piece of pieces) yield JSON.stringify(piece).slice(1, -1);
  yield '"';
}
