import { open } from 'node:fs/promises';

const READ_BYTES = 1024 * 1024;
const NEWLINE = 10;

interface Segment {
  /**
   * Bytes that are known to be there: a buffer of the most that is read at once, dozens of times a second for a kilobyte each, would have the
   * whole heap collected every second.
   */
  readonly ahead: number;
  /** It may grow: what has no newline yet is no line. In another one that is the last line, which a power cut may have torn. */
  readonly isWritten: boolean;
}

/** Lines from `offset` on, and where they end. */
export async function readLines(path: string, offset: number, { ahead, isWritten }: Segment): Promise<{ lines: Buffer[]; end: number }> {
  const file = await open(path, 'r');
  try {
    for (let length = Math.min(Math.max(ahead, 1), READ_BYTES); ; length *= 2) {
      const { bytesRead, buffer } = await file.read(Buffer.allocUnsafe(length), 0, length, offset);
      const bytes = buffer.subarray(0, bytesRead);
      const last = bytes.lastIndexOf(NEWLINE);
      // A line longer than what was asked for: ask for more.
      if (last < 0 && bytesRead === length) continue;
      // It may lack nothing but its newline.
      const isAtEnd = bytesRead < length;
      const whole = last < 0 && isAtEnd && !isWritten ? bytes.length : last + 1;
      return { lines: linesOf(bytes.subarray(0, whole)), end: offset + whole };
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
