import { crc32 } from 'node:zlib';
import type { JournalEntry, LaneCeiling } from './port.ts';

const CRC_DIGITS = 8;
/** What stands in front of an entry's record. */
const RECORD = ',"record":';
const OPEN = 'open';
const CLOSED = 'closed';

interface WrittenDecision {
  readonly hold?: string;
  readonly open?: string;
  readonly charged: string;
  readonly debt: string;
  readonly covered: Record<string, string>;
  readonly waived?: string;
  readonly caps?: Record<string, string>;
}

interface WrittenCeiling {
  readonly lane: string;
  readonly cap: string;
  readonly at: number;
}

/** A hold that Redis could not be told the end of. */
export interface UntoldEnd {
  readonly partition: number;
  /** The process whose hold it was: another may have taken one of that name since. */
  readonly owner: string;
}

/** A hold that is over. */
interface Closed {
  readonly closed: string;
  readonly untold?: UntoldEnd | undefined;
}

/** A settlement, a hold that was begun (`open`) or released (`closed`), or a ceiling. */
type Line = (JournalEntry & { readonly holdId: string | undefined; readonly open: boolean }) | Closed | LaneCeiling;

/** Where the name of the first member begins. */
const NAME_AT = CRC_DIGITS + 3;

/** Not a settlement nor a ceiling: known by its first bytes, since there is one such line for every call. */
const isNoEntry = (line: Buffer): boolean => {
  const name = line.toString('latin1', NAME_AT, NAME_AT + CLOSED.length);
  return name.startsWith(OPEN) || name === CLOSED;
};

/** As it was written, to the last bit. */
const isWhole = (line: Buffer): boolean =>
  line.length > CRC_DIGITS && Number.parseInt(line.toString('latin1', 0, CRC_DIGITS), 16) === crc32(line.subarray(CRC_DIGITS + 1));

const ROOM_BYTES = 16 * 1024;
const MOST_BYTES_A_CHARACTER = 3;
const [SPACE, NEWLINE] = [0x20, 0x0a];

/** The JSON of a line, in pieces: V8 would copy the record once more to join them. */
export interface Written {
  readonly head: string;
  readonly record: string;
  readonly tail: string;
}

export const writtenJson = (value: object): Written => ({ head: JSON.stringify(value), record: '', tail: '' });

/** Makes lines in one buffer, since there are two for every call: as a text each would be encoded for its checksum, and again to be written. */
export class LineMaker {
  readonly #room = Buffer.allocUnsafeSlow(ROOM_BYTES);

  /** @returns the line, as bytes that are its own until the next one is made */
  lineOf({ head, record, tail }: Written): Buffer {
    const most = CRC_DIGITS + (head.length + record.length + tail.length) * MOST_BYTES_A_CHARACTER + 2;
    const room = most <= ROOM_BYTES ? this.#room : Buffer.allocUnsafe(most);
    let end = CRC_DIGITS + 1 + room.write(head, CRC_DIGITS + 1);
    end += room.write(record, end);
    end += room.write(tail, end);
    const checksum = crc32(room.subarray(CRC_DIGITS + 1, end));
    room.write(checksum.toString(16).padStart(CRC_DIGITS, '0'), 0, 'latin1');
    room[CRC_DIGITS] = SPACE;
    room[end] = NEWLINE;
    return room.subarray(0, end + 1);
  }
}

export const entryOf = ({ charged, debt, covered, record, waived, caps }: JournalEntry): JournalEntry => ({
  ...{ charged, debt, covered, record },
  ...(waived && { waived }),
  ...(caps && { caps }),
});

/** @param holdId of the hold that is settled by it, where that was begun */
export const writtenEntry = (entry: JournalEntry, holdId?: string): Written =>
  written(holdId === undefined ? '{' : `{"hold":"${holdId}",`, entry);

/** What settles a hold that is begun. */
export const writtenOpen = (holdId: string, entry: JournalEntry): Written => written(`{"${OPEN}":"${holdId}",`, entry);

