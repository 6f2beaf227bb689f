import { hash } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import type { UpstreamFault } from '../../adapters/upstream/port.ts';
import type { NanoUsd } from '../../kernel/money.ts';
import { Problem } from '../../kernel/problem.ts';
import { andThen, type Soon } from '../../kernel/soon.ts';
import { type Admission, admit, admitToShare, type Share } from './admission.ts';
import { answerAgain } from './answer-cache/answer-again.ts';
import type { JourneySoFar } from './attempt.ts';
import { isBilled } from './billed-faults.ts';
import type { Call } from './call.ts';
import type { StreamReceiver } from './client-stream.ts';
import type { InferenceDeps } from './deps.ts';
import { askPlain, relayPlain, settlePlain } from './plain-relay.ts';
import type { Reply } from './reply.ts';
import { answerHeaders, stoppedHeaders } from './response-headers.ts';
import { asStep, isBeforeRun } from './run-calls.ts';
import type { RunningCall } from './running-calls.ts';
import type { Served } from './served.ts';
import { beginInFlight, firstInFlight, releaseLater, settle } from './settlement.ts';
import { relayStream } from './stream-relay.ts';
import { measureThroughput } from './throughput.ts';
import { lateProblem } from './upstream-problem.ts';
import { NO_USAGE } from './usage.ts';
import type { Later } from './work.ts';

/** One plain answer: held, answered, settled. The reply is not sent yet, so that an idempotent repeat can be given the same. */
export async function completeCall(call: Call, deps: InferenceDeps): Promise<Reply> {
  if (call.work.later) return enqueueBackground(call, call.work.later, deps);
  if (isBeforeRun(call)) return asStep(call, deps, (step) => completeCall(step, deps));
  const again = call.cache && (await answerAgain(call, deps));
  if (again) return again;
  const beginning = beginCall(call, deps);
  const [admission, running] = beginning instanceof Promise ? await beginning : beginning;
  const told = answerOrLate(admission, running, deps);
  return call.run ? untilStopped(admission, running, told, deps) : told;
}

/** What is learnt of a call that was served, and whoever watches is told of. */
function tellServed(call: Call, served: Served, deps: InferenceDeps): void {
  measureThroughput(call, served, deps.deployments);
  deps.onServed(call, served);
}

/** What the client is told: the answer, or that its provider is late. Then the answer is read on, and settled when it is there. */
function answerOrLate(admission: Admission, running: RunningCall, deps: InferenceDeps): Promise<Reply> {
  const { call } = admission;
  return new Promise((resolve, reject) => {
    const relayed = relayPlain(admission, running, deps, (fault, journey) => {
      const reply = tellLate(admission, running, { fault, journey }, deps);
      if (reply) resolve(reply);
    });
    orAbandon(admission, running, deps, relayed)
      .then(({ served, reply }) => {
        tellServed(call, served, deps);
        resolve(reply);
      })
      .catch((error: unknown) => {
        if (running.isGivenUp) deps.log.error({ err: error, requestId: call.requestId }, 'a call that was given up could not be settled');
        reject(error);
      });
  });
}

/** The provider is late, and no other is asked: undefined where whoever waits waits on. */
function tellLate(
  admission: Admission,
  running: RunningCall,
  { fault, journey }: { readonly fault: UpstreamFault; readonly journey: JourneySoFar },
  deps: InferenceDeps,
): Reply | undefined {
  const { call } = admission;
  // What has begun at the provider lives on there, and belongs to the caller.
  const waitsOn = call.work.outlivesHangUp || call.signal.aborted;
  const reply = waitsOn ? undefined : deps.problemReply(lateProblem(fault), call);
  running.giveUp(reply?.body);
  const overheadMs = performance.now() - call.startedTick - journey.upstreamMs;
  return reply && { ...reply, headers: { ...answerHeaders(admission, journey, overheadMs, deps), ...reply.headers } };
}

/** Held, and written down for the case that this process dies: a provider may be asked now. @throws Problem as `admit` */
export function beginCall(call: Call, deps: InferenceDeps): Soon<readonly [Admission, RunningCall]> {
  deps.running.requireRoom(call);
  return andThen(admit(call, deps, firstInFlight), (admission) =>
    andThen(record(admission, deps), () => {
      call.run?.admitted();
      return [admission, deps.running.begin(call)] as const;
    }),
  );
}

/** What cannot be recorded is not started. @throws Problem `store_unavailable` */
function record(admission: Admission, deps: InferenceDeps): Soon<void> {
  const failed = async (cause: unknown): Promise<never> => {
    await releaseLater(admission, deps);
    throw unrecorded(cause);
  };
  try {
    const recording = beginInFlight(admission, 1, deps);
    return recording instanceof Promise ? recording.catch(failed) : undefined;
  } catch (cause) {
    return failed(cause);
  }
}

const unrecorded = (cause: unknown) =>
  new Problem('store_unavailable', 'The request could not be recorded, so it was not started. Repeat it.', { retryAfterSeconds: 2, cause });

/** Whoever waits is told at once that the run has ended. What the provider is at work for is read on, and settled when it is known. */
async function untilStopped(admission: Admission, running: RunningCall, answered: Promise<Reply>, deps: InferenceDeps): Promise<Reply> {
  const { call } = admission;
  const { promise: refusal, resolve } = Promise.withResolvers<Reply>();
  const onAbort = () => {
    const stopped = call.run?.stopped;
    if (!stopped || running.isDecided) return;
    const reply = deps.problemReply(stopped, call);
    resolve({ ...reply, headers: { ...stoppedHeaders(admission, deps), ...reply.headers } });
  };
  if (call.signal.aborted) onAbort();
  else call.signal.addEventListener('abort', onAbort);
  answered.catch((error: unknown) => {
    if (call.run?.stopped) deps.log.error({ err: error, requestId: call.requestId }, 'a stopped call could not be settled');
  });
  try {
    return await Promise.race([answered, refusal]);
  } finally {
    call.signal.removeEventListener('abort', onAbort);
  }
}

