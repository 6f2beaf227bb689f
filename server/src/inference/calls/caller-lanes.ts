import type { HoldRequest, MoneyLane } from '../../adapters/lanes/port.ts';
import { type Month, monthEnd, monthOf } from '../../kernel/clock.ts';
import { laneId } from '../../money/ledger/index.ts';
import { type CallNames, limitLanes } from '../../money/limits/index.ts';
import { type PlanBook, planRef } from '../../money/plans/index.ts';
import { type Call, isLive, keyIdOf, projectOf } from './call.ts';

type Funding = 'test' | 'balance' | 'invoice' | 'none';

type Passing = Pick<Call, 'grant' | 'headers' | 'startedAt' | 'run' | 'kind'>;

/**
 * Every lane that the call passes through: its run, its key's month, the limits of its account, what the plan includes, and what pays beyond
 * that.
 * @param model of which it is; undefined where many share the hold
 */
export function lanesOf(call: Passing, plans: Pick<PlanBook, 'of'>, model?: string): Pick<HoldRequest, 'lanes' | 'quota' | 'funds'> {
  const { principal, spending } = call.grant;
  const { accountId } = principal;
  const month = monthOf(call.startedAt);
  const resetsAt = monthEnd(month).getTime();
  const lanes = [...runLanes(call), ...keyLanes(call, month, resetsAt)];
  if (spending) lanes.push(...limitLanes(spending, namesOf(call, model), call.startedAt));
  if (!isLive(principal)) {
    return {
      lanes,
      quota: null,
      funds: { id: laneId.testFunds(accountId, month), source: 'balance', cap: null, capRule: 'given', resetsAt },
    };
  }
  const { caps, overage } = plans.of(call.grant.plan);
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

/** Its run; a child draws on what is left of every run above it. */
export function runLanes({ grant: { principal }, headers: { runId, runCap }, run }: Passing): MoneyLane[] {
  if (runId === null) return [];
  const lane = (id: string, cap: bigint | null): MoneyLane => ({
    id: laneId.run(principal.accountId, isLive(principal), id),
    source: 'agent_run',
    cap,
    capRule: 'tightening',
    resetsAt: null,
  });
  return [lane(runId, runCap), ...(run?.ancestors ?? []).map((ancestor) => lane(ancestor, null))];
}

function keyLanes({ grant: { principal, monthlyCap } }: Passing, month: Month, resetsAt: number): MoneyLane[] {
  const keyId = keyIdOf(principal);
  return keyId === null ? [] : [{ id: laneId.key(keyId, month), source: 'key', cap: monthlyCap, capRule: 'given', resetsAt }];
}

/** Whose spending the call is. Lines of a batch are held together: what differs between requests names none of their lanes. */
export function namesOf({ grant, headers, kind, run }: Omit<Passing, 'startedAt'>, model: string | undefined): CallNames {
  const { principal } = grant;
  return {
    accountId: principal.accountId,
    livemode: isLive(principal),
    project: projectOf(grant),
    member: principal.userId,
    key: keyIdOf(principal),
    runs: headers.runId === null ? [] : [headers.runId, ...(run?.ancestors ?? [])],
    ...(kind !== 'batch_line' && { endUser: headers.endUser, tags: headers.tags, model }),
  };
}

/** Names of the lanes of limits among those of a call, for its record; undefined where there are none. */
export function limitLanesOf(call: Passing, model: string | undefined): readonly string[] | undefined {
  const { spending } = call.grant;
  const lanes = spending && limitLanes(spending, namesOf(call, model), call.startedAt);
  return lanes && lanes.length > 0 ? lanes.map(({ id }) => id) : undefined;
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
