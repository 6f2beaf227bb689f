import { Worker } from 'node:worker_threads';
import { Problem } from '../../../kernel/problem.ts';
import { createQuestionThread } from '../../../kernel/question-thread.ts';
import type { UsageQuestion } from '../usage-sources.ts';
import { type AddedUp, addUp, type CostlyGroups } from './add-up.ts';
import type { PackedSegment } from './segment.ts';

/** Fewer rows take some milliseconds: less than to send them to a thread. */
const HERE_ROWS = 20_000;
const LIMIT_MS = 60_000;
const MOST_WAITING = 16;
const IDLE_MS = 60_000;

/** One thread for all that ask in this process: sums of millions of rows would hold up its requests. */
const thread = createQuestionThread<AddedUp, CostlyGroups | Uint8Array[]>({
  startWorker: () => new Worker(new URL('./usage-worker.ts', import.meta.url)),
  ...{ limitMs: LIMIT_MS, patienceMs: LIMIT_MS, idleMs: IDLE_MS },
});

/** @throws Problem `rate_limited` where too many ask */
export const costlyGroups = async (
  question: UsageQuestion,
  segments: readonly PackedSegment[],
  mostGroups: number,
): Promise<CostlyGroups> => (await answered({ question, segments, mostGroups })) as CostlyGroups;

/** All groups as CSV, in pages. @throws as above */
export const groupsAsCsv = async (question: UsageQuestion, segments: readonly PackedSegment[]): Promise<Uint8Array[]> =>
  (await answered({ question, segments })) as Uint8Array[];

async function answered(asked: AddedUp): Promise<CostlyGroups | Uint8Array[]> {
  if (asked.segments.reduce((sum, { rows }) => sum + rows, 0) <= HERE_ROWS) return addUp(asked);
  const answer = thread.waiting < MOST_WAITING ? await thread.ask(asked) : undefined;
  if (answer === undefined)
    throw new Problem('rate_limited', 'Too much usage is being added up: repeat in a few seconds.', { retryAfterSeconds: 5 });
  return answer;
}
