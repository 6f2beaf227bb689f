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
}

interface WrittenCeiling {
  readonly lane: string;
  readonly cap: string;
  readonly at: number;
}

/** A settlement, a hold that was begun (`open`) or released (`closed`), or a ceiling. */
type Line = (JournalEntry & { readonly holdId: string | undefined; readonly open: boolean }) | { readonly closed: string } | LaneCeiling;

/** Not a settlement nor a ceiling: known by its first bytes, since there is one such line for every call. */
export const isNoEntry = (line: string): boolean => line.startsWith(OPEN, CRC_DIGITS + 3) || line.startsWith(CLOSED, CRC_DIGITS + 3);

export const lineOf = (json: string): string => `${crc32(json).toString(16).padStart(CRC_DIGITS, '0')} ${json}\n`;

export const entryOf = ({ charged, debt, covered, record }: JournalEntry): JournalEntry => ({ charged, debt, covered, record });

/** @param holdId of the hold that is settled by it, where that was begun */
export const writtenEntry = (entry: JournalEntry, holdId?: string): string =>
  holdId === undefined ? `{${written(entry)}` : `{"hold":"${holdId}",${written(entry)}`;

/** What settles a hold that is begun. */
export const writtenOpen = (holdId: string, entry: JournalEntry): string => `{"${OPEN}":"${holdId}",${written(entry)}`;

/** A hold that was begun is released. */
export const writtenClosed = (holdId: string): string => `{"${CLOSED}":"${holdId}"}`;

/** An entry as JSON, less its first brace. */
function written({ charged, debt, covered, record }: JournalEntry): string {
  const units = Object.entries(covered).map(([meter, amount]) => `"${meter}":"${amount}"`);
  return `"charged":"${charged}","debt":"${debt}","covered":{${units.join()}}${RECORD}${record}}`;
}

/** Undefined for a line that is not as it was written, and for one that never was an entry: neither may stop what comes after it. */
export function parseLine(line: string): Line | undefined {
  const json = line.slice(CRC_DIGITS + 1);
  if (Number.parseInt(line.slice(0, CRC_DIGITS), 16) !== crc32(json)) return undefined;
  try {
    const recordAt = json.indexOf(RECORD);
    if (recordAt < 0) {
      const { lane, cap, at, closed } = JSON.parse(json) as WrittenCeiling & { closed?: string };
      if (closed !== undefined) return { closed };
      return { laneId: lane, cap: BigInt(cap), at };
    }
    // The record is most of the line, and is parsed where the ledger is written. Meters have no such name, so the first one it is.
    const { hold, open, charged, debt, covered } = JSON.parse(`${json.slice(0, recordAt)}}`) as WrittenDecision;
    const units = Object.fromEntries(Object.entries(covered).map(([meter, amount]) => [meter, BigInt(amount)]));
    const entry = { charged: BigInt(charged), debt: BigInt(debt), covered: units, record: json.slice(recordAt + RECORD.length, -1) };
    return { ...entry, holdId: open ?? hold, open: open !== undefined };
  } catch {
    return undefined;
  }
}
