import * as z from 'zod';
import { defineJob, enqueue, type Job, type JobQueue } from '../adapters/queue/port.ts';
import { type FollowDeps, followVideo } from './follow.ts';
import { sweepExpiredVideos, sweepOrphanedVideos } from './sweep.ts';

/** What somebody waiting for a video does not notice. */
const FIND_MS = 2_000;
const TEN_MINUTES_MS = 600_000;
const SIX_HOURS_MS = 6 * 3_600_000;
const MOST_FOUND = 200;
/** Downloads take long and little of this process. */
const AT_ONCE = 8;

/** Follows every job at its provider to its end. What there is to do stands in the rows; the queue only spreads it over the workers. */
export function videoJobs(deps: FollowDeps & { readonly queue: JobQueue }): Job[] {
  const follow = defineJob({
    name: 'videos-follow',
    payload: z.object({ video_id: z.string() }),
    concurrency: AT_ONCE,
    // Whatever it leaves undone is found again.
    retry: { attempts: 1, firstDelayMs: 1_000 },
    run: ({ video_id }, { signal }) => followVideo(video_id, deps, signal),
  });
  const find = defineJob({
    name: 'videos-find-due',
    payload: z.object({}),
    schedule: { everyMs: FIND_MS },
    run: async () => {
      for (const video_id of await deps.videos.due(MOST_FOUND)) await enqueue(deps.queue, follow, { video_id }, { once: video_id });
    },
  });
  const sweep = defineJob({
    name: 'videos-sweep',
    payload: z.object({}),
    schedule: { everyMs: TEN_MINUTES_MS },
    run: async (_payload, { signal }) => {
      await sweepExpiredVideos(deps, signal);
    },
  });
  const sweepOrphans = defineJob({
    name: 'videos-sweep-orphans',
    payload: z.object({}),
    schedule: { everyMs: SIX_HOURS_MS },
    run: async (_payload, { signal, log }) => {
      const swept = await sweepOrphanedVideos(deps, signal);
      if (swept > 0) log.warn({ swept }, 'blobs without a video were deleted');
    },
  });
  // Behind the list all jobs have one type; each checks its own payload.
  return [find, follow as Job, sweep, sweepOrphans];
}
