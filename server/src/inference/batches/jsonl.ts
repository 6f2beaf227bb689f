import { isUtf8 } from 'node:buffer';
import { breather } from '../../kernel/turn.ts';

/** One line of a file. */
export interface TextLine {
  /** From 1; empty lines count. */
  readonly number: number;
  /** Without its end; null where it is longer than what was allowed, or no UTF-8. */
  readonly bytes: Buffer | null;
}

const NEWLINE = 0x0a;
const BLANKS = new Set([0x20, 0x09, 0x0d]);
/** After so many others get their turn, if it is time. */
const LINES_AT_ONCE = 1_024;

/** The lines of a file that are not blank, as its bytes come. Of a line that is too long no more is kept than it may have. */
export async function* linesOf(content: AsyncIterable<Uint8Array>, mostBytes: number): AsyncGenerator<TextLine> {
  let parts: Uint8Array[] = [];
  let length = 0;
  let number = 1;
  const keep = (part: Uint8Array): void => {
    length += part.length;
    if (length <= mostBytes) parts.push(part);
    else parts = [];
  };
  const end = (): TextLine | undefined => {
    const line = { number, bytes: length <= mostBytes ? textOf(Buffer.concat(parts)) : null };
    parts = [];
    length = 0;
    number += 1;
    return line.bytes && isBlank(line.bytes, 0, line.bytes.length) ? undefined : line;
  };
  const rest = breather();
  for await (const chunk of content) {
    let start = 0;
    for (let at = chunk.indexOf(NEWLINE); at >= 0; at = chunk.indexOf(NEWLINE, start)) {
      if (number % LINES_AT_ONCE === 0) await rest();
      // A file of nothing else has tens of millions of them.
      if (length === 0 && isBlank(chunk, start, at)) {
        start = at + 1;
        number += 1;
        continue;
      }
      keep(chunk.subarray(start, at));
      start = at + 1;
      const line = end();
      if (line) yield line;
    }
    keep(chunk.subarray(start));
  }
  const last = end();
  if (last) yield last;
}

function isBlank(bytes: Uint8Array, from: number, to: number): boolean {
  for (let at = from; at < to; at += 1) if (!BLANKS.has(bytes[at] ?? 0)) return false;
  return true;
}

/** Some editors begin a file with it. */
const BYTE_ORDER_MARK = Buffer.from('\u{feff}');

function textOf(bytes: Buffer): Buffer | null {
  if (!isUtf8(bytes)) return null;
  return bytes.subarray(0, BYTE_ORDER_MARK.length).equals(BYTE_ORDER_MARK) ? bytes.subarray(BYTE_ORDER_MARK.length) : bytes;
}
