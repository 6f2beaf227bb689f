import { type PlanBook, requireFeature } from '../../money/plans/index.ts';
import { isLive } from './call.ts';
import type { Caller } from './call-context.ts';
import type { InferenceHeaders } from './headers.ts';

/**
 * What a request’s headers ask for has to be part of the plan. Test mode shows everything: nothing in it is sold.
 * @throws Problem `plan_required`
 */
export function requirePlanFor(
  { principal, plan: ref }: Pick<Caller, 'principal' | 'plan'>,
  { runId, anchorWished }: Pick<InferenceHeaders, 'runId' | 'anchorWished'>,
  plans: Pick<PlanBook, 'of' | 'offered' | 'isSelling'>,
): void {
  if ((runId === null && !anchorWished) || !isLive(principal)) return;
  const plan = plans.of(ref);
  if (runId !== null) requireFeature(plans, plan, 'agent_runs');
  if (anchorWished) requireFeature(plans, plan, 'anchoring');
}