/**
 * A hold that was begun is released.
 * @param untold where Redis may hold it still
 */
export const writtenClosed = (holdId: string, untold?: UntoldEnd): Written => writtenJson({ [CLOSED]: holdId, ...untold });

/** An entry as JSON, behind the beginning of its object. */
function written(beginning: string, { charged, debt, covered, record, waived, caps }: JournalEntry): Written {
  const more = `${waived ? `,"waived":"${waived}"` : ''}${caps ? `,"caps":{${amountsText(caps)}}` : ''}`;
  const head = `${beginning}"charged":"${charged}","debt":"${debt}","covered":{${amountsText(covered)}}${more}${RECORD}`;
  return { head, record, tail: '}' };
}

function amountsText(amounts: Readonly<Record<string, bigint>>): string {
  let text = '';
  for (const name in amounts) text += `${text === '' ? '' : ','}"${name}":"${amounts[name]}"`;
  return text;
}

const readAmounts = (amounts: Record<string, string>): Record<string, bigint> =>
  Object.fromEntries(Object.entries(amounts).map(([name, amount]) => [name, BigInt(amount)]));

/**
 * What can be read of a line, and whether it is damaged. A line that swallowed the newline in front of others has these in it whole: each has a
 * checksum of its own.
 */
export function readLine(line: Buffer): { readonly lines: readonly Line[]; readonly isDamaged: boolean } {
  const read = wholeLine(line);
  return read ? { lines: [read], isDamaged: false } : { lines: linesWithin(line), isDamaged: true };
}

/** As {@link readLine}, without what was begun or released, which is not parsed: the ledger needs neither. */
export function readEntry(line: Buffer): { readonly lines: readonly Line[]; readonly isDamaged: boolean } {
  return isNoEntry(line) && isWhole(line) ? { lines: [], isDamaged: false } : readLine(line);
}

/** Where a line may begin: the digits of a checksum, a space and a brace. */
const BEGINNING = /[0-9a-f]{8} \{"/g;

/** At most two bytes of a newline and what has become of it lie between two lines. */
const BETWEEN = 2;

function linesWithin(damaged: Buffer): Line[] {
  const starts = [...damaged.toString('latin1').matchAll(BEGINNING)].map(({ index }) => index);
  return starts.flatMap((start, at) => {
    const next = starts[at + 1] ?? damaged.length;
    for (let end = next; end >= next - BETWEEN && end > start; end -= 1) {
      const line = wholeLine(damaged.subarray(start, end));
      if (line) return [line];
    }
    return [];
  });
}

/** Undefined for a line that is not as it was written, and for one that never was an entry: neither may stop what comes after it. */
function wholeLine(line: Buffer): Line | undefined {
  if (!isWhole(line)) return undefined;
  const json = line.toString('utf8', CRC_DIGITS + 1);
  try {
    const recordAt = json.indexOf(RECORD);
    if (recordAt < 0) {
      const { lane, cap, at, closed, partition, owner } = JSON.parse(json) as WrittenCeiling & Partial<Closed & UntoldEnd>;
      if (closed !== undefined)
        return { closed, untold: partition === undefined || owner === undefined ? undefined : { partition, owner } };
      return { laneId: lane, cap: BigInt(cap), at };
    }
    // The record is most of the line, and is parsed where the ledger is written. Meters have no such name, so the first one it is.
    const { hold, open, charged, debt, covered, waived, caps } = JSON.parse(`${json.slice(0, recordAt)}}`) as WrittenDecision;
    const record = json.slice(recordAt + RECORD.length, -1);
    return {
      ...{ charged: BigInt(charged), debt: BigInt(debt), covered: readAmounts(covered), record },
      ...(waived !== undefined && { waived: BigInt(waived) }),
      ...(caps !== undefined && { caps: readAmounts(caps) }),
      ...{ holdId: open ?? hold, open: open !== undefined },
    };
  } catch {
    return undefined;
  }
}
