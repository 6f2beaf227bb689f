import type { Call } from './call.ts';
import type { Deployments } from './deployments.ts';
import type { Served } from './served.ts';

/** What is shorter says nothing of how fast a model writes. */
const LEAST_TOKENS = 16;

/** Remembers how fast a deployment wrote, where the whole time of the call was its own. */
export function measureThroughput(
  { startedAt }: Pick<Call, 'startedAt'>,
  { target, outcome, attempts, usage, completedAt }: Served,
  deployments: Pick<Deployments, 'measured'>,
): void {
  const seconds = (completedAt - startedAt) / 1_000;
  if (outcome !== 'completed' || attempts.length !== 1 || usage.output_tokens < LEAST_TOKENS || seconds <= 0) return;
  deployments.measured(target, usage.output_tokens / seconds);
}
