import { hash } from 'node:crypto';
import type { UpstreamFault } from '../../adapters/upstream/port.ts';
import { Problem } from '../../kernel/problem.ts';
import type { Admission } from './admission.ts';
import type { Journey } from './attempt.ts';
import { billOfFault, knownUsage } from './billed-faults.ts';
import type { Call } from './call.ts';
import type { InferenceDeps } from './deps.ts';
import type { Reply } from './reply.ts';
import { answerHeaders } from './response-headers.ts';
import type { RunningCall } from './running-calls.ts';
import type { Served } from './served.ts';
import { settle, usageWhenCut } from './settlement.ts';
import { lateProblem, upstreamProblem } from './upstream-problem.ts';
import { NO_USAGE } from './usage.ts';

/**
 * No provider answered, and the client has seen nothing yet: it gets the problem. Nothing is charged where the providers gave it an error, but what the
 * last of them says beside it that it has used; of an answer that it broke off, what it bills. Where it was cut from our side while a provider was
 * at work, or a provider broke off an answer whose client had left, or never said anything of it, what that one may bill is charged.
 */
export async function settleUnanswered(
  admission: Admission,
  running: RunningCall,
  journey: Journey<unknown>,
  fault: UpstreamFault,
  deps: InferenceDeps,
): Promise<{ served: Served; reply: Reply }> {
  running.isDecided = true;
  const isCut = fault.kind === 'cancelled' || (admission.call.signal.aborted && fault.status === 200);
  const wasAsked = journey.attempts.length > 0;
  const hasLeft = admission.call.signal.aborted || running.isGivenUp;
  // Of a line of a batch a late answer is as good as any.
  const isAwaited = admission.share ? !admission.call.signal.aborted : !hasLeft && !admission.call.isLeft?.();
  const isKnown = knownUsage(fault, journey.target) !== undefined;
  const bill =
    isCut && !isKnown
      ? wasAsked && { usage: await usageWhenCut(admission, journey.target, running, undefined, deps), estimated: true }
      : await billOfFault(fault, admission, journey.target, { ...deps, isAwaited });
  const reply = deps.problemReply(admission.call.run?.stopped ?? endingOf(fault, running, Boolean(bill)), admission.call);
  const told = running.told ?? toldInstead(admission.call, deps) ?? reply.body;
  const overheadMs = performance.now() - admission.call.startedTick - journey.upstreamMs;
  const served: Served = {
    ...journey,
    outcome: isCut || (bill && hasLeft) ? cutOutcome(admission.call, running) : bill ? 'cut' : 'failed',
    ...(bill || { usage: NO_USAGE, estimated: false }),
    responseSha256: hash('sha256', told, 'hex'),
    firstByteAt: null,
    completedAt: deps.clock.now(),
    overheadMs,
  };
  await settle(admission, served, deps, { status: reply.status, body: reply.body });
  const headers = { ...answerHeaders(admission, journey, overheadMs, { promises: deps.promises, isSettled: true }), ...reply.headers };
  return { served, reply: { status: reply.status, headers, body: reply.body } };
}

/** Of a call that ended before its answer did. */
export const cutOutcome = ({ signal }: Call, { endedBy, isGivenUp }: RunningCall): 'cancelled' | 'abandoned' =>
  signal.aborted && endedBy !== 'shutdown' && !isGivenUp ? 'cancelled' : 'abandoned';

function endingOf(fault: UpstreamFault, { endedBy }: RunningCall, isCharged: boolean): Problem {
  if (fault.kind === 'cancelled' && endedBy === 'shutdown') return stopping();
  return fault.kind === 'cancelled' && endedBy === 'deadline' ? lateProblem(fault) : upstreamProblem(fault, isCharged);
}

/** What a client that left, or whose run has ended, was told in place of the answer; undefined where it still waits for that. */
export function toldInstead(call: Call, deps: Pick<InferenceDeps, 'problemReply'>): Buffer | undefined {
  const stopped = call.run?.stopped;
  if (stopped) return deps.problemReply(stopped, call).body;
  return call.signal.aborted ? NOTHING : undefined;
}

const NOTHING = Buffer.alloc(0);

const stopping = () =>
  new Problem('store_unavailable', 'The gateway stopped before the answer was there. What the provider may bill for it is charged.', {
    retryAfterSeconds: 2,
  });
