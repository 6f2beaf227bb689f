import { hash } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import type { UpstreamFault } from '../adapters/upstream/port.ts';
import type { NanoUsd } from '../kernel/money.ts';
import { type Admission, admit, admitToShare, type Share } from './admission.ts';
import type { Call } from './call.ts';
import type { StreamReceiver } from './client-stream.ts';
import type { InferenceDeps, Reply } from './deps.ts';
import { askPlain, relayPlain, settlePlain } from './plain-relay.ts';
import { asStep, isBeforeRun } from './run-calls.ts';
import { settle } from './settlement.ts';
import { relayStream } from './stream-relay.ts';
import { NO_USAGE } from './usage.ts';
import type { Later } from './work.ts';

/** One plain answer: held, answered, settled. The reply is not sent yet, so that an idempotent repeat can be given the same. */
export async function completeCall(call: Call, deps: InferenceDeps): Promise<Reply> {
  if (call.work.later) return takeDown(call, call.work.later, deps);
  if (isBeforeRun(call)) return asStep(call, deps, (step) => completeCall(step, deps));
  const admission = await admit(call, deps);
  call.run?.admitted();
  const { served, reply } = await orAbandon(admission, deps, relayPlain(admission, deps));
  deps.onServed(call, served);
  return reply;
}

/**
 * One plain answer paid out of a hold that is there already: the share is settled with it. A provider's trouble that may pass is settled
 * in no way, but handed back, and so is a call that was given up.
 */
export async function completeShare(
  call: Call,
  { reserved, share, isLastTry }: ReservedShare,
  deps: InferenceDeps,
): Promise<UpstreamFault | undefined> {
  const admission = admitToShare(call, reserved, share, deps);
  call.run?.admitted();
  const journey = await askPlain(admission, deps);
  const { result } = journey;
  // What its agent run has ended is charged for what a provider did of it, like any call of that run.
  const isGivenUp = !result.ok && result.kind === 'cancelled' && !call.run?.stopped;
  if (!result.ok && (isGivenUp || (result.retryable && !isLastTry))) return result;
  const { served } = await settlePlain(admission, journey, deps);
  deps.onServed(call, served);
  return undefined;
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
    await takeDown(call, call.work.later, deps);
    return call.work.later.follow(call, res);
  }
  await streamTo(call, res, deps);
}

/** The same for a receiver that is no HTTP answer. */
export async function streamTo(call: Call, res: StreamReceiver, deps: InferenceDeps): Promise<void> {
  if (isBeforeRun(call)) return asStep(call, deps, (step) => streamTo(step, res, deps));
  const admission = await admit(call, deps);
  call.run?.admitted();
  const served = await orAbandon(admission, deps, relayStream(admission, res, deps));
  deps.onServed(call, served);
}

/** Whether the worst case fits is found out now. It is held when the work is done. */
async function takeDown(call: Call, later: Later, deps: InferenceDeps): Promise<Reply> {
  // It counts in its run when it is done.
  if (isBeforeRun(call)) return asStep(call, deps, (step) => takeDown(step, later, deps));
  await admit(call, deps);
  await deps.lanes.release(call.receiptId);
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

/** A relay that throws is a defect of ours, or a journal that cannot be written: the customer pays nothing, and the hold must not stay. */
async function orAbandon<T>(admission: Admission, deps: InferenceDeps, relayed: Promise<T>): Promise<T> {
  try {
    return await relayed;
  } catch (thrown) {
    await abandon(admission, deps).catch((error: unknown) =>
      deps.log.warn(
        { err: error, requestId: admission.call.requestId },
        'the hold of a failed call is settled already, or stays until it expires',
      ),
    );
    throw thrown;
  }
}

async function abandon(admission: Admission, { lanes, clock }: InferenceDeps): Promise<void> {
  const [target] = admission.targets;
  if (!target) return;
  const failed = {
    target,
    attempts: [],
    fallback: 'none',
    outcome: 'failed',
    usage: NO_USAGE,
    estimated: false,
    responseSha256: hash('sha256', '', 'hex'),
    firstByteAt: null,
    completedAt: clock.now(),
    overheadMs: performance.now() - admission.call.startedTick,
  } as const;
  await settle(admission, failed, lanes);
}
