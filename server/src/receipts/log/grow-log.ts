import { sign } from 'node:crypto';
import { type Checkpoint, checkpointText, completedBy, leafHash, rangeHash, signatureLine, type TreeNode } from '@tallygate/receipts';
import type { PoolClient } from 'pg';
import type { Clock } from '../../kernel/clock.ts';
import type { SigningKey } from '../signing-keys.ts';
import { type KeptState, mustContinue } from './kept-state.ts';
import { stopsOf } from './log-stops.ts';
import { type LogRow, noteKeyOf, type OwnState, ownNewestState, readLogRow } from './own-state.ts';
import { nameOf, sha256 } from './stored-tree.ts';

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

/**
 * Appends these entries and signs what the log has become: nodes, size and checkpoint.
 *
 * @returns the note, to be kept once the transaction is committed: a state that was signed and not committed never was
 */
export async function growLog(client: PoolClient, log: HeldLog, digests: readonly Buffer[], { keys, clock }: GrowDeps): Promise<string> {
  const added = new Map<string, TreeNode & { hash: Uint8Array }>();
  const hashOf = (node: TreeNode) => added.get(nameOf(node))?.hash ?? log.state?.hashOf(node) ?? missing(node);
  for (const [at, digest] of digests.entries()) {
    const leaf = { index: log.size + at, hash: leafHash(digest, sha256) };
    for (const node of completedBy(leaf, hashOf, sha256)) added.set(nameOf(node), node);
  }
  const size = log.size + digests.length;
  const root = rangeHash({ start: 0, end: size }, hashOf, sha256);

  const nodes = [...added.values()];
  await client.query('insert into receipt_log_nodes (level, index, hash) select * from unnest($1::smallint[], $2::bigint[], $3::bytea[])', [
    nodes.map(({ level }) => level),
    nodes.map(({ index }) => index),
    nodes.map(({ hash }) => hash),
  ]);
  await client.query('update receipt_log set size = $1', [size]);
  const note = checkpointNote({ origin: log.origin, size, root }, keys);
  await client.query('insert into receipt_log_checkpoints (size, root, note, created_at) values ($1, $2, $3, $4)', [
    size,
    root,
    note,
    new Date(clock.now()),
  ]);
  return note;
}

function missing(node: TreeNode): never {
  throw new Error(`An empty log has no node ${nameOf(node)}`);
}

/** The state with the signature of every key. */
export function checkpointNote(checkpoint: Checkpoint, keys: readonly SigningKey[]): string {
  const text = checkpointText(checkpoint);
  const lines = keys.map((key) => signatureLine(noteKeyOf(checkpoint.origin, key), sign(null, Buffer.from(text), key.privateKey)));
  return `${text}\n${lines.join('')}`;
}
