import { emptyRoot, parseCheckpoint, parseNote } from '@tallygate/receipts';
import type { Pool, PoolClient } from 'pg';
import { recordAudit } from '../../audit/index.ts';
import { inTransaction } from '../../kernel/transaction.ts';
import { allOf, isOfKey, type OwnKeys, type PublishedKey, readPublishedKeys, recordOfKey } from '../own-keys.ts';
import { putDown } from '../own-records.ts';
import { checkpointNote } from './grow-log.ts';
import { LogStop, type StopReason, stopsOf } from './log-stops.ts';
import { nodesAsSigned, ownCheckpoint, readLogRow } from './own-state.ts';
import { signedState } from './read-log.ts';
import { sha256 } from './stored-tree.ts';

/** A stopped log, for somebody to look at. */
export interface LogStanding {
  readonly origin: string;
  readonly size: number;
  /** Base64, as in the note. */
  readonly root: string;
  /** Whether a key that the service is configured with has signed it. */
  readonly isOwn: boolean;
  readonly stops: readonly StopReason[];
}

/** @throws LogStop where the stored log is not even the one that its newest note tells of: then nothing but a backup helps */
export async function standingOfLog(db: Pool | PoolClient, own: OwnKeys): Promise<LogStanding> {
  const { origin, size } = await readLogRow(db);
  const stops = await stopsOf(db);
  const newest = await signedState(db);
  if (!newest && size === 0) return { origin, size, root: inBase64(emptyRoot(sha256)), isOwn: true, stops };
  const note = newest && parseNote(newest.note);
  const said = note && parseCheckpoint(note.text);
  if (said?.origin !== origin) throw new LogStop('The newest checkpoint is no note of this log: the database was altered');
  const { root } = await nodesAsSigned(db, size, said);
  const isOwn = ownCheckpoint(newest?.note ?? '', origin, own.checkpoint) !== undefined;
  return { origin, size, root: inBase64(root), isOwn, stops };
}

const inBase64 = (root: Uint8Array): string => Buffer.from(root).toString('base64');

/**
 * Lets a stopped log go on from the root that somebody has looked at and named: what stopped it is put down as seen, and where no key in force
 * has signed that state, they sign it now.
 *
 * @param owned ids of published keys that the operator says this service has had: nothing else makes them its own
 * @returns undefined where the log has another root, or no key of such an id is published
 * @throws LogStop as {@link standingOfLog}
 */
export async function resumeLog(pool: Pool, own: OwnKeys, root: string, owned: readonly string[] = []): Promise<LogStanding | undefined> {
  return inTransaction(pool, async (client) => {
    await readLogRow(client, { isToGrow: true });
    const standing = await standingOfLog(client, own);
    const keys = (await readPublishedKeys(client)).filter(({ kid }) => owned.includes(kid));
    const isMeant = standing.root === root && keys.length === new Set(owned).size;
    if (isMeant) await resumeIn(client, own, { ...standing, keys });
    return isMeant ? standing : undefined;
  });
}

interface Resumption extends LogStanding {
  readonly keys: readonly PublishedKey[];
}

async function resumeIn(client: PoolClient, own: OwnKeys, { origin, size, root, isOwn, stops, keys }: Resumption): Promise<void> {
  if (!isOwn)
    await client.query('update receipt_log_checkpoints set note = $2, cosignatures = 0 where size = $1', [
      size,
      checkpointNote({ origin, size, root: Buffer.from(root, 'base64') }, own.checkpoint),
    ]);
  // Stops lie in the database: what one of them says was seen makes no key this service's own.
  const seen = stops.flatMap((stop) => stop.seen ?? []).filter((record) => !isOfKey(record));
  await putDown(client, [...seen, ...keys.map(recordOfKey)], allOf(own));
  await client.query('delete from receipt_log_stops');
  await recordAudit(client, {
    accountId: null,
    actor: { kind: 'system', id: null },
    action: 'receipt_log.resumed',
    target: { kind: 'receipt_log', id: origin },
    changes: { size, root, signed_anew: !isOwn, keys: keys.map(({ kid }) => kid), reasons: stops.map(({ reason }) => reason) },
  });
}
