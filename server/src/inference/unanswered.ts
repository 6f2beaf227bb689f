import { hash } from 'node:crypto';
import type { UpstreamFault } from '../adapters/upstream/port.ts';
import type { Admission } from './admission.ts';
import type { Journey } from './attempts.ts';
import type { InferenceDeps, Reply } from './deps.ts';
import { answerHeaders } from './response-headers.ts';
import { ourCount, type Served, settle } from './settlement.ts';
import { upstreamProblem } from './upstream-problem.ts';
import { NO_USAGE } from './usage.ts';

/**
 * No provider answered, and the client has seen nothing yet: it gets the problem, and nothing is charged. Had the client hung up on a
 * provider that was at work, that one has read the prompt: so much is estimated and charged, and there is nobody to answer.
 */
export async function settleUnanswered(
  admission: Admission,
  journey: Journey<unknown>,
  fault: UpstreamFault,
  deps: InferenceDeps,
): Promise<{ served: Served; reply: Reply }> {
  const isCancelled = fault.kind === 'cancelled';
  // Somebody is still there to be told, where it was their run that ended.
  const stopped = admission.call.run?.stopped;
  const reply = deps.problemReply(stopped ?? upstreamProblem(fault), admission.call);
  const body = isCancelled && !stopped ? Buffer.alloc(0) : reply.body;
  const overheadMs = performance.now() - admission.call.startedTick - journey.upstreamMs;
  const served: Served = {
    ...journey,
    outcome: isCancelled ? 'cancelled' : 'failed',
    usage: isCancelled ? await ourCount(admission, journey.target, { text: '', scale: 1 }, deps) : NO_USAGE,
    estimated: isCancelled,
    responseSha256: hash('sha256', body, 'hex'),
    firstByteAt: null,
    completedAt: deps.clock.now(),
    overheadMs,
  };
  await settle(admission, served, deps.lanes, { status: reply.status, body });
  return { served, reply: { status: reply.status, headers: { ...answerHeaders(admission, journey, overheadMs), ...reply.headers }, body } };
}
