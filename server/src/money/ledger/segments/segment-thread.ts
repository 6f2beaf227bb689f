import { Worker } from 'node:worker_threads';
import { createQuestionThread } from '../../../kernel/question-thread.ts';
import type { SegmentWork } from './segment-work.ts';

/** One piece of work: its name and what it is given. */
export type SegmentTask = {
  readonly [Name in keyof SegmentWork]: { readonly name: Name; readonly given: Parameters<SegmentWork[Name]>[0] };
}[keyof SegmentWork];

const LIMIT_MS = 300_000;
const IDLE_MS = 60_000;

/** One thread for this process, apart from the one for questions: nobody waits for it. */
const thread = createQuestionThread<SegmentTask, unknown>({
  startWorker: () => new Worker(new URL('./segment-worker.ts', import.meta.url)),
  ...{ limitMs: LIMIT_MS, patienceMs: LIMIT_MS, idleMs: IDLE_MS },
});

/** @throws where the thread has failed: then it is to be done again */
export async function onSegmentThread<Name extends keyof SegmentWork>(
  name: Name,
  given: Parameters<SegmentWork[Name]>[0],
): Promise<ReturnType<SegmentWork[Name]>> {
  const answer = await thread.ask({ name, given } as SegmentTask);
  if (answer === undefined) throw new Error(`The thread for segments of usage has failed at ${name}`);
  return answer as ReturnType<SegmentWork[Name]>; // The worker answers with what the function of this name returns.
}
