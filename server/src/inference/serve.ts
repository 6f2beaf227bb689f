import { hash } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import { type Admission, admit } from './admission.ts';
import type { Call } from './call.ts';
import type { InferenceDeps, Reply } from './deps.ts';
import { relayPlain } from './plain-relay.ts';
import { asStep, isBeforeRun } from './run-calls.ts';
import { settle } from './settlement.ts';
import { relayStream } from './stream-relay.ts';
import { NO_USAGE } from './usage.ts';

/** One plain answer: held, answered, settled. The reply is not sent yet, so that an idempotent repeat can be given the same. */
export async function completeCall(call: Call, deps: InferenceDeps): Promise<Reply> {
  if (isBeforeRun(call)) return asStep(call, deps, (step) => completeCall(step, deps));
  const admission = await admit(call, deps);
  call.run?.admitted();
  const { served, reply } = await orAbandon(admission, deps, relayPlain(admission, deps));
  deps.onServed(call, served);
  return reply;
}

/** One streamed answer: held, relayed as it comes, settled before its last event leaves. */
export async function streamCall(call: Call, res: ServerResponse, deps: InferenceDeps): Promise<void> {
  const admission = await admit(call, deps);
  const served = await orAbandon(admission, deps, relayStream(admission, res, deps));
  deps.onServed(call, served);
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
