import type { HoldRequest, MoneyLane } from '../../adapters/lanes/port.ts';
import { monthEnd, monthOf } from '../../kernel/clock.ts';
import { laneId } from '../../money/ledger/index.ts';
import { type PlanBook, planRef } from '../../money/plans/index.ts';
import { type Call, isLive, keyIdOf } from './call.ts';

type Funding = 'test' | 'balance' | 'invoice' | 'none';

/** Every lane that the call passes through: its run, its key's month, what the plan includes, and what pays beyond that. */
export function lanesOf(
  call: Pick<Call, 'grant' | 'headers' | 'startedAt' | 'run'>,
  plans: Pick<PlanBook, 'of'>,
): Pick<HoldRequest, 'lanes' | 'quota' | 'funds'> {
  const { principal, monthlyCap, plan } = call.grant;
  const { accountId } = principal;
  const livemode = isLive(principal);
  const keyId = keyIdOf(principal);
  const month = monthOf(call.startedAt);
  const resetsAt = monthEnd(month).getTime();
  const lanes: MoneyLane[] = [];
  const { runId, runCap } = call.headers;
  const runLane = (id: string, cap: bigint | null): MoneyLane => ({
    id: laneId.run(accountId, livemode, id),
    source: 'agent_run',
    cap,
    capRule: 'tightening',
    resetsAt: null,
  });
  if (runId !== null) lanes.push(runLane(runId, runCap));
  // A child draws on what is left of every run above it.
  for (const ancestor of call.run?.ancestors ?? []) lanes.push(runLane(ancestor, null));
  if (keyId !== null) lanes.push({ id: laneId.key(keyId, month), source: 'key', cap: monthlyCap, capRule: 'given', resetsAt });
  if (!livemode) {
    return {
      lanes,
      quota: null,
      funds: { id: laneId.testFunds(accountId, month), source: 'balance', cap: null, capRule: 'given', resetsAt },
    };
  }
  const { caps, overage } = plans.of(plan);
  const quotaLane = { id: laneId.quota(accountId, month), caps, resetsAt };
  switch (overage.kind) {
    case 'none':
    case 'block':
      return { lanes, quota: quotaLane, funds: null };
    case 'balance':
      return {
        lanes,
        quota: quotaLane,
        funds: { id: laneId.balance(accountId), source: 'balance', cap: null, capRule: 'credited', resetsAt: null },
      };
    case 'invoice':
      return {
        lanes,
        quota: quotaLane,
        funds: { id: laneId.invoice(accountId, month), source: 'balance', cap: overage.ceiling, capRule: 'given', resetsAt },
      };
    default:
      return overage satisfies never;
  }
}

/** Who pays. */
export interface Payer {
  /** What the plan does not include. */
  readonly funding: Funding;
  /** The version of the plan; null in test mode. */
  readonly plan: string | null;
}

export function payerOf({ grant }: Call, plans: Pick<PlanBook, 'of'>): Payer {
  if (!isLive(grant.principal)) return { funding: 'test', plan: null };
  const plan = plans.of(grant.plan);
  const { kind } = plan.overage;
  return { funding: kind === 'block' ? 'none' : kind, plan: planRef(plan) };
}
