import { hash as digestOf, type KeyObject, verify } from 'node:crypto';
import type { ReceiptPayload } from '@tallygate/contract';
import { accountHashInput, completedBy, leafHash, nodesOf, rangeHash, type TreeNode } from '@tallygate/receipts';
import type { Pool } from 'pg';
import type { Log } from '../../kernel/log.ts';
import { publicKeyOf, publishedLogKeys } from '../signing-keys.ts';
import { entryOf } from './append.ts';
import { isSignedState } from './signed-state.ts';
import { nameOf, sha256 } from './stored-tree.ts';

interface AuditDeps {
  readonly pool: Pool;
  readonly log: Log;
  /** Told how much this pass, or the last whole one, has found that is not as it was signed. */
  readonly onFound: (count: number) => void;
}

/** Entries that are checked together. */
const AT_ONCE = 256;
/** Blocks of a run, so that a large log is gone through little by little. */
const BLOCKS_A_RUN = 16;

/**
 * Checks the log against itself, a part of it a run and then from the beginning again: that every receipt is what was digested, signed and
 * taken in, and belongs to whom and where it says, every node of the tree the hash of the two below it, every checkpoint signed, and of the root that the log has at its size. What was altered in the
 * database is found within a pass, and said at the level of errors.
 */
export async function auditLog({ pool, log, onFound }: AuditDeps, signal: AbortSignal): Promise<void> {
  for (let block = 0; block < BLOCKS_A_RUN && !signal.aborted; block += 1) {
    const { start, size, found } = await standingOf(pool);
    if (start >= size) {
      await pool.query('update receipt_log_audit set next_index = 0, found = 0, last_found = found');
      break;
    }
    const end = Math.min(start + AT_ONCE, size);
    const faults = await faultsIn(pool, start, end);
    for (const fault of faults) log.error({ fault }, 'the log of receipts is not as it was signed');
    await pool.query('update receipt_log_audit set next_index = $1, found = $2', [end, found + faults.length]);
  }
  const { rows } = await pool.query<{ most: number }>('select greatest(found, last_found) as most from receipt_log_audit');
  onFound(rows[0]?.most ?? 0);
}

async function standingOf(pool: Pool): Promise<{ start: number; size: number; found: number }> {
  const { rows } = await pool.query<{ next_index: bigint; size: bigint; found: number }>(
    'select next_index, found, size from receipt_log_audit, receipt_log',
  );
  const [row] = rows;
  if (!row) throw new Error('The row of the log is gone');
  return { start: Number(row.next_index), size: Number(row.size), found: row.found };
}

interface EntryRow {
  readonly receipt_id: string;
  readonly payload: string;
  readonly digest: Buffer;
  readonly signature: Buffer;
  readonly log_index: bigint;
  /** By these it is found and listed. */
  readonly account_id: string;
  readonly request_id: string;
  readonly livemode: boolean;
  readonly kind: string;
  readonly model: string;
  readonly run_id: string | null;
  readonly started_at: Date;
  /** Null where the key was never published. */
  readonly x: string | null;
}

async function faultsIn(pool: Pool, start: number, end: number): Promise<string[]> {
  const { rows } = await pool.query<EntryRow>(
    `select receipt_id, payload, digest, signature, log_index, account_id, request_id, livemode, kind, model, run_id, started_at, x from receipts left join signing_keys using (kid)
      where log_index >= $1 and log_index < $2 order by log_index`,
    [start, end],
  );
  const byIndex = new Map(rows.map((row) => [Number(row.log_index), row]));
  const stored = await storedNodes(pool, start, end);
  const made = new Map<string, Uint8Array>();
  const faults: string[] = [];
  const hashOf = (node: TreeNode): Uint8Array => made.get(nameOf(node)) ?? stored.get(nameOf(node)) ?? new Uint8Array();
  for (let index = start; index < end; index += 1) {
    const row = byIndex.get(index);
    if (!row) {
      faults.push(`entry ${index} has no receipt`);
      continue;
    }
    faults.push(...receiptFaults(row));
    for (const node of completedBy({ index, hash: leafHash(entryOf(row.payload), sha256) }, hashOf, sha256)) {
      made.set(nameOf(node), node.hash);
      if (!stored.get(nameOf(node))?.equals(node.hash)) faults.push(`node ${nameOf(node)} is not the hash of what is below it`);
    }
  }
  return [...faults, ...(await checkpointFaults(pool, { start, end, hashOf }))];
}

