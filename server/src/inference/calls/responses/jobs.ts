import * as z from 'zod';
import { defineJob, enqueue, type Job, type JobQueue } from '../../../adapters/queue/port.ts';
import type { Timer } from '../../../adapters/timers/port.ts';
import type { Log } from '../../../kernel/log.ts';
import { Problem } from '../../../kernel/problem.ts';
import type { StoredChats } from '../chats/stored-chats.ts';
import { waitingSince } from './background-responses.ts';
import { type BackgroundDeps, runBackground } from './run-background.ts';

/** A worker waits for providers most of the time. */
const AT_A_TIME = 64;
/** How long a worker has to take what it was told of. */
const FIND_MS = 5_000;
const HOUR_MS = 3_600_000;

const NAME = 'responses-run-background';
const Payload = z.object({ response_id: z.string() });

/** Does background responses. The deps come when there are any: the queue is there before them. */
const runJob = (deps: () => BackgroundDeps): Job<z.infer<typeof Payload>> =>
  defineJob({
    name: NAME,
    payload: Payload,
    concurrency: AT_A_TIME,
    run: ({ response_id: id }) => runBackground(id, deps()),
  });

/**
 * Tells a worker of a background response, once for each time that it was begun: the job of a worker that died is still held to run, and
 * must not keep the next one from being told.
 */
export const enqueueResponse =
  (queue: JobQueue) =>
  (id: string, run = 0): Promise<void> =>
    enqueue(queue, runJob(unasked), { response_id: id }, { once: `${id}-${run}` });

const unasked = (): never => {
  throw new Problem('internal_error', 'Adding a job runs none.');
};

interface BackgroundWorkDeps {
  readonly deps: BackgroundDeps;
  readonly chats: StoredChats;
  readonly log: Log;
}

/** The background work of responses, and the end of what has expired. */
export const backgroundWork = ({ deps, chats, log }: BackgroundWorkDeps): { readonly jobs: Job[]; readonly timers: Timer[] } => ({
  jobs: [runJob(() => deps) as Job],
  timers: [
    {
      name: 'responses-find-waiting',
      due: waitingSince(FIND_MS),
      // Those whose worker has died, that are to be tried again, or of which no worker was told.
      run: async () => {
        const waiting = await deps.background.waiting(FIND_MS);
        for (const { id, run } of waiting) await deps.enqueue(id, run);
      },
    },
    {
      name: 'responses-sweep',
      everyMs: HOUR_MS,
      run: async ({ signal }) => {
        const swept = (await sweepAll(() => deps.responses.sweep(), signal)) + (await sweepAll(() => chats.sweep(), signal));
        if (swept > 0) log.info({ swept }, 'expired responses and completions were deleted');
      },
    },
  ],
});

async function sweepAll(sweep: () => Promise<number>, signal: AbortSignal): Promise<number> {
  let swept = 0;
  for (let more = 1; more > 0 && !signal.aborted; swept += more) more = await sweep();
  return swept;
}
