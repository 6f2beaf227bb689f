import type { Output } from './world.ts';

/** What takes less time needs no progress. */
const SHOWN_AFTER_MS = 500;
const SHOWN_EVERY_MS = 100;
const UNITS = ['B', 'KiB', 'MiB', 'GiB'];

/** `12.3 MiB`. */
export function sizeText(bytes: number): string {
  const power = bytes < 1024 ? 0 : Math.min(UNITS.length - 1, Math.floor(Math.log2(bytes) / 10));
  return `${power === 0 ? bytes : (bytes / 1024 ** power).toFixed(1)} ${UNITS[power]}`;
}

/** A progress line on a terminal, overwritten in place; nothing in a pipe. */
export class ProgressLine {
  readonly #err: Output;
  readonly #nowMs: () => number;
  readonly #startedMs: number;
  #toldMs = 0;
  #width = 0;

  constructor(err: Output, nowMs: () => number = () => performance.now()) {
    this.#err = err;
    this.#nowMs = nowMs;
    this.#startedMs = nowMs();
  }

  show(text: string): void {
    const nowMs = this.#nowMs();
    if (!this.#err.isTty || nowMs - this.#startedMs < SHOWN_AFTER_MS || nowMs - this.#toldMs < SHOWN_EVERY_MS) return;
    this.#toldMs = nowMs;
    this.#err.write(`\r${text.padEnd(this.#width)}`);
    this.#width = text.length;
  }

  clear(): void {
    if (this.#width > 0) this.#err.write(`\r${' '.repeat(this.#width)}\r`);
    this.#width = 0;
  }
}

/** The same bytes, with a line that says how many have come. */
export async function* counted(bytes: AsyncIterable<Uint8Array>, line: ProgressLine): AsyncGenerator<Uint8Array, void, undefined> {
  let received = 0;
  try {
    for await (const piece of bytes) {
      received += piece.length;
      line.show(`${sizeText(received)} received`);
      yield piece;
    }
  } finally {
    line.clear();
  }
}
