import { open } from 'node:fs/promises';

const READ_BYTES = 1024 * 1024;
const NEWLINE = 10;

/**
 * Whole lines from `offset` on, where they end, and what stands behind the last newline.
 *
 * @param ahead bytes that are known to be there: a buffer of the most that is read at once, dozens of times a second for a
 *   kilobyte each, would have the whole heap collected every second
 */
export async function readLines(path: string, offset: number, ahead: number): Promise<{ lines: Buffer[]; end: number; rest: Buffer }> {
  const file = await open(path, 'r');
  try {
    for (let length = Math.min(Math.max(ahead, 1), READ_BYTES); ; length *= 2) {
      const { bytesRead, buffer } = await file.read(Buffer.allocUnsafe(length), 0, length, offset);
      const bytes = buffer.subarray(0, bytesRead);
      const last = bytes.lastIndexOf(NEWLINE);
      // A line longer than what was asked for: ask for more.
      if (last < 0 && bytesRead === length) continue;
      return { lines: linesOf(bytes.subarray(0, last + 1)), end: offset + last + 1, rest: bytes.subarray(last + 1) };
    }
  } finally {
    await file.close();
  }
}

/** Without their newlines, and without what is empty. */
export function linesOf(bytes: Buffer): Buffer[] {
  const lines: Buffer[] = [];
  for (let from = 0; from < bytes.length; ) {
    const newline = bytes.indexOf(NEWLINE, from);
    const end = newline < 0 ? bytes.length : newline;
    if (end > from) lines.push(bytes.subarray(from, end));
    from = end + 1;
  }
  return lines;
}
