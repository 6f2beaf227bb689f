import { toBase64, toHex } from '../encoding.ts';
import { type Consistency, consistencyOf } from '../log/proofs.ts';
import { type ReadTile, rangesFromTiles } from '../log/tiles.ts';
import { consistencyRanges } from '../log/tree.ts';
import { formatKept, type KeptLog, type KnownState, readKept, stateOfNote } from './kept-log.ts';
import { type LogForkCode, LogForkError } from './log-fork-error.ts';
import type { LogStore } from './log-store.ts';

/** Against what a state is compared, and whom to ask for what is between the two. */
export interface History {
  readonly store: LogStore;
  /** Asks the log. Throws `LogAwayError` where nobody answers, and any other error where the answer is no tile. Left out, nobody is asked. */
  readonly readTile?: ReadTile | undefined;
}

/**
 * How a state goes together with those that were kept. `first`: none was kept of this log. `known`: it was shown to be of the same history
 * earlier, `proven`: just now. `unproven`: the log could not be asked; the state is kept, and compared as soon as the log can be asked.
 */
export type Remembered = 'first' | 'known' | 'proven' | 'unproven';

/**
 * Compares a state of a log with the newest that was kept of that log, and keeps it: as Go's sumdb client does. Of two sizes, the log's own
 * tiles have to show that the larger one begins with the smaller one; of one size, there is one root.
 *
 * @param note a checkpoint whose signature was verified
 * @throws LogForkError where they exclude each other, or the log does not prove that they do not; both are kept as evidence
 * @throws LogAwayError never: see `unproven`
 */
export async function rememberCheckpoint(note: string, { store, readTile }: History): Promise<Remembered> {
  const met = stateOfNote(note);
  for (;;) {
    const text = await store.read(met.origin);
    const { found, next } = await compared(text === undefined ? undefined : readKept(text, met.origin), met, { store, readTile });
    // Another process may have kept something meanwhile: then that is to be compared too.
    if (!next || (await store.replace(met.origin, text, formatKept(next)))) return found;
  }
}

/**
 * The same for a state that is on a chain or in a timestamp, and that the log did not sign there: it is compared, and not kept.
 *
 * @param said what names the state, for the evidence
 */
export async function compareState(
  state: Pick<KnownState, 'origin' | 'size' | 'root'>,
  said: string,
  { store, readTile }: History,
): Promise<Remembered> {
  const text = await store.read(state.origin);
  if (text === undefined) return 'first';
  return (await compared(readKept(text, state.origin), { ...state, note: said }, { store, readTile })).found;
}

interface Compared {
  readonly found: Remembered;
  /** What is to be kept; undefined where that is what is kept already. */
  readonly next?: KeptLog;
}

async function compared(kept: KeptLog | undefined, met: KnownState, { store, readTile }: History): Promise<Compared> {
  if (!kept) return { found: 'first', next: { proven: [met], unproven: [] } };
  const all = [...kept.proven, ...kept.unproven];
  const other = all.find((state) => state.size === met.size && !isSame(state, met));
  if (other) await accuse({ kept: other, met, code: 'log_forked', proof: undefined }, store);
  const isProven = kept.proven.some((state) => isSame(state, met));
  const isKept = isProven || kept.unproven.some((state) => isSame(state, met));
  const waiting = isKept ? kept.unproven : [...kept.unproven, met];
  if (waiting.length === 0) return { found: 'known' };

  let { proven } = kept;
  const unproven: KnownState[] = [];
  for (const state of waiting) {
    const newest = proven.at(-1) ?? state;
    if (await isOneHistory(newest, state, { store, readTile })) proven = [...proven, state].sort((a, b) => a.size - b.size);
    else unproven.push(state);
  }
  const found = isProven ? 'known' : unproven.some((state) => isSame(state, met)) ? 'unproven' : 'proven';
  const isUnchanged = isKept && unproven.length === kept.unproven.length;
  return isUnchanged ? { found } : { found, next: { proven, unproven } };
}

const isSame = (a: KnownState, b: KnownState): boolean => a.size === b.size && toHex(a.root) === toHex(b.root);

/** False where the log could not be asked. */
async function isOneHistory(kept: KnownState, met: KnownState, { store, readTile }: History): Promise<boolean> {
  if (!readTile) return false;
  const [old, young] = kept.size <= met.size ? [kept, met] : [met, kept];
  const proof = await proofFromTiles(old, young, readTile);
  if (proof === 'away') return false;
  if (proof?.shows === 'consistent') return true;
  const isForked = proof?.shows === 'other_beginning';
  return accuse({ kept, met, code: isForked ? 'log_forked' : 'log_not_consistent', proof: isForked ? proof : undefined }, store);
}

/** That the larger state begins with the smaller one, or with another one of that size. */
interface Proof {
  readonly shows: Consistency;
  /** Root of the smaller size as the larger state has it. */
  readonly beginning: Uint8Array;
  readonly path: readonly Uint8Array[];
}

/** Undefined where the log answers with something else than the tiles of the larger state. */
async function proofFromTiles(old: KnownState, young: KnownState, readTile: ReadTile): Promise<Proof | 'away' | undefined> {
  try {
    const ranges = [{ start: 0, end: old.size }, ...consistencyRanges(old.size, young.size)];
    const [beginning = new Uint8Array(), ...path] = await rangesFromTiles(ranges, young.size, readTile);
    const claim = { oldSize: old.size, oldRoot: old.root, newSize: young.size, newRoot: young.root, path, beginning };
    return { shows: consistencyOf(claim), beginning, path };
  } catch (error) {
    // By its name: the caller may have it from another copy of this package.
    if (error instanceof Error && error.name === 'LogAwayError') return 'away';
    if (error instanceof Error && error.name === 'AbortError') throw error;
    return undefined;
  }
}

interface Accusation {
  readonly kept: KnownState;
  readonly met: KnownState;
  readonly code: LogForkCode;
  readonly proof: Proof | undefined;
}

async function accuse({ kept, met, code, proof }: Accusation, store: LogStore): Promise<never> {
  const { origin } = met;
  const reason = reasonOf(kept, met, code);
  const evidence = {
    object: 'log_fork_evidence',
    ...{ origin, code, reason, kept: kept.note, met: met.note },
    consistency: proof ? { beginning: toBase64(proof.beginning), path: proof.path.map(toBase64) } : null,
  };
  const place = await store.keepEvidence(origin, `${JSON.stringify(evidence, null, 2)}\n`);
  throw new LogForkError(reason, { code, origin, evidence: place, kept: kept.note, met: met.note });
}

function reasonOf(kept: KnownState, met: KnownState, code: LogForkCode): string {
  if (kept.size === met.size) return `The log ${met.origin} has shown two states of ${met.size} entries with different roots.`;
  const [old, young] = kept.size < met.size ? [kept, met] : [met, kept];
  return code === 'log_forked'
    ? `The log ${met.origin} has shown a state of ${young.size} entries that does not begin with the state of ${old.size} entries that it had shown.`
    : `The log ${met.origin} does not prove that its state of ${young.size} entries begins with its state of ${old.size} entries.`;
}
