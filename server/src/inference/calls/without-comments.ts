const EMPTY = Buffer.alloc(0);
const LF = 10;
const CR = 13;
const COLON = 58;

/** Leaves out the comment lines of one event, which comes in chunks that are cut anywhere. What comes behind its blank line stays as it is. */
export class WithoutComments {
  #isAtLineStart = true;
  #isInComment = false;

  take(chunk: Buffer): Buffer {
    // Most of a large event is one long line.
    if (!this.#isAtLineStart && !chunk.includes(LF)) return this.#isInComment ? EMPTY : chunk;
    const kept = Buffer.allocUnsafe(chunk.length);
    let length = 0;
    for (let at = 0; at < chunk.length; ) {
      if (this.#isAtLineStart && isBlankLine(chunk, at)) return kept.subarray(0, length + chunk.copy(kept, length, at));
      if (this.#isAtLineStart) this.#isInComment = chunk[at] === COLON;
      const end = chunk.indexOf(LF, at) + 1 || chunk.length;
      if (!this.#isInComment) length += chunk.copy(kept, length, at, end);
      this.#isAtLineStart = chunk[end - 1] === LF;
      at = end;
    }
    return kept.subarray(0, length);
  }
}

const isBlankLine = (chunk: Buffer, at: number): boolean => chunk[at] === LF || (chunk[at] === CR && chunk[at + 1] === LF);
