import { Problem } from '../../../kernel/problem.ts';
import type { UsageQuestion } from '../usage-sources.ts';
import type { AddedUp, CostlyGroups } from './add-up.ts';
import { type PackedSegment, rowsIn } from './segment.ts';
import { onSegmentThread } from './segment-thread.ts';

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
  const answer = await onSegmentThread('addUp', asked, rowsIn(asked.segments));
  if (answer === undefined)
    throw new Problem('rate_limited', 'Too much usage is being added up: repeat in a few seconds.', { retryAfterSeconds: 5 });
  return answer;
}
