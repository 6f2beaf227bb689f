/** One line of a file. */
export interface TextLine {
  /** From 1; empty lines count. */
  readonly number: number;
  /** Without its end; null where it is longer than what was allowed, or no UTF-8. */
  readonly text: string | null;
}

const NEWLINE = 0x0a;

/** The lines of a file that are not blank, as its bytes come. Of a line that is too long no more is kept than it may have. */
export async function* linesOf(content: AsyncIterable<Uint8Array>, mostBytes: number): AsyncGenerator<TextLine> {
  let parts: Uint8Array[] = [];
  let length = 0;
  let number = 1;
  const decoder = new TextDecoder('utf-8', { fatal: true });
  const keep = (part: Uint8Array): void => {
    length += part.length;
    if (length <= mostBytes) parts.push(part);
    else parts = [];
  };
  const end = (): TextLine | undefined => {
    const line = { number, text: length <= mostBytes ? textOf(decoder, Buffer.concat(parts)) : null };
    parts = [];
    length = 0;
    number += 1;
    return line.text?.trim() === '' ? undefined : line;
  };
  for await (const chunk of content) {
    let start = 0;
    for (let at = chunk.indexOf(NEWLINE); at >= 0; at = chunk.indexOf(NEWLINE, start)) {
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

function textOf(decoder: TextDecoder, bytes: Uint8Array): string | null {
  try {
    return decoder.decode(bytes);
  } catch {
    return null;
  }
}
