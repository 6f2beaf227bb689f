import { hash } from 'node:crypto';
import type { UpstreamAnswer, UpstreamFault } from '../adapters/upstream/port.ts';
import { formatUsd, usdForDisplay } from '../kernel/money.ts';
import type { Admission } from './admission.ts';
import type { PlainAnswer } from './answer-form.ts';
import { faultOfCut, firstThatAnswers, invalidAnswer, type Journey } from './attempts.ts';
import type { Target } from './deployments.ts';
import type { InferenceDeps, Reply } from './deps.ts';
import { answerHeaders, runHeaders } from './response-headers.ts';
import { costOfUsage, ourCount, renewHold, type Served, settle } from './settlement.ts';
import { settleUnanswered } from './unanswered.ts';

const MOST_ANSWER_BYTES = 64 * 1024 * 1024;

/** A whole answer: collected, checked, priced, and settled before it is handed out. */
export async function relayPlain(admission: Admission, deps: InferenceDeps): Promise<{ served: Served; reply: Reply }> {
  const stopBeating = deps.heartbeat.start(() => renewHold(admission, deps));
  try {
    return await settlePlain(admission, await askPlain(admission, deps), deps);
  } finally {
    stopBeating();
  }
}

/** Asks the providers for a whole answer, and settles nothing. */
export const askPlain = (admission: Admission, deps: InferenceDeps): Promise<Journey<PlainAnswer>> =>
  firstThatAnswers(admission, deps, collect);

/** Settles what came of it, answer or fault. */
export async function settlePlain(
  admission: Admission,
  journey: Journey<PlainAnswer>,
  deps: InferenceDeps,
): Promise<{ served: Served; reply: Reply }> {
  const { result, target } = journey;
  if (!result.ok) return settleUnanswered(admission, journey, result, deps);

  const answer = result.value;
  const usage = answer.usage ?? (await ourCount(admission, target, answer.delivered, deps));
  const cost = costOfUsage(admission, target, usage).nanoUsd;
  const shown = { usage, costUsd: usdForDisplay(cost) };
  const body = answer.toBytes(shown);
  const overheadMs = performance.now() - admission.call.startedTick - journey.upstreamMs;
  const now = deps.clock.now();
  // An answer that was whole before its run ended is given, and so is one that is kept for later.
  const isCancelled = admission.call.signal.aborted && !admission.call.run?.stopped && !admission.share;
  const served: Served = {
    ...journey,
    outcome: isCancelled ? 'cancelled' : 'completed',
    usage,
    estimated: answer.usage === undefined,
    responseSha256: hash('sha256', isCancelled ? '' : body, 'hex'),
    firstByteAt: now,
    completedAt: now,
    overheadMs,
  };
  await admission.call.work.keep?.(answer.value, shown, served, admission.call);
  const settled = await settle(admission, served, deps.lanes, { status: 200, body });
  const headers = {
    ...answerHeaders(admission, journey, overheadMs),
    ...runHeaders(settled.lanes),
    'x-cost-usd': formatUsd(cost),
    'content-type': answer.contentType,
    'content-length': body.length,
  };
  return { served, reply: { status: 200, headers, body } };
}

async function collect(answer: UpstreamAnswer, { target }: { target: Target }): Promise<{ ok: true; value: PlainAnswer } | UpstreamFault> {
  let bytes: Buffer;
  try {
    bytes = await answer.collect(MOST_ANSWER_BYTES);
  } catch (error) {
    return faultOfCut(error);
  }
  const value = target.dialect.form.read(bytes, answer.contentType);
  return value
    ? { ok: true, value }
    : invalidAnswer(`the provider answered 200 with a body that is no answer of ${target.dialect.endpoint}`);
}
