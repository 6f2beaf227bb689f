import { type Checkpoint, parseCheckpoint, parseNote } from '@tallygate/receipts';
import type { PoolClient } from 'pg';
import { ownRecords } from '../own-records.ts';
import type { SigningKey } from '../signing-keys.ts';
import { LogStop } from './log-stops.ts';
import type { LogRow } from './own-state.ts';
import { readRanges } from './stored-tree.ts';

/**
 * The newest state that this gateway has signed, where whoever writes in the database does not reach: the database alone cannot tell a log that
 * is new from one that was made to forget.
 */
export interface KeptState {
  /** The note; undefined before the first. */
  read(): Promise<string | undefined>;
  keep(note: string): Promise<void>;
}

/** What is put down when somebody resumes a log that is not the one of the kept state. */
const seenAs = ({ origin, size, root }: Checkpoint): string => `kept ${origin} ${size} ${Buffer.from(root).toString('base64')}`;

/**
 * @param keys that seal what somebody has seen
 * @throws LogStop where the log does not begin with the state that was kept, unless somebody has looked and resumed since
 */
export async function mustContinue(client: PoolClient, log: LogRow, kept: KeptState, keys: readonly SigningKey[]): Promise<void> {
  const note = await kept.read();
  const said = note === undefined ? undefined : parseCheckpoint(parseNote(note)?.text ?? '');
  if (!said) return;
  const fault = await whyOther(client, log, said);
  if (!fault || (await ownRecords(client, keys)).has(seenAs(said))) return;
  throw new LogStop(`${fault}: entries were taken out, or a backup was put back that is older than what was published`, seenAs(said));
}

async function whyOther(client: PoolClient, log: LogRow, said: Checkpoint): Promise<string | undefined> {
  if (log.origin !== said.origin)
    return `This gateway has signed ${said.size} entries of the log ${said.origin}, and the database has ${log.origin}`;
  if (log.size < said.size) return `This gateway has signed a log of ${said.size} entries, and the database has ${log.size}`;
  return (await hasRoot(client, said)) ? undefined : `The first ${said.size} entries are not those that this gateway has signed`;
}

async function hasRoot(client: PoolClient, { size, root }: Checkpoint): Promise<boolean> {
  if (size === 0) return true;
  try {
    const [own] = await readRanges(client, [{ start: 0, end: size }]);
    return own !== undefined && Buffer.from(own).equals(root);
  } catch {
    // A node is not there.
    return false;
  }
}
