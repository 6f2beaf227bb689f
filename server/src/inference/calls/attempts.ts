import { setTimeout as delay } from 'node:timers/promises';
import { type Begun, reasonOf, UpstreamCut, type UpstreamFault } from '../../adapters/upstream/port.ts';
import { statedUsage } from '../../kernel/stated-usage.ts';
import type { Admission } from './admission.ts';
import { type AnswerReader, Attempt, type AttemptDeps, type Journey, LATE, OUTCOME, type Progress, type Used } from './attempt.ts';
import { isBilled, knownUsage, withoutBill } from './billed-faults.ts';
import { skippedOf, type Target } from './deployments.ts';
import type { InferenceDeps } from './deps.ts';
import { answerMembersIn } from './large-chunk.ts';
import { leaveBehind, leaveBroken, settleLeft } from './left-behind.ts';
import type { RunningCall } from './running-calls.ts';
import { usageAnywhere } from './usage-anywhere.ts';

/** More deployments than this are not tried for one request: the client has a timeout too. */
const MOST_ATTEMPTS = 5;

/**
 * Calls the targets in order until one answers; without one left, those again that say when they may be asked again, if that is soon. A
 * provider that is late is not cut, because it may bill all the same: if what it may bill can be held too, the next target is asked beside it;
 * if not, its answer is read on for its bill.
 */
export async function firstThatAnswers<T>(
  admission: Admission,
  running: RunningCall,
  deps: InferenceDeps,
  reader: AnswerReader<T>,
): Promise<Journey<T>> {
  const { call } = admission;
  const most = call.headers.fallbackPolicy === 'none' ? 1 : MOST_ATTEMPTS;
  const targets = admission.targets.slice(0, most);
  const sofar: Progress = { attempts: [], skipped: [...admission.skipped], upstreamMs: 0, waitedMs: 0 };
  let last: Journey<T> | undefined;
  // It grows while they are waited for.
  for (const [index, target] of targets.entries()) {
    if (call.signal.aborted || running.signal.aborted) return last ?? { ...notAsked(target), ...sofar, attempt: running.begunAs };
    const isLast = index === targets.length - 1;
    // The last one is tried in any case, and so is one that was waited for: there is nobody else.
    if (!deps.deployments.claim(target, deps.clock.now()) && (last || !isLast) && sofar.waitedMs === 0) {
      sofar.skipped.push(skippedOf(target, deps.deployments.isOpen(target, deps.clock.now()) ? 'cooling_down' : 'probing'));
      continue;
    }
    running.asks(target);
    const asked = new Attempt(admission, target, running, sofar, deps);
    const answered = asked.ask(reader);
    const first = await asked.orLate(answered);
    if (first === LATE) {
      const fault = asked.givenUp();
      noteFailure(fault, target, call, deps);
      const left = isLast ? undefined : await leaveBehind(asked, admission, running, deps);
      if (left) {
        void settleLeft(left, asked, answered, reader, deps);
        last = { ...asked.journey(), result: fault };
        continue;
      }
      if (!asked.isOver) reader.late(fault, asked.journey());
    }
    const result = first === LATE ? await answered : first;
    last = { ...asked.journey(), result };
    if (!asked.isLate) noteOutcome(result, asked, deps);
    if (result.ok || running.isGivenUp || !result.retryable) return last;
    if (isBilled(result, target)) {
      // What is billed is final. Of what is only counted, another may be asked where it can be paid as well.
      const left = isLast || knownUsage(result, target) ? undefined : await leaveBroken(asked, admission, running, deps);
      if (!left) return last;
      await settleLeft(left, asked, answered, reader, deps);
      last = { ...asked.journey(), result: withoutBill(result) };
    }
    const again = isLast && sofar.attempts.length < most && (await onceFree(result, targets, { admission, running, sofar, deps }));
    if (again) targets.push(again);
  }
  if (!last) throw new Error('An admission has at least one target');
  return withRightWait(last, targets, deps);
}

interface Waiting {
  readonly admission: Admission;
  readonly running: RunningCall;
  readonly sofar: Progress;
  readonly deps: InferenceDeps;
}

/**
 * Waits for the first of the targets that may be asked again, where the last one said when that is. Money stays held meanwhile, and nobody is
 * at work. Undefined where it would be too late, or nobody waits any more.
 */
