import { csvPages } from '../usage-csv.ts';
import type { GroupRow } from '../usage-groups.ts';
import type { UsageQuestion } from '../usage-sources.ts';
import type { PackedSegment } from './segment.ts';
import { UsageGroups } from './usage-answer.ts';

export interface AddedUp {
  readonly question: UsageQuestion;
  readonly segments: readonly PackedSegment[];
  /** The most costly groups; undefined: all, as CSV. */
  readonly mostGroups?: number | undefined;
}

/** The most costly groups, in the order of their names. */
export interface CostlyGroups {
  readonly rows: readonly GroupRow[];
  readonly omitted: number;
  readonly total: GroupRow;
}

/** It looks at nothing but its arguments, so it can be done on any thread. */
export function addUp({ question, segments, mostGroups }: AddedUp): CostlyGroups | Uint8Array[] {
  const groups = new UsageGroups(question, segments);
  if (mostGroups === undefined) return [...csvPages(question, groups.inOrder().rows)];
  const { rows, total } = groups.mostCostly(mostGroups);
  return { rows: [...rows], omitted: Math.max(groups.count - mostGroups, 0), total };
}