/**
 * One plain answer paid out of a hold that is there already: the share is settled with it. A provider's trouble that may pass is settled
 * in no way, but handed back, and so is a call that was given up: what that may cost stays with the share.
 */
export async function completeShare(
  call: Call,
  { reserved, share, isLastTry }: ReservedShare,
  deps: InferenceDeps,
): Promise<UpstreamFault | undefined> {
  const admission = admitToShare(call, reserved, share, deps);
  await beginInFlight(admission, 1, deps);
  call.run?.admitted();
  const running = deps.running.begin(call);
  try {
    // Nobody waits for it, so a late answer is as good as any.
    const journey = await askPlain(admission, running, deps, () => running.giveUp(undefined));
    const { result } = journey;
    // What its agent run has ended, or a provider's silence, is charged for what a provider did of it, like any call.
    const isOver = call.run?.stopped || (running.endedBy === 'deadline' && !call.signal.aborted);
    const isGivenUp = !result.ok && result.kind === 'cancelled' && !isOver;
    if (isGivenUp) return result;
    const mayBePaid = !result.ok && (isBilled(result, journey.target) || (result.mayBeAtWork && call.signal.aborted));
    if (!result.ok && result.retryable && !mayBePaid && !isLastTry) {
      await share.end(Math.max(journey.attempts.length, running.begunAs));
      return result;
    }
    const { served } = await settlePlain(admission, running, journey, deps);
    tellServed(call, served, deps);
    return undefined;
  } finally {
    running.end();
  }
}

interface ReservedShare {
  /** What of the hold is for this call. */
  readonly reserved: NanoUsd;
  readonly share: Share;
  /** Whatever comes of it is settled. */
  readonly isLastTry: boolean;
}

/** One streamed answer: held, relayed as it comes, settled before its last event leaves. */
export async function streamCall(call: Call, res: ServerResponse, deps: InferenceDeps): Promise<void> {
  if (call.work.later) {
    await enqueueBackground(call, call.work.later, deps);
    return call.work.later.follow(call, res);
  }
  await streamTo(call, res, deps);
}

/** The same for a receiver that is no HTTP answer. */
export async function streamTo(call: Call, res: StreamReceiver, deps: InferenceDeps): Promise<void> {
  if (isBeforeRun(call)) return asStep(call, deps, (step) => streamTo(step, res, deps));
  const again = call.cache && (await answerAgain(call, deps));
  if (again) {
    res.writeHead(again.status, again.headers).end(again.body);
    return;
  }
  const beginning = beginCall(call, deps);
  const [admission, running] = beginning instanceof Promise ? await beginning : beginning;
  const served = await orAbandon(admission, running, deps, relayStream(admission, running, res, deps));
  tellServed(call, served, deps);
}

/** Whether the worst case fits is found out now. It is held when the work is done. */
async function enqueueBackground(call: Call, later: Later, deps: InferenceDeps): Promise<Reply> {
  // It counts in its run when it is done.
  if (isBeforeRun(call)) return asStep(call, deps, (step) => enqueueBackground(step, later, deps));
  await releaseLater(await admit(call, deps), deps);
  const body = Buffer.from(JSON.stringify(await later.accept(call)));
  const headers = {
    'x-request-id': call.clientRequestId ?? call.requestId,
    // There once it is settled.
    'x-receipt-id': call.receiptId,
    'content-type': 'application/json',
    'content-length': body.length,
  };
  return { status: 200, headers, body };
}

/** A relay that throws is a defect of ours, or a store that cannot be written. The call is over all the same: its hold must not stay. */
async function orAbandon<T>(admission: Admission, running: RunningCall, deps: InferenceDeps, relayed: Promise<T>): Promise<T> {
  try {
    return await relayed;
  } catch (thrown) {
    await abandon(admission, running, deps);
    throw thrown;
  } finally {
    running.end();
  }
}

/**
 * What a provider's answer may cost is charged, as after a crash: its usage where the answer was about to be stored, and otherwise the hold.
 * Without an answer nothing is. Never rejects.
 */
async function abandon(admission: Admission, { isAnswered, begunAs }: RunningCall, deps: InferenceDeps): Promise<void> {
  const { receiptId, requestId, startedTick } = admission.call;
  const [target] = admission.targets;
  if (!target || deps.unsettled.has(receiptId)) return;
  const failed = {
    target,
    attempts: [],
    attempt: begunAs,
    fallback: 'none',
    outcome: 'failed',
    usage: NO_USAGE,
    estimated: false,
    responseSha256: hash('sha256', '', 'hex'),
    firstByteAt: null,
    completedAt: deps.clock.now(),
    overheadMs: performance.now() - startedTick,
  } as const;
  try {
    if (isAnswered) await deps.lanes.abandon(receiptId);
    else await settle(admission, failed, deps);
  } catch (error) {
    deps.log.warn({ err: error, requestId }, 'a call that failed cannot be settled yet');
    if (isAnswered) deps.unsettled.add(receiptId, () => deps.lanes.abandon(receiptId));
  }
}
