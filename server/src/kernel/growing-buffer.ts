const EMPTY = Buffer.alloc(0);

/** Bytes that come in pieces, together: each is copied as it comes, so that many megabytes are never copied at once. One alone is not copied. */
export class GrowingBuffer {
  #bytes: Buffer;
  #length = 0;

  /** @param capacity how many bytes there will be, where that is known: none of them is copied twice */
  constructor(capacity = 0) {
    this.#bytes = capacity === 0 ? EMPTY : Buffer.allocUnsafe(capacity);
  }

  get length(): number {
    return this.#length;
  }

  /** All of them so far: a view. */
  get bytes(): Buffer {
    return this.#bytes.subarray(0, this.#length);
  }

  add(piece: Buffer): void {
    const length = this.#length + piece.length;
    if (this.#bytes.length === 0) this.#bytes = piece;
    else this.#append(piece, length);
    this.#length = length;
  }

  #append(piece: Buffer, length: number): void {
    if (length > this.#bytes.length) {
      const larger = Buffer.allocUnsafe(2 * length);
      this.#bytes.copy(larger, 0, 0, this.#length);
      this.#bytes = larger;
    }
    piece.copy(this.#bytes, this.#length);
  }

  /** Returns all of them and resets the buffer. */
  take(): Buffer {
    const { bytes } = this;
    this.clear();
    return bytes;
  }

  clear(): void {
    this.#bytes = EMPTY;
    this.#length = 0;
  }
}
