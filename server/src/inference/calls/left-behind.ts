import { hash } from 'node:crypto';
import type { UpstreamFault } from '../../adapters/upstream/port.ts';
import { type Admission, admitLeft } from './admission.ts';
import type { AnswerReader, Attempt, JourneySoFar, Used } from './attempt.ts';
import { billOfFault } from './billed-faults.ts';
import type { InferenceDeps } from './deps.ts';
import type { AttemptLeft, RunningCall } from './running-calls.ts';
import { beginInFlight, releaseLater, settle, usageWhenCut } from './settlement.ts';

/** A provider that was late and is still at work, or that broke its answer off, while the next one is asked for the client. */
export interface LeftBehind {
  /** With a hold and a receipt of its own. */
  readonly admission: Admission;
  readonly running: AttemptLeft;
  /** As it was when it was left. */
  readonly journey: JourneySoFar;
}

/**
 * Holds what a late provider may bill, so that another may be asked beside it; undefined where that does not fit, where its answer has come
 * meanwhile, or where nobody waits any more.
 */
export const leaveBehind = (
  asked: Attempt,
  admission: Admission,
  running: RunningCall,
  deps: InferenceDeps,
): Promise<LeftBehind | undefined> => leave(asked, () => !asked.isOver, admission, running, deps);

/** The same for a provider that has broken its answer off. */
export const leaveBroken = (
  asked: Attempt,
  admission: Admission,
  running: RunningCall,
  deps: InferenceDeps,
): Promise<LeftBehind | undefined> => leave(asked, () => true, admission, running, deps);

async function leave(
  asked: Attempt,
  isLeavable: () => boolean,
  admission: Admission,
  running: RunningCall,
  deps: InferenceDeps,
): Promise<LeftBehind | undefined> {
  // What it begins lives on at the provider: begun twice it would be made twice.
  if (admission.call.work.outlivesHangUp) return undefined;
  const tried = [...asked.journey().attempts];
  const number = tried.length;
  const mayLeave = () => isLeavable() && !asked.isOpen && !running.endedBy && !admission.call.signal.aborted;
  if (!mayLeave()) return undefined;
  let held: Admission | undefined;
  try {
    held = await admitLeft(admission, asked.target, deps);
    if (!held) return undefined;
    // First, so that no two of its holds have the same attempt: should the process die in between, this provider was asked under one of them.
    await beginInFlight(admission, number + 1, deps, tried);
    running.begunAs = number + 1;
    await beginInFlight(held, number, deps);
    if (!mayLeave()) {
      await releaseLater(held, deps);
      return undefined;
    }
  } catch (error) {
    deps.log.warn({ err: error, requestId: admission.call.requestId }, 'what a late provider may bill could not be held');
    if (held) await releaseLater(held, deps);
    return undefined;
  }
  const left = running.leaveBehind();
  asked.isLeft = true;
  asked.running = left;
  const journey = asked.journey();
  return {
    admission: held,
    running: left,
    journey: { ...journey, attempt: number, attempts: [...journey.attempts], skipped: [...journey.skipped] },
  };
}

const NOTHING_TOLD_SHA256 = hash('sha256', '', 'hex');

/** Settles what its answer comes to. A provider that begins none bills nothing but what it says beside its error. Never rejects. */
export async function settleLeft<T>(
  { admission, running, journey }: LeftBehind,
  asked: Attempt,
  answered: Promise<Used<T> | UpstreamFault>,
  reader: AnswerReader<T>,
  deps: InferenceDeps,
): Promise<void> {
  const { call } = admission;
  try {
    const result = await answered;
    const bill = result.ok
      ? await reader.billOf(result.value, asked)
      : result.kind === 'cancelled'
        ? { usage: await usageWhenCut(admission, asked.target, running, undefined, deps), estimated: true }
        : await billOfFault(result, admission, asked.target, { ...deps, isAwaited: !asked.isLate });
    if (!bill) return await releaseLater(admission, deps);
    const now = deps.clock.now();
    const outcome = asked.isLate ? 'abandoned' : 'cut';
    const served = { ...journey, ...bill, outcome, responseSha256: NOTHING_TOLD_SHA256 } as const;
    await settle(admission, { ...served, firstByteAt: null, completedAt: now, overheadMs: 0 }, deps);
    deps.log.info(
      { requestId: call.requestId, deployment: asked.target.deployment.name, outcome },
      'a provider beside which another was asked was paid',
    );
  } catch (error) {
    deps.log.error(
      { err: error, requestId: call.requestId },
      'what a provider bills beside which another was asked could not be settled yet',
    );
    if (!deps.unsettled.has(call.receiptId)) deps.unsettled.add(call.receiptId, () => deps.lanes.abandon(call.receiptId));
  } finally {
    running.end();
  }
}
