const BOM = Buffer.from([0xef, 0xbb, 0xbf]);
const [LF, CR] = [10, 13];
const EMPTY: Buffer = Buffer.alloc(0);

/** Whether the bytes may be the beginning of a byte order mark. */
const beginsBom = (bytes: Buffer): boolean => bytes.length < BOM.length && bytes.equals(BOM.subarray(0, bytes.length));

/** The bytes without the mark that some put in front of UTF-8. */
export const withoutBom = (bytes: Buffer): Buffer => (bytes.subarray(0, BOM.length).equals(BOM) ? bytes.subarray(BOM.length) : bytes);

/**
 * Server-sent events may begin with a byte order mark, and their lines may end in CR alone (WHATWG HTML §9.2.6): here the mark goes, and such
 * a CR becomes LF. CRLF stays. Chunks without either pass as they are.
 */
export class EventLines {
  #held: Buffer = EMPTY;
  #hasBegun = false;
  /** Lines end in CR: one at the end of a chunk is not waited behind. */
  #endsInCr = false;
  /** A CR was last: a LF that follows it is its second half. */
  #skipsLf = false;

  push(chunk: Buffer): Buffer {
    const bytes = this.#held.length > 0 ? Buffer.concat([this.#held, chunk]) : chunk;
    this.#held = EMPTY;
    if (!this.#hasBegun && beginsBom(bytes)) {
      this.#held = bytes;
      return EMPTY;
    }
    const text = this.#hasBegun ? bytes : withoutBom(bytes);
    this.#hasBegun = true;
    return this.#withLf(this.#skipsLf && text[0] === LF ? text.subarray(1) : text, text);
  }

  /** What was waited behind. */
  end(): Buffer {
    const held = this.#held;
    this.#held = EMPTY;
    return held[0] === CR ? Buffer.from([LF]) : held;
  }

  #withLf(bytes: Buffer, { length }: Buffer): Buffer {
    if (length > 0) this.#skipsLf = false;
    let at = bytes.indexOf(CR);
    if (at < 0) return bytes;
    let written = bytes;
    for (; at >= 0; at = written.indexOf(CR, at + 1)) {
      if (written[at + 1] === LF) continue;
      if (at === written.length - 1 && !this.#endsInCr) {
        this.#held = Buffer.from([CR]);
        return written.subarray(0, at);
      }
      if (written === bytes) written = Buffer.from(bytes);
      this.#skipsLf = at === written.length - 1;
      this.#endsInCr = true;
      written[at] = LF;
    }
    return written;
  }
}
