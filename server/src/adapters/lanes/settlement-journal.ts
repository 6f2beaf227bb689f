import { closeSync, fdatasync, fsyncSync, mkdirSync, openSync, readdirSync, unlinkSync, writeSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { crc32 } from 'node:zlib';
import type { JournalBatch, JournalEntry, ReadEntry, SettlementFeed } from './port.ts';

const SEGMENT_BYTES = 16 * 1024 * 1024;
const READ_BYTES = 1024 * 1024;
const SYNC_INTERVAL_MS = 100;
const NEWLINE = 10;
const CRC_DIGITS = 8;

/**
 * Settlements on their way to the ledger, in append-only segment files `settlements-<n>.log`, a line each: CRC-32 of the rest, a space, JSON.
 *
 * `append` returns after the write call, so an entry survives the death of the process at any later moment; a sync follows within 100 ms for
 * the death of the machine. Reading starts at the oldest segment that is left, so entries may be handed out again after a crash: whoever
 * takes them has to be idempotent.
 */
export class SettlementJournal implements SettlementFeed {
  readonly #dir: string;
  readonly #onDamage: (segment: string, line: string) => void;
  #segments: { number: number; size: number }[];
  #fd: number;
  #readOffset = 0;
  #syncTimer: NodeJS.Timeout | undefined;
  #onAppend: () => void = () => {};

  /** @param onDamage told of every line that cannot be read: a torn last line after a power cut, or a damaged file */
  constructor(dir: string, onDamage: (segment: string, line: string) => void) {
    mkdirSync(dir, { recursive: true, mode: 0o700 });
    this.#dir = dir;
    this.#onDamage = onDamage;
    const numbers = readdirSync(dir)
      .flatMap((name) => /^settlements-(\d+)\.log$/.exec(name)?.[1] ?? [])
      .map(Number)
      .sort((a, b) => a - b);
    // A segment of an earlier process is never appended to: its last line may be torn.
    const current = (numbers.at(-1) ?? 0) + 1;
    this.#segments = [...numbers.map((number) => ({ number, size: Number.POSITIVE_INFINITY })), { number: current, size: 0 }];
    this.#fd = openSync(this.#path(current), 'ax', 0o600);
  }

  /** Calls back after every append; for the one reader. */
  onAppend(callback: () => void): void {
    this.#onAppend = callback;
  }

  /** @throws when the entry could not be written; then nothing of it counts */
  append({ charged, debt, covered, record }: JournalEntry): void {
    const units = Object.entries(covered).map(([meter, amount]) => `"${meter}":"${amount}"`);
    const json = `{"charged":"${charged}","debt":"${debt}","covered":{${units.join()}},"record":${record}}`;
    const line = `${crc32(json).toString(16).padStart(CRC_DIGITS, '0')} ${json}\n`;
    this.#write(Buffer.from(line));
    this.#syncSoon();
    if (this.#current().size >= SEGMENT_BYTES) this.#rotate();
    this.#onAppend();
  }

  #write(line: Buffer): void {
    const current = this.#current();
    let written = 0;
    try {
      written = writeSync(this.#fd, line);
      if (written < line.length) throw new Error('The journal is on a full disk');
    } catch (error) {
      current.size += written;
      // Nothing is appended behind a torn line: it would be lost with it.
      this.#rotate();
      throw error;
    }
    current.size += written;
  }

  /** Whether everything that was appended has been acknowledged. */
  isDrained(): boolean {
    return this.#segments.length === 1 && this.#readOffset === this.#current().size;
  }

  /** The next entries in order, at most about a mebibyte; empty when there are none. One reader at a time. */
  async read(): Promise<JournalBatch> {
    for (;;) {
      const [segment] = this.#segments;
      if (!segment) throw new Error('The journal is closed');
      const name = this.#path(segment.number);
      const { lines, end, rest, atEnd } = await readLines(name, this.#readOffset);
      if (lines.length > 0) {
        const entries = lines.flatMap((line) => parseLine(line) ?? this.#damaged(name, line));
        return { entries, acknowledge: () => this.#acknowledge(segment.number, end) };
      }
      if (segment === this.#current() || !atEnd) return { entries: [], acknowledge: () => {} };
      if (rest) this.#damaged(name, rest);
      this.#dropOldest();
    }
  }

  close(): void {
    clearTimeout(this.#syncTimer);
    const drained = this.isDrained();
    fsyncSync(this.#fd);
    closeSync(this.#fd);
    if (drained) unlinkSync(this.#path(this.#current().number));
    this.#segments = [];
  }

  #acknowledge(segment: number, end: number): void {
    if (this.#segments[0]?.number === segment) this.#readOffset = end;
  }

  #damaged(segment: string, line: string): [] {
    this.#onDamage(segment, line);
    return [];
  }

  #dropOldest(): void {
    const oldest = this.#segments.shift();
    if (oldest) unlinkSync(this.#path(oldest.number));
    this.#readOffset = 0;
  }

  #rotate(): void {
    const next = this.#current().number + 1;
    const fd = openSync(this.#path(next), 'ax', 0o600);
    closeSync(this.#fd);
    this.#fd = fd;
    this.#segments.push({ number: next, size: 0 });
  }

  #current(): { number: number; size: number } {
    const current = this.#segments.at(-1);
    if (!current) throw new Error('The journal is closed');
    return current;
  }

  #syncSoon(): void {
    this.#syncTimer ??= setTimeout(() => {
      this.#syncTimer = undefined;
      fdatasync(this.#fd, () => {}); // A failing disk shows in the next write.
    }, SYNC_INTERVAL_MS).unref();
  }

  #path(segment: number): string {
    return join(this.#dir, `settlements-${segment}.log`);
  }
}

/** Whole lines from `offset` on, where they end, and what stands behind the last newline. */
async function readLines(path: string, offset: number): Promise<{ lines: string[]; end: number; rest: string; atEnd: boolean }> {
  const file = await open(path, 'r');
  try {
    for (let length = READ_BYTES; ; length *= 2) {
      const { bytesRead, buffer } = await file.read(Buffer.allocUnsafe(length), 0, length, offset);
      const text = buffer.subarray(0, bytesRead);
      const last = text.lastIndexOf(NEWLINE);
      // A line longer than what was asked for: ask for more.
      if (last < 0 && bytesRead === length) continue;
      const lines = last < 0 ? [] : text.subarray(0, last).toString('utf8').split('\n');
      return { lines, end: offset + last + 1, rest: text.subarray(last + 1).toString('utf8'), atEnd: bytesRead < length };
    }
  } finally {
    await file.close();
  }
}

function parseLine(line: string): ReadEntry | undefined {
  const json = line.slice(CRC_DIGITS + 1);
  if (Number.parseInt(line.slice(0, CRC_DIGITS), 16) !== crc32(json)) return undefined;
  const entry = JSON.parse(json) as { charged: string; debt: string; covered: Record<string, string>; record: unknown };
  const covered = Object.fromEntries(Object.entries(entry.covered).map(([meter, amount]) => [meter, BigInt(amount)]));
  return { charged: BigInt(entry.charged), debt: BigInt(entry.debt), covered, record: entry.record };
}
