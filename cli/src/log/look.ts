import type { Checkpoint, LogGrowth, Tile } from '@tallygate/receipts';
import type { CommandWorld } from '../command.ts';
import { EXIT } from '../exit-codes.ts';
import { Failure, reportOf } from '../failure.ts';
import { isOfOneHistory } from './history.ts';
import { fetchCheckpoint, logStatePath, type SignedCheckpoint } from './kept-state.ts';
import type { WitnessOptions } from './witnesses.ts';

export interface LookOptions extends WitnessOptions {
  /** From the first entry, not from the stored state. */
  readonly full?: boolean | undefined;
  /** Compares the entries with the tree too. */
  readonly entries?: boolean | undefined;
}

/** What a look at the log has found. */
export interface Look {
  readonly to: SignedCheckpoint;
  /** The state that the look before ended with. */
  readonly from: Checkpoint | undefined;
  readonly found: LogGrowth | 'other_log';
  readonly tilesRead: number;
}

export const FINDINGS: Record<Exclude<Look['found'], 'ok'>, string> = {
  shrunk: 'The log has fewer entries than it had: it was cut or forked.',
  rewritten: 'The log does not begin with the stored state: entries were changed.',
  other_root: 'The log’s entries do not have the root that it signed.',
  tiles_disagree: 'The log’s tiles contradict each other.',
  entries_disagree: 'An entry of the log is not the one whose hash is in its tree.',
  other_log: 'This is not the log of the stored state.',
};

/**
 * Works the root of the newest state out again from the log's public hashes, from the state on that the look before ended with, and keeps it for
 * the next where all is in order.
 *
 * @throws LogForkError where the log has shown two pasts
 */
export async function lookAtLog(world: CommandWorld, { full = false, entries = false, ...witnesses }: LookOptions): Promise<Look> {
  const path = logStatePath(world);
  const keptNote = await world.readFile(path);
  // Also where nothing else was seen of this log: a contradiction is then stored with both states.
  if (keptNote !== undefined) await isOfOneHistory(world, { checkpoint: keptNote });
  const to = await fetchCheckpoint(world, witnesses);
  const from = keptNote === undefined ? undefined : await stateIn(keptNote);
  if (from && from.origin !== to.origin) return { to, from, found: 'other_log', tilesRead: 0 };

  const { auditGrowth, entriesPath, tilePath } = await import('@tallygate/receipts');
  const { createHash } = await import('node:crypto');
  const client = await world.connect('none');
  let tilesRead = 0;
  const read = async (address: string): Promise<Uint8Array> => {
    tilesRead += 1;
    const response = await client.receipts.tile(address, { signal: world.signal }).catch(asGap);
    return new Uint8Array(await response.arrayBuffer());
  };
  const given = {
    readTile: (tile: Tile) => read(tilePath(tile)),
    readEntries: entries ? (bundle: Omit<Tile, 'level'>) => read(entriesPath(bundle)) : undefined,
    hash: (message: Uint8Array): Uint8Array => createHash('sha256').update(message).digest(),
  };
  const growth = await auditGrowth({ from, to, ...given }).catch(asGap);
  // A full audit also has to begin with the stored state, which `auditGrowth` has shown for `from` by then.
  const found = growth === 'ok' && full && from ? await auditGrowth({ to, ...given }).catch(asGap) : growth;
  if (found === 'ok') await world.writeFile(path, to.note, { isPrivate: true });
  return { to, from, found, tilesRead };
}

/** A log that is there and does not hand out what it has signed is not in order. @throws Failure, or what else was thrown */
async function asGap(error: unknown): Promise<never> {
  const { code, message } = await reportOf(error);
  if (code !== 'not_found' && !(error instanceof RangeError)) throw error;
  throw new Failure('log_incomplete', `The log does not serve what it has signed: ${message}`, EXIT.receiptNotValid);
}

/** It was checked when it was stored, and no other program writes there. */
async function stateIn(note: string): Promise<Checkpoint | undefined> {
  const { parseCheckpoint, parseNote } = await import('@tallygate/receipts');
  const parsed = parseNote(note);
  return parsed && parseCheckpoint(parsed.text);
}

/** The log signs under its own name. */
export const witnessesOf = ({ origin, signers }: SignedCheckpoint): string[] => signers.filter((name) => name !== origin);
