import {
  close,
  closeSync,
  fdatasync,
  fdatasyncSync,
  fsyncSync,
  ftruncateSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  unlinkSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import type { UntoldEnd, Written } from './journal-lines.ts';
import { entryOf, LineMaker, readEntry, readLine, writtenClosed, writtenEntry, writtenJson, writtenOpen } from './journal-lines.ts';
import { linesOf, readLines } from './journal-segment.ts';
import type { JournalBatch, JournalEntry, LaneCeiling, SettlementFeed } from './port.ts';

const SEGMENT_BYTES = 16 * 1024 * 1024;
const SYNC_INTERVAL_MS = 100;
const MOST_BEHIND_MS = 600_000;
const NOTHING: JournalBatch = { entries: [], ceilings: [], acknowledge: () => {} };

/** A hold whose provider is at work, with the entry that settles it should its process die. */
export interface OpenHold extends JournalEntry {
  readonly holdId: string;
}

interface SettlementJournalOptions {
  readonly segmentBytes?: number;
  /** No call is begun while an entry has waited for the ledger for so long. Default: 10 minutes. */
  readonly mostBehindMs?: number;
}

/** Where an entry ends. */
export interface JournalPosition {
  readonly segment: number;
  readonly end: number;
}

/**
 * Settlements and ceilings on their way to the ledger, in append-only segment files `settlements-<n>.log`, a line each: CRC-32 of the rest, a space, JSON.
 *
 * A line `{"open": …}` says before a provider is asked what settles the call should the process die; `recover` does that at the next start.
 *
 * `append` returns after the write call, so an entry survives the death of the process at any later moment; a sync follows within 100 ms for
 * the death of the machine. Reading starts at the oldest segment that is left, so entries may be handed out again after a crash: whoever
 * takes them has to be idempotent.
 */
export class SettlementJournal implements SettlementFeed {
  readonly #dir: string;
  readonly #onDamage: (segment: string, line: Buffer) => void;
  readonly #segmentBytes: number;
  readonly #mostBehindMs: number;
  /** Oldest first; the last is the one that is appended to. Sizes are of whole lines, not known of earlier processes' segments. */
  #segments: { number: number; size: number }[];
  #fd: number;
  #isTorn = false;
  #isUnsynced = false;
  #readOffset = 0;
  #syncTimer: NodeJS.Timeout | undefined;
  #onAppend: () => void = () => {};
  /** The last entry that was appended. */
  #last: JournalPosition | undefined;
  /** Since when the ledger has taken nothing, while something waits for it. */
  #waitingSinceTick: number | undefined;
  readonly #lines = new LineMaker();
  /** Holds in flight, and those that Redis has still to be told of, with the line that says so and the segment that it is in. */
  readonly #open = new Map<string, { line: Written; segment: number }>();

  /** @param onDamage told of every line that cannot be read: a torn last line after a power cut, or a damaged file */
  constructor(dir: string, onDamage: (segment: string, line: Buffer) => void, options: SettlementJournalOptions = {}) {
    mkdirSync(dir, { recursive: true, mode: 0o700 });
    this.#dir = dir;
    this.#onDamage = onDamage;
    this.#segmentBytes = options.segmentBytes ?? SEGMENT_BYTES;
    this.#mostBehindMs = options.mostBehindMs ?? MOST_BEHIND_MS;
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

  /**
   * @param holdId of the hold that is settled by it, where that was begun
   * @throws when the entry could not be written; then nothing of it counts
   */
  append(entry: JournalEntry, holdId?: string): JournalPosition {
    const position = this.#append(writtenEntry(entry, holdId));
    if (holdId !== undefined) this.#open.delete(holdId);
    return position;
  }

  /**
   * A provider is asked next. What is begun and neither settled nor ended is settled by {@link recover} at the next start.
   * @throws when it could not be written, and where the ledger is too far behind
   */
  begin(hold: OpenHold): void {
    if (this.isTooFarBehind()) throw new Error('The ledger has taken no settlement for too long.');
    const line = writtenOpen(hold.holdId, hold);
    this.#writeLine(line);
    this.#open.set(hold.holdId, { line, segment: this.#current().number });
  }

  /** A hold that was begun is released. @throws when it could not be written */
  end(holdId: string): void {
    this.#writeLine(writtenClosed(holdId));
    this.#open.delete(holdId);
  }

  /**
   * A hold is over that no provider was asked for, or that all have refused, and Redis cannot be told before this process ends: the next one tells it.
   * @throws when it could not be written
   */
  endLater(holdId: string, untold: UntoldEnd): void {
    const line = writtenClosed(holdId, untold);
    this.#writeLine(line);
    this.#open.set(holdId, { line, segment: this.#current().number });
  }

  /**
   * Settles what an earlier process had begun when it died, where nothing but its memory had the holds. To be called once, before anything is read
   * or begun.
   * @returns how many holds those were
   */
  recover(): number {
    const { inFlight, unfreed } = this.left();
    for (const [holdId, entry] of inFlight) this.append(entry, holdId);
    for (const holdId of unfreed.keys()) this.end(holdId);
    return inFlight.size;
  }

  /**
   * What an earlier process had begun when it died, and what settles it; and the holds that it could not tell Redis the end of. They
   * are open here until they are settled or ended. To be called before anything is read or begun.
   */
  left(): { readonly inFlight: ReadonlyMap<string, JournalEntry>; readonly unfreed: ReadonlyMap<string, UntoldEnd> } {
    const inFlight = new Map<string, JournalEntry>();
    const unfreed = new Map<string, UntoldEnd>();
    for (const { number } of this.#segments.slice(0, -1)) {
      // Settled or released: of a hold that was begun, whichever line comes last counts. What is damaged is reported where it is read.
      for (const read of linesOf(readFileSync(this.#path(number))).flatMap((line) => readLine(line).lines)) {
        if ('laneId' in read) continue;
        const holdId = 'closed' in read ? read.closed : read.holdId;
        if (holdId === undefined) continue;
        inFlight.delete(holdId);
        unfreed.delete(holdId);
        this.#open.delete(holdId);
        if ('closed' in read) {
          if (read.untold === undefined) continue;
          unfreed.set(holdId, read.untold);
          this.#open.set(holdId, { line: writtenClosed(holdId, read.untold), segment: number });
        } else if (read.open) {
          inFlight.set(holdId, entryOf(read));
          this.#open.set(holdId, { line: writtenOpen(holdId, read), segment: number });
        }
      }
    }
    return { inFlight, unfreed };
  }

  /** @throws when the ceiling could not be written; then it does not hold */
  appendCeiling({ laneId, cap, at }: LaneCeiling): JournalPosition {
    return this.#append(writtenJson({ lane: laneId, cap: cap.toString(), at }));
  }

  #append(line: Written): JournalPosition {
    this.#writeLine(line);
    this.#last = this.position();
    this.#waitingSinceTick ??= performance.now();
    this.#onAppend();
    return this.#last;
  }

  /** For how long the ledger has taken nothing of what waits for it, milliseconds; 0 where nothing does. */
  behindMs(): number {
    return this.#waitingSinceTick === undefined ? 0 : performance.now() - this.#waitingSinceTick;
  }

  /** Whether no call may be begun until the ledger has taken something. */
  isTooFarBehind(): boolean {
    return this.behindMs() > this.#mostBehindMs;
  }

  /** The end of what is there by now. */
  position(): JournalPosition {
    return { segment: this.#current().number, end: this.#current().size };
  }

  #writeLine(line: Written): void {
    if (this.#isUnsynced) this.#startAnew();
    // Before the write rather than behind the one that filled the segment: an entry that is written must not throw any more.
    if (this.#isTorn || this.#current().size >= this.#segmentBytes) this.#rotate();
    this.#write(this.#lines.lineOf(line));
    this.#syncSoon();
  }

  #write(line: Buffer): void {
    const current = this.#current();
    try {
      const written = writeSync(this.#fd, line);
      if (written < line.length) throw new Error('The journal is on a full disk');
    } catch (error) {
      this.#takeBack();
      throw error;
    }
    current.size += line.length;
  }

  /** Cuts off what a failed write may have left: the next entry would be appended to half a line, and lost with it. */
  #takeBack(): void {
    try {
      ftruncateSync(this.#fd, this.#current().size);
    } catch {
      this.#isTorn = true;
    }
  }

  /** Whether everything that was appended has been acknowledged. */
  isDrained(): boolean {
    return this.#segments.length === 1 && this.#readOffset === this.#current().size;
  }

  /** Whether it has nothing that the ledger has not, nor calls in flight: whoever had it says nothing more by it. */
  isSettled(): boolean {
    return this.isDrained() && this.#open.size === 0;
  }

  /** Whether the entry that ends there has been acknowledged, and so every one before it. */
  isAcknowledged({ segment, end }: JournalPosition): boolean {
    const [oldest] = this.#segments;
    return oldest !== undefined && (segment < oldest.number || (segment === oldest.number && end <= this.#readOffset));
  }

  /**
   * The next entries in order, at most about a mebibyte; empty when there are none. One reader at a time.
   * @param before where to stop: nothing that stands behind it is handed out
   */
  async read(before: JournalPosition = this.position()): Promise<JournalBatch> {
    for (;;) {
      const [segment] = this.#segments;
      if (!segment) throw new Error('The journal is closed');
      const isLast = segment.number === before.segment;
      const size = isLast ? before.end : segment.size;
      if (segment.number > before.segment || (isLast && this.#readOffset >= size)) return NOTHING;
      const name = this.#path(segment.number);
      const { lines, end } = await readLines(name, this.#readOffset, { ahead: size - this.#readOffset, isWritten: isLast });
      const read = lines.flatMap((line) => this.#entriesIn(name, line));
      const entries = read.flatMap((one) => ('record' in one && !one.open ? [entryOf(one)] : []));
      const ceilings = read.filter((one) => 'laneId' in one);
      if (entries.length + ceilings.length > 0) return { entries, ceilings, acknowledge: () => this.#acknowledge(segment.number, end) };
      if (lines.length > 0) {
        // Nothing but holds that were begun, or damage: an empty batch would say that there is nothing more.
        this.#readOffset = end;
        continue;
      }
      if (isLast) return NOTHING;
      this.#dropOldest();
    }
  }

  close(): void {
    clearTimeout(this.#syncTimer);
    const drained = this.isDrained() && this.#open.size === 0;
    fsyncSync(this.#fd);
    closeSync(this.#fd);
    if (drained) unlinkSync(this.#path(this.#current().number));
    this.#segments = [];
  }

  #acknowledge(segment: number, end: number): void {
    if (this.#segments[0]?.number === segment) this.#readOffset = end;
    this.#waitingSinceTick = this.#last && !this.isAcknowledged(this.#last) ? performance.now() : undefined;
  }

  #entriesIn(segment: string, line: Buffer) {
    const { lines, isDamaged } = readEntry(line);
    if (isDamaged) this.#onDamage(segment, line);
    return lines;
  }

  /** What is still in flight is written again before the segment that says so goes. */
  #dropOldest(): void {
    for (const [holdId, { line, segment }] of this.#open) {
      if (segment !== this.#segments[0]?.number) continue;
      this.#writeLine(line);
      this.#open.set(holdId, { line, segment: this.#current().number });
    }
    const oldest = this.#segments.shift();
    if (oldest) unlinkSync(this.#path(oldest.number));
    this.#readOffset = 0;
  }

  /**
   * The disk refused to take what was written. The system forgets that once it has said so (a further sync of the same file succeeds), so nothing
   * is written any more until another file has been taken.
   * @throws when the disk does not take that one either
   */
  #startAnew(): void {
    this.#rotate();
    fdatasyncSync(this.#fd);
    this.#isUnsynced = false;
  }

  #rotate(): void {
    const next = this.#current().number + 1;
    const fd = openSync(this.#path(next), 'ax', 0o600);
    const full = this.#fd;
    fdatasync(full, (error) => {
      if (error) this.#isUnsynced = true;
      close(full);
    });
    this.#fd = fd;
    this.#isTorn = false;
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
      fdatasync(this.#fd, (error) => {
        if (error) this.#isUnsynced = true;
      });
    }, SYNC_INTERVAL_MS).unref();
  }

  #path(segment: number): string {
    return join(this.#dir, `settlements-${segment}.log`);
  }
}
