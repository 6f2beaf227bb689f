import type { BudgetDetail } from '@tallygate/contract';
import type { MeterState, Refused } from '../../adapters/lanes/port.ts';
import { rfc3339 } from '../../kernel/clock.ts';
import { formatUsd } from '../../kernel/money.ts';
import { Problem } from '../../kernel/problem.ts';
import { largerPlan, type PlanBook } from '../../money/plans/index.ts';
import { agentRunHeaders } from './agent-run-headers.ts';
import { rateHeaders } from './rate-limits.ts';

const LIMIT_NAMES = {
  agent_run: 'the ceiling of this agent run',
  key: 'the monthly cap of this API key',
  plan_quota: 'the quota of your plan',
  balance: 'your balance',
  account: 'a limit of your account',
  project: 'a limit of the project',
  member: 'a limit of the owner of this API key or session',
  run: 'the limit of the agent run',
  end_user: 'the limit of the end user',
  tag: 'the limit of the tag',
  model: 'the limit of the model',
};

const RETRY_IN_FLIGHT_SECONDS = 1;

interface Advice {
  /** What makes the request cheaper. */
  readonly cheaper: string;
  readonly plans: Pick<PlanBook, 'isSelling'>;
}

/** What the caller is told when the worst case does not fit: the numbers of the lane that refused. */
export function moneyRefusal({ lane, lanes, meter, required, resetsAt, mayFitLater, rates }: Refused, { cheaper, plans }: Advice): Problem {
  const headers = { ...rateHeaders(rates), ...agentRunHeaders(lanes) };
  const budget = {
    limit_source: lane.source,
    ...limitOf(lane.id),
    cap_usd: formatUsd(lane.cap ?? 0n),
    spent_usd: formatUsd(lane.spent),
    held_usd: formatUsd(lane.held),
    required_usd: formatUsd(required),
    resets_at: resetsAt === null ? null : rfc3339(resetsAt),
    ...(meter && { quota: quotaToWire(meter) }),
  };
  const isOfRunAbove = lane.source === 'agent_run' && lane.id !== lanes.find(({ source }) => source === 'agent_run')?.id;
  const limit = isOfRunAbove ? 'the ceiling of a run above this agent run' : LIMIT_NAMES[lane.source];
  if (mayFitLater) {
    const detail = `Running requests hold what is left under ${limit}: up to ${budget.required_usd} USD are needed. Repeat shortly.`;
    return new Problem('budget_in_flight', detail, { budget, headers, retryAfterSeconds: RETRY_IN_FLIGHT_SECONDS });
  }
  if (meter) return new Problem('budget_exceeded', quotaSentence(meter, { cheaper, plans }), { budget, headers });
  const detail = `This request may cost up to ${budget.required_usd} USD, which does not fit under ${limit}: ${cheaper}, or raise the limit.`;
  return new Problem('budget_exceeded', detail, { budget, headers });
}

/** Of a limit of the account: whose it is, and of which period. */
function limitOf(laneId: string): Pick<BudgetDetail, 'subject' | 'period'> {
  const [, , , window = '', , ...subject] = laneId.startsWith('limit:') ? laneId.split(':') : [];
  if (window === '') return {};
  return { ...(subject.join(':') !== '' && { subject: subject.join(':') }), period: window.replace(/@.*$/, '') };
}

const UNITS: Readonly<Record<string, string>> = { audio_seconds: 'seconds of audio', video_seconds: 'seconds of video' };

const quotaToWire = ({ cap, held, meter, required, used }: MeterState) => ({
  ...{ meter, included: Number(cap), used: Number(used), held: Number(held), required: Number(required) },
});

function quotaSentence({ cap, held, meter, required, used }: MeterState, { cheaper, plans }: Advice): string {
  const unit = UNITS[meter] ?? meter;
  const left = cap - used - held;
  const cure = `${largerPlan(plans)}, or wait for the next month`;
  if (left <= 0n) return `Your plan includes ${cap} ${unit} a month, and none are left: ${cure}.`;
  return `This request may use ${required} ${unit}, and of the ${cap} that your plan includes a month ${left} are left: ${meter === 'requests' ? '' : `${cheaper}, `}${cure}.`;
}