const keys = new Map<string, KeyObject>();

function receiptFaults(row: EntryRow): string[] {
  const { receipt_id: id, payload, digest, signature, x } = row;
  if (!digestOf('sha256', entryOf(payload), 'buffer').equals(digest)) return [`the digest of receipt ${id} is not that of its payload`];
  if (x === null) return [`receipt ${id} is signed with a key that was never published`];
  const key = keys.get(x) ?? publicKeyOf(x);
  keys.set(x, key);
  if (!verify(null, digest, key, signature)) return [`the signature of receipt ${id} does not hold`];
  return isWhereItBelongs(row) ? [] : [`receipt ${id} is listed otherwise than it was signed`];
}

/** What lists and exports go by are copies of what was signed: a receipt must not be hidden from its owner by changing those. */
function isWhereItBelongs(row: EntryRow): boolean {
  const said = JSON.parse(row.payload) as ReceiptPayload;
  return (
    said.receipt_id === row.receipt_id &&
    said.request_id === row.request_id &&
    said.account_hash === digestOf('sha256', accountHashInput(said.nonce, row.account_id), 'hex') &&
    said.livemode === row.livemode &&
    said.kind === row.kind &&
    said.model_served === row.model &&
    said.run_id === row.run_id &&
    Date.parse(said.started_at) === row.started_at.getTime()
  );
}

/** The nodes that the entries complete, and those to the left of them that make roots; those that are missing are left out. */
async function storedNodes(pool: Pool, start: number, end: number): Promise<Map<string, Buffer>> {
  const nodes = nodesOf({ start: 0, end: start });
  for (let leaf = start; leaf < end; leaf += 1) {
    nodes.push({ level: 0, index: leaf });
    for (let level = 1, index = leaf; index % 2 === 1; level += 1) {
      index = (index - 1) / 2;
      nodes.push({ level, index });
    }
  }
  const { rows } = await pool.query<{ level: number; index: bigint; hash: Buffer }>(
    'select level, index, hash from receipt_log_nodes where (level, index) in (select * from unnest($1::smallint[], $2::bigint[]))',
    [nodes.map(({ level }) => level), nodes.map(({ index }) => index)],
  );
  return new Map(rows.map(({ level, index, hash }) => [nameOf({ level, index: Number(index) }), hash]));
}

interface Block {
  readonly start: number;
  readonly end: number;
  readonly hashOf: (node: TreeNode) => Uint8Array;
}

async function checkpointFaults(pool: Pool, { start, end, hashOf }: Block): Promise<string[]> {
  const { rows } = await pool.query<{ size: bigint; root: Buffer; note: string; origin: string }>(
    'select checkpoints.size, root, note, origin from receipt_log_checkpoints checkpoints, receipt_log where checkpoints.size > $1 and checkpoints.size <= $2',
    [start, end],
  );
  const signers = await publishedLogKeys(pool);
  return rows.flatMap(({ size: wide, root, note, origin }) => {
    const size = Number(wide);
    const found = { origin, size, root: rangeHash({ start: 0, end: size }, hashOf, sha256) };
    if (!root.equals(found.root)) return [`the checkpoint of ${size} entries does not have their root`];
    return isSignedState(note, found, signers) ? [] : [`the checkpoint of ${size} entries is not signed, or says something else`];
  });
}
