import { Worker } from 'node:worker_threads';
import { createQuestionThread } from '../../../kernel/question-thread.ts';
import { doTask, type SegmentTask, type SegmentWork } from './segment-work.ts';

/** Work on fewer rows takes some milliseconds, and is done at once: to send them to a thread would take as long. */
const HERE_ROWS: Readonly<Record<keyof SegmentWork, number>> = { addUp: 10_000, byMonth: 2_000, merged: 2_000, ofRequests: 0 };
/** So much waits at most. */
const MOST_WAITING = 16;
const LIMIT_MS = 60_000;
const IDLE_MS = 10_000;
/** Columns are not in it, but what is made of them on the way. */
const YOUNG_GENERATION_MB = 16;

/**
 * One thread for this process, while there is work for it: sums of millions of rows would hold up its requests. Questions wait for what is being
 * merged, which takes a fraction of a second.
 */
const thread = createQuestionThread<SegmentTask, unknown>({
  startWorker: () =>
    new Worker(new URL('./segment-worker.ts', import.meta.url), { resourceLimits: { maxYoungGenerationSizeMb: YOUNG_GENERATION_MB } }),
  ...{ limitMs: LIMIT_MS, patienceMs: LIMIT_MS, idleMs: IDLE_MS },
});

/**
 * @param rows how many it works on
 * @returns undefined where the thread has failed, or has too much to do: then it is to be asked again
 */
export async function onSegmentThread<Name extends keyof SegmentWork>(
  name: Name,
  given: Parameters<SegmentWork[Name]>[0],
  rows: number,
): Promise<ReturnType<SegmentWork[Name]> | undefined> {
  const task = { name, given } as SegmentTask;
  const answer = rows <= HERE_ROWS[name] ? doTask(task) : thread.waiting < MOST_WAITING ? await thread.ask(task) : undefined;
  return answer as ReturnType<SegmentWork[Name]> | undefined; // The task of this name answers with what its function returns.
}

/** As above. @throws Error in place of undefined: a timer does it again */
export async function done<Name extends keyof SegmentWork>(
  ...[name, given, rows]: Parameters<typeof onSegmentThread<Name>>
): Promise<ReturnType<SegmentWork[Name]>> {
  const answer = await onSegmentThread(name, given, rows);
  if (answer === undefined) throw new Error(`The thread for segments of usage has failed at ${name}`);
  return answer;
}
