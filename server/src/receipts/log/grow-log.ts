import { sign } from 'node:crypto';
import { type Checkpoint, checkpointText, leafHash, signatureLine } from '@tallygate/receipts';
import type { PoolClient } from 'pg';
import type { Clock } from '../../kernel/clock.ts';
import { prepared } from '../../kernel/statements.ts';
import type { SigningKey } from '../signing-keys.ts';
import { type KeptState, mustContinue } from './kept-state.ts';
import { LogStop, stopsOf } from './log-stops.ts';
import { type LogRow, noteKeyOf, type OwnState, ownNewestState, readLogRow } from './own-state.ts';
import { sha256 } from './stored-tree.ts';
import { EMPTY_EDGE, type GrownEdge, grownEdge, rootOfEdge, TILE_WIDTH } from './tile-rows.ts';

/** The log as whoever is about to grow it holds it, until they commit: nobody else grows it meanwhile. */
export interface HeldLog extends LogRow {
  /** Undefined while it is empty. */
  readonly state: OwnState | undefined;
}

/** Until the transaction ends. @returns undefined while the log is stopped */
export async function lockLog(client: PoolClient): Promise<LogRow | undefined> {
  const log = await readLogRow(client, { isToGrow: true });
  return (await stopsOf(client)).length > 0 ? undefined : log;
}

interface HoldDeps {
  readonly keys: readonly SigningKey[];
  readonly kept: KeptState;
}

/** @throws LogStop where what was signed last is not what is there */
export async function holdLog(client: PoolClient, log: LogRow, { keys, kept }: HoldDeps): Promise<HeldLog> {
  await mustContinue(client, log, kept, keys);
  return { ...log, state: await ownNewestState(client, log, keys) };
}

interface GrowDeps {
  readonly keys: readonly SigningKey[];
  readonly clock: Clock;
}

/** To be kept once the transaction is committed: a state that was signed and not committed never was. */
export interface GrownLog {
  readonly note: string;
  readonly state: OwnState;
}

/** Appends these entries and signs what the log has become: tiles, size and checkpoint. */
export async function growLog(client: PoolClient, log: HeldLog, digests: readonly Buffer[], { keys, clock }: GrowDeps): Promise<GrownLog> {
  const leaves = digests.map((digest) => leafHash(digest, sha256));
  const grown = grownEdge(log.state?.edge ?? EMPTY_EDGE, leaves, sha256);
  const { size } = grown.edge;
  const root = rootOfEdge(grown.edge, sha256);
  const note = checkpointNote({ origin: log.origin, size, root }, keys);
  try {
    await writeTiles(client, grown);
    await prepared(client, 'grow log').query('update receipt_log set size = $1', [size]);
    await prepared(client, 'sign log').query('insert into receipt_log_checkpoints (size, root, note, created_at) values ($1, $2, $3, $4)', [
      size,
      root,
      note,
      new Date(clock.now()),
    ]);
  } catch (error) {
    if (!isUniqueViolation(error)) throw error;
    throw new LogStop(`There is something where entry ${log.size} and those behind it go: the database was altered`);
  }
  return { note, state: { size, root, edge: grown.edge } };
}

const isUniqueViolation = (error: unknown): boolean => error instanceof Error && 'code' in error && error.code === '23505';

async function writeTiles(client: PoolClient, { written, replaced }: GrownEdge): Promise<void> {
  if (replaced.length > 0)
    await client.query(
      `delete from receipt_log_tiles t using unnest($1::smallint[], $2::bigint[]) as whole (level, tile)
        where t.level = whole.level and start >= tile * $3 and start < (tile + 1) * $3`,
      [replaced.map(({ level }) => level), replaced.map(({ tile }) => tile), TILE_WIDTH],
    );
  await prepared(client, 'write tiles').query(
    'insert into receipt_log_tiles (level, start, hashes) select * from unnest($1::smallint[], $2::bigint[], $3::bytea[])',
    [written.map(({ level }) => level), written.map(({ start }) => start), written.map(({ hashes }) => hashes)],
  );
}

/** The state with the signature of every key. */
export function checkpointNote(checkpoint: Checkpoint, keys: readonly SigningKey[]): string {
  const text = checkpointText(checkpoint);
  const lines = keys.map((key) => signatureLine(noteKeyOf(checkpoint.origin, key), sign(null, Buffer.from(text), key.privateKey)));
  return `${text}\n${lines.join('')}`;
}