async function onceFree(result: UpstreamFault, targets: readonly Target[], waiting: Waiting): Promise<Target | undefined> {
  const { admission, running, sofar, deps } = waiting;
  if (result.retryAfterMs === null) return undefined;
  const next = deps.deployments.nextFree(targets, deps.clock.now());
  if (!next || sofar.waitedMs + next.inMs > deps.timeouts.retryAfterMs) return undefined;
  const ended = AbortSignal.any([admission.call.signal, running.signal]);
  const isOver = await delay(next.inMs, false, { signal: ended }).catch(() => true);
  sofar.waitedMs += next.inMs;
  sofar.upstreamMs += next.inMs;
  return isOver ? undefined : next.target;
}

function noteOutcome(result: Used<unknown> | UpstreamFault, asked: Attempt, deps: InferenceDeps): void {
  const { target, call } = asked;
  if (!result.ok) {
    asked.was(OUTCOME[result.kind]);
    noteFailure(result, target, call, deps);
  } else if (result.brokeOff) noteFailure(BROKEN_OFF, target, call, deps);
  else deps.deployments.answered(target, asked.latencyMs, deps.clock.now());
}

/** Its client had left before any provider was asked. */
const notAsked = (target: Target) =>
  ({ target, fallback: 'none', upstreamMs: 0, result: invalidAnswer('nobody waits for it', 'cancelled') }) as const;

const BROKEN_OFF = { kind: 'failed', status: 200, retryAfterMs: null, message: 'its answer broke off', code: null } as const;

function noteFailure(
  fault: Pick<UpstreamFault, 'kind' | 'status' | 'retryAfterMs' | 'message' | 'isQuoted' | 'code' | 'isOwnLimit'>,
  target: Target,
  { requestId }: Admission['call'],
  { deployments, clock, log }: AttemptDeps,
): void {
  if (fault.isOwnLimit) return;
  const opened = deployments.failed(target, fault, clock.now());
  const { deployment, model } = target;
  const facts = {
    requestId,
    deployment: deployment.name,
    model: model.id,
    kind: fault.kind,
    status: fault.status,
    because: reasonOf(fault),
  };
  if (opened?.reason === 'credentials')
    log.error(
      { ...facts, forMs: opened.forMs },
      'a provider refuses the credentials that are configured for it: nothing is sent there for a while',
    );
  else if (opened)
    log.warn({ ...facts, reason: opened.reason, forMs: opened.forMs }, 'a provider did not answer, and is left aside for a while');
  else log.warn(facts, 'a provider did not answer');
}

/** What its provider says contradicts itself: the largest is charged, and an operator has to know. */
export function noteDecrease(attempt: Attempt, { log }: Pick<AttemptDeps, 'log'>): void {
  const { call, target } = attempt;
  attempt.amend({ usage_decreased: true });
  const facts = { requestId: call.requestId, deployment: target.deployment.name, model: target.model.id };
  log.warn(facts, 'a provider reported less usage than before in one stream: the largest of its counts is charged');
}

/** Of several that are at their limits, the client has to wait for the first one that is not. */
function withRightWait<T>(journey: Journey<T>, targets: readonly Target[], { deployments, clock }: AttemptDeps): Journey<T> {
  const { result } = journey;
  if (result.ok || (result.kind !== 'rate_limited' && result.retryAfterMs === null)) return journey;
  const retryAfterMs = deployments.soonestMs(targets, clock.now());
  return retryAfterMs === null ? journey : { ...journey, result: { ...result, retryAfterMs } };
}

/** A body that broke off before anything of it reached the client. What came of it is billed. */
export function faultOfCut(error: unknown, begun?: Begun): UpstreamFault {
  if (!(error instanceof UpstreamCut)) throw error;
  const kind = error.reason === 'aborted' ? 'cancelled' : error.reason === 'idle_timeout' ? 'timeout' : 'failed';
  const fault = invalidAnswer(error.message, kind);
  return kind === 'cancelled' ? fault : { ...fault, usage: statedUsage(error.found), begun: { bytes: error.came ?? NOTHING, ...begun } };
}

const NOTHING = Buffer.alloc(0);

/** A body that is no answer of its endpoint. One that says that its provider failed is not billed, but for what it says that it has used. */
export async function noAnswer(message: string, begun: Begun): Promise<UpstreamFault> {
  const members = await answerMembersIn(begun.bytes);
  const usage = statedUsage(members) ?? usageAnywhere(begun.bytes);
  return { ...invalidAnswer(message), usage, ...(!members?.['error'] && { begun }) };
}

/** An answer that was begun and is none: its provider may bill it. `cancelled`: nobody knows what it would have been. */
export const invalidAnswer = (message: string, kind: UpstreamFault['kind'] = 'failed'): UpstreamFault => ({
  ok: false,
  kind,
  retryable: kind !== 'cancelled',
  status: kind === 'cancelled' ? null : 200,
  retryAfterMs: null,
  message,
  param: null,
  code: null,
});
