import { appendFileSync, existsSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { JournalEntry } from '../adapters/lanes/port.ts';
import { ADMIN } from '../kernel/admin-command.ts';
import { newId } from '../kernel/ids.ts';
import type { Foundation } from './foundation.ts';

const WAITING = 'quarantine.jsonl';
/** What an operator asked the gateway to book again. */
const TAKEN = 'quarantine-taken.jsonl';
const GIVEN_UP = 'given-up.jsonl';

/** A line of the file: a settlement, or a line of the journal or an entry in Redis that cannot be read, whole. Amounts are decimal texts. */
interface Line {
  /** Of a settlement that is set aside: it is booked once under it. */
  readonly id?: string;
  readonly reason?: string;
  readonly charged?: string;
  readonly debt?: string;
  readonly covered?: Readonly<Record<string, string>>;
  readonly waived?: string;
  readonly caps?: Readonly<Record<string, string>>;
  readonly record?: string;
  readonly segment?: string;
  readonly damaged?: string;
  /** Of `damaged`, where its bytes are no text. */
  readonly encoding?: 'base64';
}

/** A settlement that was set aside. */
export interface SetAside {
  /** It is booked once under it. */
  readonly id: string;
  readonly entry: JournalEntry;
}

/** Entries that could not be written to the ledger: settlements that the database refuses, damaged lines of the journal and damaged entries in Redis. Each needs an operator. */
export class Quarantine {
  readonly #folder: string;

  /** @param folder of the journal */
  constructor(folder: string) {
    this.#folder = folder;
  }

  add({ record, charged, debt, covered, waived = 0n, caps = {} }: JournalEntry, error: unknown): void {
    const amounts = { charged: `${charged}`, debt: `${debt}`, covered: texts(covered), waived: `${waived}`, caps: texts(caps) };
    this.#append(WAITING, [{ id: newId(), reason: messageOf(error), ...amounts, record }]);
  }

  /**
   * @param segment of the journal, or the stream and the id of an entry in Redis
   * @returns false where it waits already: what was not acknowledged is read again
   */
  addDamaged(segment: string, bytes: string | Buffer): boolean {
    const whole = wholly(bytes);
    if (this.waiting().some((line) => line.damaged === whole.damaged && line.segment === segment)) return false;
    this.#append(WAITING, [{ reason: 'the line is damaged', segment, ...whole }]);
    return true;
  }

  waiting(): Line[] {
    return [...this.#read(TAKEN), ...this.#read(WAITING)];
  }

  /** Asks the gateway of the folder to book again what can be booked; it does so when it runs. */
  askForReplay(): void {
    this.#take();
  }

  /** Whether that was asked, and is not done yet. */
  get isAsked(): boolean {
    return existsSync(this.#path(TAKEN));
  }

  /**
   * Does what was asked.
   * @param book resolves to what is not booked
   * @returns how many it was, and how many wait still
   */
  async replay(
    book: (asides: readonly SetAside[]) => Promise<ReadonlySet<SetAside>>,
  ): Promise<{ readonly booked: number; readonly left: number }> {
    const lines = this.#read(TAKEN);
    const asides = new Map<SetAside, Line>();
    for (const line of lines) {
      const aside = asideOf(line);
      if (aside) asides.set(aside, line);
    }
    const unbooked = await book([...asides.keys()]);
    const booked = new Set([...asides].flatMap(([aside, line]) => (unbooked.has(aside) ? [] : [line])));
    const left = lines.filter((line) => !booked.has(line));
    this.#put(WAITING, left);
    return { booked: booked.size, left: left.length };
  }

  /** Moves them to another file, which is not reported any more. @returns how many */
  giveUp(): number {
    const lines = this.#take();
    this.#put(GIVEN_UP, lines);
    return lines.length;
  }

  /** The gateway may write on meanwhile: what it adds is not among them. */
  #take(): Line[] {
    if (!existsSync(this.#path(TAKEN)) && existsSync(this.#path(WAITING))) renameSync(this.#path(WAITING), this.#path(TAKEN));
    return this.#read(TAKEN);
  }

  #put(file: string, lines: readonly Line[]): void {
    this.#append(file, lines);
    rmSync(this.#path(TAKEN), { force: true });
  }

  #append(file: string, lines: readonly Line[]): void {
    if (lines.length > 0) appendFileSync(this.#path(file), lines.map((line) => `${JSON.stringify(line)}\n`).join(''), { mode: 0o600 });
  }

  #read(file: string): Line[] {
    if (!existsSync(this.#path(file))) return [];
    return readFileSync(this.#path(file), 'utf8').split('\n').filter(Boolean).map(readLine);
  }

  #path(file: string): string {
    return join(this.#folder, file);
  }
}

/** Reports quarantined entries to the log and the metrics; those of earlier processes first, since each one still needs an operator after a restart. */
export function openQuarantine({ dataDir, metrics, log }: Pick<Foundation, 'dataDir' | 'metrics' | 'log'>) {
  const quarantine = new Quarantine(dataDir.file('journal'));
  const before = quarantine.waiting().length;
  if (before > 0) {
    metrics.quarantined(before);
    log.error({ settlements: before }, `settlements wait in journal/quarantine.jsonl: \`${ADMIN} quarantine\``);
  }
  return {
    quarantine,
    waiting: () => quarantine.waiting().length,
    onRefused: (entry: JournalEntry, error: unknown): void => {
      quarantine.add(entry, error);
      metrics.quarantined(1);
      log.fatal({ err: error }, 'the database refuses a settlement; it is set aside in journal/quarantine.jsonl');
    },
    onDamage: (segment: string, line: string | Buffer): void => {
      if (!quarantine.addDamaged(segment, line)) return;
      metrics.quarantined(1);
      log.fatal({ segment }, 'a settlement cannot be read; it is set aside in journal/quarantine.jsonl');
    },
  };
}

/** As text where that has every byte. */
function wholly(bytes: string | Buffer): Pick<Line, 'damaged' | 'encoding'> {
  const text = bytes.toString();
  return typeof bytes === 'string' || Buffer.from(text).equals(bytes)
    ? { damaged: text }
    : { damaged: bytes.toString('base64'), encoding: 'base64' };
}

/** A line that a crash has cut is one too. */
function readLine(text: string): Line {
  try {
    return JSON.parse(text) as Line;
  } catch {
    return { reason: 'the line is damaged', segment: WAITING, damaged: text };
  }
}

/** Undefined for a line that is no settlement. */
function asideOf({ id, charged, debt, covered, waived, caps, record }: Line): SetAside | undefined {
  if (id === undefined || charged === undefined || debt === undefined || record === undefined) return undefined;
  const amounts = { charged: BigInt(charged), debt: BigInt(debt), covered: amountsOf(covered) };
  return { id, entry: { ...amounts, record, waived: BigInt(waived ?? 0), caps: amountsOf(caps) } };
}

const amountsOf = (texts: Readonly<Record<string, string>> = {}): Record<string, bigint> =>
  Object.fromEntries(Object.entries(texts).map(([name, amount]) => [name, BigInt(amount)]));

const texts = (amounts: Readonly<Record<string, bigint>>): Record<string, string> =>
  Object.fromEntries(Object.entries(amounts).map(([name, amount]) => [name, `${amount}`]));

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
