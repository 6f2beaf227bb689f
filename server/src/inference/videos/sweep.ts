import type { Pool } from 'pg';
import type { BlobStore } from '../../adapters/blobs/port.ts';
import type { Clock } from '../../kernel/clock.ts';
import { anyOf, rowsOf } from '../../kernel/statements.ts';
import { blobKeyTime } from '../files/index.ts';
import { VIDEOS_PREFIX } from './follow.ts';
import { tables } from './tables.ts';

const BATCH = 500;
/** Longer than any download takes: until then its blob may still get its row. */
const ORPHAN_AGE_MS = 24 * 3_600_000;

interface SweepDeps {
  readonly pool: Pool;
  readonly blobs: BlobStore;
  readonly clock: Clock;
}

/** Deletes the bytes of videos whose time is over; the videos stay, without them. Resolves to how many there were. */
export async function sweepExpiredVideos({ pool, blobs, clock }: SweepDeps, signal?: AbortSignal): Promise<number> {
  let swept = 0;
  for (;;) {
    signal?.throwIfAborted();
    const expired = tables
      .selectFrom('video_contents')
      .innerJoin('videos', 'videos.id', 'video_id')
      .select(['video_id', 'variant'])
      .where('expires_at', '<=', new Date(clock.now()))
      .limit(BATCH);
    const rows = await rowsOf(
      pool,
      tables
        .deleteFrom('video_contents')
        .where(({ eb, refTuple }) => eb(refTuple('video_id', 'variant'), 'in', expired.$asTuple('video_id', 'variant')))
        .returning('key'),
    );
    for (const { key } of rows) await blobs.delete(key);
    swept += rows.length;
    if (rows.length < BATCH) return swept;
  }
}

/** Deletes blobs that no row knows: of downloads that a crash cut short, of videos whose deletion it did. Resolves to how many there were. */
export async function sweepOrphanedVideos({ pool, blobs, clock }: SweepDeps, signal?: AbortSignal): Promise<number> {
  const before = clock.now() - ORPHAN_AGE_MS;
  let swept = 0;
  let batch: string[] = [];
  const flush = async () => {
    signal?.throwIfAborted();
    const rows = await rowsOf(pool, tables.selectFrom('video_contents').select('key').where('key', '=', anyOf(batch)));
    const known = new Set(rows.map(({ key }) => key));
    for (const key of batch.filter((one) => !known.has(one))) {
      await blobs.delete(key);
      swept += 1;
    }
    batch = [];
  };
  for await (const key of blobs.list(VIDEOS_PREFIX)) {
    if ((blobKeyTime(key) ?? Number.POSITIVE_INFINITY) <= before) batch.push(key);
    if (batch.length === BATCH) await flush();
  }
  await flush();
  return swept;
}
