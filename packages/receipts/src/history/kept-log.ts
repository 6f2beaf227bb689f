import { type Checkpoint, parseCheckpoint } from '../log/checkpoint.ts';
import { parseNote } from '../log/note.ts';

/** A state of a log with what says so. */
export interface KnownState extends Checkpoint {
  /** The signed note; of a state that is on a chain, what names it there. */
  readonly note: string;
}

/** What is kept of a log. */
export interface KeptLog {
  /** States that were shown to be of one history, the smallest first: the last is the newest. */
  readonly proven: readonly KnownState[];
  /** States that were met while the log could not be asked. */
  readonly unproven: readonly KnownState[];
}

/** The newest is what counts. The others spare the log a question when their receipts are verified again. */
const MOST_KEPT = 100;

/** The text of a store. */
export const formatKept = ({ proven, unproven }: KeptLog): string =>
  `${JSON.stringify({ proven: notesOf(proven), unproven: notesOf(unproven) }, null, 2)}\n`;

const notesOf = (states: readonly KnownState[]): string[] => states.slice(-MOST_KEPT).map(({ note }) => note);

/** @throws Error for a text that was not made by {@link formatKept}: what it had is gone, and somebody has to know */
export function readKept(text: string, origin: string): KeptLog {
  const { proven, unproven }: { proven?: unknown; unproven?: unknown } = JSON.parse(text);
  const states = (notes: unknown): KnownState[] => {
    if (!Array.isArray(notes) || !notes.every((note) => typeof note === 'string')) throw unreadable(origin);
    return notes.map((note) => stateOfNote(note));
  };
  const kept = { proven: states(proven), unproven: states(unproven) };
  if ([...kept.proven, ...kept.unproven].some((state) => state.origin !== origin) || kept.proven.length === 0) throw unreadable(origin);
  return kept;
}

const unreadable = (origin: string): Error => new Error(`What was kept of the log ${origin} cannot be read.`);

/** @throws Error for what is no checkpoint in a signed note */
export function stateOfNote(note: string): KnownState {
  const parsed = parseNote(note);
  const checkpoint = parsed && parseCheckpoint(parsed.text);
  if (!checkpoint) throw new Error('This is no checkpoint in a signed note.');
  return { ...checkpoint, note };
}
