import type { Pool } from 'pg';
import type { BlobStore } from '../../adapters/blobs/port.ts';
import type { Clock } from '../../kernel/clock.ts';
import { blobKeyTime } from '../files/index.ts';
import { VIDEOS_PREFIX } from './follow.ts';

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
    const { rows } = await pool.query<{ key: string }>(
      `delete from video_contents where (video_id, variant) in (
         select video_id, variant from video_contents join videos on videos.id = video_id where expires_at <= $1 limit $2)
       returning key`,
      [new Date(clock.now()), BATCH],
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
    const { rows } = await pool.query<{ key: string }>('select key from video_contents where key = any($1)', [batch]);
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
