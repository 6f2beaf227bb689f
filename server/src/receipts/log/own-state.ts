import { verify } from 'node:crypto';
import { type Checkpoint, HASH_BYTES, type NoteKey, noteKeyId, parseCheckpoint, parseNote } from '@tallygate/receipts';
import type { Pool, PoolClient } from 'pg';
import { firstOf, prepared } from '../../kernel/statements.ts';
import { publicBytes, publicKeyOf, type SigningKey } from '../signing-keys.ts';
import { tables } from '../tables.ts';
import { LogStop } from './log-stops.ts';
import { signedState } from './read-log.ts';
import { readTiles, sha256, tileName } from './stored-tree.ts';
import { edgeTiles, rootOfEdge, TILE_WIDTH, type TreeEdge } from './tile-rows.ts';

/** A log signs under its own name. */
export const noteKeyOf = (origin: string, { x }: Pick<SigningKey, 'x'>): NoteKey => ({
  name: origin,
  kind: 'signature',
  publicKey: publicBytes(x),
});

/** What one of these keys has signed of the log; undefined where none has, or where a signature in the name of one does not hold. */
export function ownCheckpoint(note: string, origin: string, keys: readonly Pick<SigningKey, 'x'>[]): Checkpoint | undefined {
  const parsed = parseNote(note);
  const said = parsed && parseCheckpoint(parsed.text);
  if (!said || said.origin !== origin) return undefined;
  const text = Buffer.from(parsed.text);
  const known = keys.map((key) => ({ id: Buffer.from(noteKeyId(noteKeyOf(origin, key))), key }));
  const verdicts = parsed.signatures.flatMap(({ name, keyId, signature }) => {
    const found = name === origin ? known.find(({ id }) => id.equals(keyId)) : undefined;
    return found ? [verify(null, text, publicKeyOf(found.key.x), signature)] : [];
  });
  return verdicts.length > 0 && verdicts.every(Boolean) ? said : undefined;
}

export interface LogRow {
  readonly origin: string;
  readonly size: number;
}

/** @throws where the row is gone */
export async function readLogRow(db: Pool | PoolClient, { isToGrow = false } = {}): Promise<LogRow> {
  const row = tables.selectFrom('receipt_log').select(['origin', 'size']);
  const log = isToGrow ? await firstOf(prepared(db, 'lock log'), row.forUpdate()) : await firstOf(db, row);
  if (!log) throw new Error('The row of the log is gone');
  return { origin: log.origin, size: Number(log.size) };
}

/**
 * Names a log that has nothing in it yet after its address, as c2sp.org/tlog-tiles asks. Without one that others can reach it keeps the name that
 * it was made with, which no other has.
 *
 * @param publicUrl of the gateway; undefined where none is configured
 */
export async function nameLog(pool: Pool, publicUrl: string | undefined): Promise<void> {
  if (publicUrl === undefined) return;
  const { host, pathname } = new URL(publicUrl);
  await pool.query('update receipt_log set origin = $1 where size = 0 and not exists (select from receipt_log_checkpoints)', [
    `${host}${pathname.replace(/\/$/, '')}/v1/log`,
  ]);
}

/** A state that was signed, and the very hashes that were found to give its root. */
export interface OwnState {
  readonly size: number;
  readonly root: Uint8Array;
  readonly edge: TreeEdge;
}

/**
 * The newest state, as one of the keys at hand has signed it. What says so is the note alone: a column, or a key in the database, is as
 * whoever wrote there last wants it.
 *
 * @returns undefined while the log is empty
 * @throws LogStop where the note is of none of the keys, or the log has another size or other nodes than were signed
 */
export async function ownNewestState(
  db: Pool | PoolClient,
  { origin, size }: LogRow,
  keys: readonly Pick<SigningKey, 'x'>[],
): Promise<OwnState | undefined> {
  const newest = await signedState(db);
  if (!newest && size === 0) return undefined;
  const signed = newest && ownCheckpoint(newest.note, origin, keys);
  if (newest && !signed)
    throw new LogStop(
      `The checkpoint of ${newest.size} entries is not signed by a key of LOG_SIGNING_KEY: the database was altered, or the key was changed without a time in which both signed`,
    );
  return nodesAsSigned(db, size, signed);
}

/** @throws LogStop where the hashes of the log are not those that were signed */
export async function nodesAsSigned(db: Pool | PoolClient, size: number, signed: Checkpoint | undefined): Promise<OwnState> {
  if (signed?.size !== size)
    throw new LogStop(`The log has ${size} entries, and its newest checkpoint is of ${signed?.size ?? 0}: the database was altered`);
  const edge = await readEdge(db, size);
  if (hasRoot(edge, signed.root)) return { size, root: signed.root, edge };
  throw new LogStop(`The hashes of the log's ${size} entries do not give the root that was signed: the database was altered`);
}

async function readEdge(db: Pool | PoolClient, size: number): Promise<TreeEdge> {
  const places = edgeTiles(size);
  const tiles = await readTiles(db, places);
  return {
    size,
    // What lies beyond the size belongs to no state that was signed.
    tails: places.map((place, level) => {
      const stored = tiles.get(tileName(place)) ?? Buffer.alloc(0);
      return stored.subarray(0, (Math.floor(size / TILE_WIDTH ** level) % TILE_WIDTH) * HASH_BYTES);
    }),
  };
}

function hasRoot(edge: TreeEdge, root: Uint8Array): boolean {
  try {
    return Buffer.from(rootOfEdge(edge, sha256)).equals(root);
  } catch {
    // A hash is not there.
    return false;
  }
}
