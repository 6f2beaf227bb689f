import { type AdmissionDeps, refuseBeyondAnyHold, take, type WorstCase } from './admission.ts';
import { type Call, projectOf } from './call.ts';
import { lanesOf } from './caller-lanes.ts';
import { moneyRefusal } from './money-refusal.ts';
import { rateLimited } from './rate-limits.ts';

const PICO_PER_NANO = 1_000n;
const MANY_CHEAPER = 'send fewer lines, or lower the bounds on tokens in them';

/** One hold for many calls, which are settled out of it part by part. */
export interface SharedHold extends Pick<Call, 'grant' | 'headers' | 'startedAt' | 'run' | 'kind'> {
  readonly holdId: string;
  /** As the lanes' `HoldRequest` has it, epoch milliseconds. */
  readonly keptUntil: number;
  /** The sum over all calls. */
  readonly worstCase: WorstCase;
  /** What was answered before is settled out of it, and nothing else: no cap keeps it out, and its worst case is nothing. */
  readonly isForDebt?: true;
}

/**
 * Holds the worst case of many calls on the lanes that a call of that caller and time passes through, or refuses it.
 * @throws Problem `budget_exceeded`, `budget_in_flight`, `store_unavailable`, `validation_failed`
 */
export async function holdForMany(shared: SharedHold, deps: Pick<AdmissionDeps, 'lanes' | 'clock' | 'onRefused' | 'plans'>): Promise<void> {
  const { holdId, keptUntil, worstCase, grant, startedAt, isForDebt } = shared;
  refuseBeyondAnyHold(worstCase, MANY_CHEAPER);
  const outcome = await take(deps.lanes, {
    holdId,
    accountId: grant.principal.accountId,
    projectId: projectOf(grant),
    at: deps.clock.now(),
    keptUntil,
    cost: { fixed: worstCase.amount * PICO_PER_NANO, perOutputToken: 0n },
    outputTokens: { wanted: 0, least: 0 },
    units: worstCase.units,
    ...(isForDebt && { isForDebt }),
    ...lanesOf(shared, deps.plans),
  });
  if (outcome.held) return;
  if ('refusedBy' in outcome) throw rateLimited(outcome, MANY_CHEAPER);
  deps.onRefused(outcome, { grant, startedAt });
  throw moneyRefusal(outcome, { cheaper: MANY_CHEAPER, plans: deps.plans });
}
