import * as z from 'zod';
import { defineJob, enqueue, type Job, type JobQueue } from '../../adapters/queue/port.ts';
import type { Timer } from '../../adapters/timers/port.ts';
import { type FollowDeps, followVideo } from './follow.ts';
import { sweepExpiredVideos, sweepOrphanedVideos } from './sweep.ts';

const TEN_MINUTES_MS = 600_000;
const SIX_HOURS_MS = 6 * 3_600_000;
const MOST_FOUND = 200;
/** Downloads take long and little of this process. */
const AT_ONCE = 8;

/** Follows every job at its provider to its end. What there is to do stands in the rows; the queue only spreads it over the workers. */
export function videoWork(deps: FollowDeps & { readonly queue: JobQueue }): { readonly jobs: Job[]; readonly timers: Timer[] } {
  const follow = defineJob({
    name: 'videos-follow',
    payload: z.object({ video_id: z.string() }),
    concurrency: AT_ONCE,
    // Whatever it leaves undone is found again.
    retry: { attempts: 1, firstDelayMs: 1_000 },
    run: ({ video_id }, { signal }) => followVideo(video_id, deps, signal),
  });
  return {
    // Behind the list all jobs have one type; each checks its own payload.
    jobs: [follow as Job],
    timers: [
      {
        name: 'videos-find-due',
        due: 'exists (select from videos where next_step_at <= present)',
        run: async () => {
          for (const video_id of await deps.videos.due(MOST_FOUND)) await enqueue(deps.queue, follow, { video_id }, { once: video_id });
        },
      },
      { name: 'videos-sweep', everyMs: TEN_MINUTES_MS, run: ({ signal }) => sweepExpiredVideos(deps, signal) },
      {
        name: 'videos-sweep-orphans',
        everyMs: SIX_HOURS_MS,
        run: async ({ signal, log }) => {
          const swept = await sweepOrphanedVideos(deps, signal);
          if (swept > 0) log.warn({ swept }, 'blobs without a video were deleted');
        },
      },
    ],
  };
}
