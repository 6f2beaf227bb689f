/** Whose runs: of an account, and there of live or of test mode, which never see each other. */
export interface RunOwner {
  readonly accountId: string;
  readonly livemode: boolean;
}

/** What a run may do beside its ceiling in money, which is its lane's. Times are epoch milliseconds. */
export interface RunBounds {
  readonly runId: string;
  /** The runs above it, the nearest first. Fixed by the first request of the run. */
  readonly ancestors: readonly string[];
  /** The most calls of the run and its child runs; null for no bound. */
  readonly maxCalls: number | null;
  readonly deadlineAt: number | null;
  readonly closedAt: number | null;
}

/** What one request says of its run. */
export interface RunWish extends RunOwner {
  readonly runId: string;
  readonly parentRunId: string | null;
  readonly maxCalls: number | null;
  readonly deadlineAt: number | null;
}

/** Whether a request binds its run tighter than it is bound. What is wider is ignored. */
export const isTighter = ({ maxCalls, deadlineAt }: Pick<RunWish, 'maxCalls' | 'deadlineAt'>, bounds: RunBounds): boolean =>
  (maxCalls !== null && (bounds.maxCalls === null || maxCalls < bounds.maxCalls)) ||
  (deadlineAt !== null && (bounds.deadlineAt === null || deadlineAt < bounds.deadlineAt));

/** The deadline that comes first in a chain of runs; undefined where none has one. */
export function firstDeadline(chain: readonly RunBounds[]): { readonly runId: string; readonly at: number } | undefined {
  let first: { runId: string; at: number } | undefined;
  for (const { runId, deadlineAt } of chain)
    if (deadlineAt !== null && (!first || deadlineAt < first.at)) first = { runId, at: deadlineAt };
  return first;
}
