import type { Pool } from 'pg';
import type { BlobStore } from '../../adapters/blobs/port.ts';
import type { Clock } from '../../kernel/clock.ts';
import { anyOf, rowsOf, run } from '../../kernel/statements.ts';
import { inTransaction } from '../../kernel/transaction.ts';
import { blobKeyTime, FILES_PREFIX, PASSING_PREFIX } from './blob-keys.ts';
import { deleteFiles, deleteParts } from './files.ts';
import { tables } from './tables.ts';

const BATCH = 500;
/** Longer than any request or any file of the service's own takes to be written: until then its blob may still get its row. */
const ORPHAN_AGE_MS = 24 * 3_600_000;
/** For so long it can be asked again what has become of an upload. */
const UPLOADS_KEPT_MS = 30 * 24 * 3_600_000;

interface SweepDeps {
  readonly pool: Pool;
  readonly blobs: BlobStore;
  readonly clock: Clock;
}

const EXPIRED = tables.selectFrom('files').select('id').orderBy('id').limit(BATCH).forUpdate().skipLocked();
const OVERDUE = tables
  .selectFrom('uploads')
  .select('id')
  .where('status', '=', 'pending')
  .orderBy('id')
  .limit(BATCH)
  .forUpdate()
  .skipLocked();

/** Deletes files and uploads whose time is over, with their blobs. Runs any number of times, also at the same time. */
export async function sweepExpired({ pool, blobs, clock }: SweepDeps, signal?: AbortSignal): Promise<void> {
  const now = new Date(clock.now());
  await inBatches(signal, async () => {
    const { found, keys } = await inTransaction(pool, async (client) => {
      const rows = await rowsOf(client, EXPIRED.where('expires_at', '<=', now));
      return {
        found: rows.length,
        keys: await deleteFiles(
          client,
          rows.map(({ id }) => id),
        ),
      };
    });
    for (const key of keys) await blobs.delete(key);
    return found;
  });
  await inBatches(signal, async () => {
    const { found, keys } = await inTransaction(pool, async (client) => {
      const rows = await rowsOf(client, OVERDUE.where('expires_at', '<=', now));
      const ids = rows.map(({ id }) => id);
      await run(client, tables.updateTable('uploads').set({ status: 'expired' }).where('id', '=', anyOf(ids)));
      return { found: ids.length, keys: await deleteParts(client, ids) };
    });
    for (const key of keys) await blobs.delete(key);
    return found;
  });
  // The parts that became a file keep their rows, and lose only what says which upload they came with.
  await inTransaction(pool, async (client) => {
    const before = new Date(now.getTime() - UPLOADS_KEPT_MS);
    await client.query(
      `update file_blobs set upload_id = null, part_id = null
         from uploads where uploads.id = file_blobs.upload_id and uploads.status <> 'pending' and uploads.expires_at <= $1`,
      [before],
    );
    await client.query(`delete from uploads where status <> 'pending' and expires_at <= $1`, [before]);
  });
}

/**
 * Deletes blobs that no row knows: of requests that a crash cut short, of files whose deletion it did. A blob is there before its row, so
 * young ones are left alone.
 *
 * @returns how many there were
 */
export async function sweepOrphans({ pool, blobs, clock }: SweepDeps, signal?: AbortSignal): Promise<number> {
  const before = clock.now() - ORPHAN_AGE_MS;
  const isOld = (key: string) => (blobKeyTime(key) ?? Number.POSITIVE_INFINITY) <= before;
  let swept = 0;
  const sweep = async (keys: readonly string[]) => {
    for (const key of keys) {
      await blobs.delete(key);
      swept++;
    }
  };
  for await (const key of blobs.list(PASSING_PREFIX)) if (isOld(key)) await sweep([key]);
  let batch: string[] = [];
  const flush = async () => {
    signal?.throwIfAborted();
    const rows = await rowsOf(pool, tables.selectFrom('file_blobs').select('key').where('key', '=', anyOf(batch)));
    const known = new Set(rows.map(({ key }) => key));
    await sweep(batch.filter((key) => !known.has(key)));
    batch = [];
  };
  for await (const key of blobs.list(FILES_PREFIX)) {
    if (isOld(key)) batch.push(key);
    if (batch.length === BATCH) await flush();
  }
  await flush();
  return swept;
}

async function inBatches(signal: AbortSignal | undefined, work: () => Promise<number>): Promise<void> {
  do signal?.throwIfAborted();
  while ((await work()) === BATCH);
}
