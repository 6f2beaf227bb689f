import { sign } from 'node:crypto';
import {
  type Checkpoint,
  checkpointText,
  completedBy,
  leafHash,
  nodesOf,
  rangeHash,
  signatureLine,
  type TreeNode,
} from '@tallygate/receipts';
import type { Pool, PoolClient } from 'pg';
import type { Clock } from '../../kernel/clock.ts';
import type { SigningKey } from '../signing-keys.ts';
import { isSignedState, logKeyOf } from './signed-state.ts';
import { nameOf, readNodes, sha256 } from './stored-tree.ts';

/** Receipts that one transaction takes in. */
const AT_ONCE = 1_000;

export interface AppendDeps {
  readonly pool: Pool;
  /** Sign checkpoints and nothing else; every one of them signs each, so that either side of a change of keys is enough to check it. */
  readonly keys: readonly SigningKey[];
  /**
   * Public keys, base64url, that the log was known to sign with when this process began: what it was before keys changed was signed by those.
   * Not read anew: a key that turns up later is nobody's to trust here.
   */
  readonly known?: readonly string[];
  readonly clock: Clock;
}

/**
 * Takes the receipts that are not in the log yet, and signs what the log has become. Whoever does so holds the one row of the log until it is
 * committed: leaves, nodes, size and checkpoint come to be together or not at all, and never two logs of one size.
 *
 * @returns how many were taken in; with as many as {@link AT_ONCE} there may be more
 */
export async function appendReceipts({ pool, ...deps }: AppendDeps): Promise<number> {
  const client = await pool.connect();
  try {
    await client.query('begin');
    const appended = await appendIn(client, deps);
    await client.query('commit');
    client.release();
    return appended;
  } catch (error) {
    // Its transaction goes with it.
    client.release(true);
    throw error;
  }
}

/** Everything that waits. */
export async function appendAll(deps: AppendDeps, signal: AbortSignal): Promise<void> {
  while (!signal.aborted && (await appendReceipts(deps)) === AT_ONCE);
}

async function appendIn(client: PoolClient, { keys, known: knownKeys = [], clock }: Omit<AppendDeps, 'pool'>): Promise<number> {
  const { rows } = await client.query<{ origin: string; size: bigint }>('select origin, size from receipt_log for update');
  const [log] = rows;
  if (!log) throw new Error('The row of the log is gone');
  const waiting = await client.query<{ receipt_id: string; payload: string }>(
    'select receipt_id, payload from receipts where log_index is null order by receipt_id limit $1',
    [AT_ONCE],
  );
  if (waiting.rows.length === 0) return 0;

  const oldSize = Number(log.size);
  const known = await readNodes(client, nodesOf({ start: 0, end: oldSize }));
  const old = { origin: log.origin, size: oldSize, root: rangeHash({ start: 0, end: oldSize }, known, sha256) };
  await requireSignedState(client, old, [...keys.map(({ x }) => x), ...knownKeys]);
  const added = new Map<string, TreeNode & { hash: Uint8Array }>();
  const hashOf = (node: TreeNode) => added.get(nameOf(node))?.hash ?? known(node);
  for (const [at, { payload }] of waiting.rows.entries()) {
    const leaf = { index: oldSize + at, hash: leafHash(entryOf(payload), sha256) };
    for (const node of completedBy(leaf, hashOf, sha256)) added.set(nameOf(node), node);
  }
  const size = oldSize + waiting.rows.length;
  const root = rangeHash({ start: 0, end: size }, hashOf, sha256);

  const nodes = [...added.values()];
  await client.query('insert into receipt_log_nodes (level, index, hash) select * from unnest($1::smallint[], $2::bigint[], $3::bytea[])', [
    nodes.map(({ level }) => level),
    nodes.map(({ index }) => index),
    nodes.map(({ hash }) => hash),
  ]);
  await client.query(
    `update receipts set log_index = placed.index
      from unnest($1::uuid[]) with ordinality as placed_receipts (receipt_id, place),
        lateral (select $2::bigint + place - 1 as index) placed
      where receipts.receipt_id = placed_receipts.receipt_id`,
    [waiting.rows.map(({ receipt_id }) => receipt_id), oldSize],
  );
  await client.query('update receipt_log set size = $1', [size]);
  await client.query('insert into receipt_log_checkpoints (size, root, note, created_at) values ($1, $2, $3, $4)', [
    size,
    root,
    checkpointNote({ origin: log.origin, size, root }, keys),
    new Date(clock.now()),
  ]);
  return waiting.rows.length;
}

/**
 * What is about to grow has to be what was signed, by a key that is ours: on nodes that were altered, whatever the database says of them, or
 * rows that came back from an older backup, nothing is signed any more.
 */
async function requireSignedState(client: PoolClient, found: Checkpoint, trusted: readonly string[]): Promise<void> {
  const { rows } = await client.query<{ size: bigint; note: string }>(
    'select size, note from receipt_log_checkpoints order by size desc limit 1',
  );
  const [newest] = rows;
  if (!newest ? found.size === 0 : isSignedState(newest.note, found, trusted)) return;
  throw new Error(
    `The log's ${found.size} entries are not those of its newest checkpoint, which is of ${newest?.size ?? 0}, or that is not signed: nothing is signed`,
  );
}

/** The bytes of a leaf: what the digest of the receipt is made of. Its nonce keeps others from guessing them. */
export const entryOf = (payload: string): Uint8Array => Buffer.from(`tallygate-receipt/v1\n${payload}`);

function checkpointNote(checkpoint: Checkpoint, keys: readonly SigningKey[]): string {
  const text = checkpointText(checkpoint);
  const lines = keys.map((key) => signatureLine(logKeyOf(checkpoint.origin, key.x), sign(null, Buffer.from(text), key.privateKey)));
  return `${text}\n${lines.join('')}`;
}
