/** A whole answer where a stream was asked for is no longer. */
const MOST_BYTES = 1024 * 1024;

/** What came before anything of a stream was passed on: should it be none, it may tell of its usage all the same. */
export class StreamHead {
  #parts: Buffer[] = [];
  #bytes = 0;

  keep(chunk: Buffer): void {
    if (this.#bytes >= MOST_BYTES) return;
    this.#parts.push(chunk);
    this.#bytes += chunk.length;
  }

  /** It is a stream. */
  drop(): void {
    this.#parts = [];
    this.#bytes = MOST_BYTES;
  }

  get bytes(): Buffer {
    return Buffer.concat(this.#parts);
  }
}
