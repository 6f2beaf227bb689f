import { Problem } from '../../kernel/problem.ts';
import type { RunStep } from '../../money/runs/index.ts';
import { type Call, isLive } from './call.ts';
import type { InferenceDeps } from './deps.ts';
import type { InferenceHeaders } from './headers.ts';

/** Whether a call has still to be let into its run. Calls outside runs, which are most, have nothing to wait for. */
export const isBeforeRun = ({ headers, run }: Call): boolean => headers.runId !== null && run === undefined;

/**
 * Serves a call as a step of its agent run, which may stop it.
 *
 * @throws Problem `run_closed`, `run_exhausted`, `validation_failed`, `store_unavailable`, and the errors of `serve`
 */
export async function asStep<C extends Pick<Call, 'grant' | 'headers' | 'startedAt' | 'signal'>, T>(
  call: C,
  { runs }: Pick<InferenceDeps, 'runs'>,
  serve: (call: C & { readonly run: RunStep }) => Promise<T>,
): Promise<T> {
  const { grant, headers, startedAt, signal } = call;
  const step = await runs.enter({
    accountId: grant.principal.accountId,
    livemode: isLive(grant.principal),
    runId: headers.runId ?? '',
    parentRunId: headers.parentRunId ?? null,
    maxCalls: headers.runCalls ?? null,
    deadlineAt: deadlineAt(headers, startedAt),
  });
  try {
    return await serve({ ...call, run: step, signal: AbortSignal.any([signal, step.signal]) });
  } catch (thrown) {
    if (thrown instanceof Problem) thrown.extras.headers = { ...step.headers, ...thrown.extras.headers };
    throw thrown;
  } finally {
    step.leave();
  }
}

function deadlineAt({ runDeadline }: InferenceHeaders, startedAt: number): number | null {
  if (runDeadline === undefined) return null;
  return 'at' in runDeadline ? runDeadline.at : startedAt + runDeadline.afterMs;
}
