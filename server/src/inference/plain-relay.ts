import { hash } from 'node:crypto';
import type { UpstreamAnswer, UpstreamFault } from '../adapters/upstream/port.ts';
import { formatUsd, type NanoUsd, usdForDisplay } from '../kernel/money.ts';
import type { Admission } from './admission.ts';
import { faultOfCut, firstThatAnswers, invalidAnswer } from './attempts.ts';
import type { InferenceDeps, Reply } from './deps.ts';
import { estimateUsage } from './estimate.ts';
import { answerHeaders, runHeaders } from './response-headers.ts';
import { costOfUsage, renewHold, type Served, settle } from './settlement.ts';
import { textOfChunk } from './sse-filter.ts';
import { settleUnanswered } from './unanswered.ts';
import { readUsage, usageForClient } from './usage.ts';

type Completion = Readonly<Record<string, unknown>>;

const MOST_ANSWER_BYTES = 64 * 1024 * 1024;

/** A whole answer: collected, checked, priced, and settled before it is handed out. */
export async function relayPlain(admission: Admission, deps: InferenceDeps): Promise<{ served: Served; reply: Reply }> {
  const stopBeating = deps.heartbeat.start(() => renewHold(admission, deps));
  try {
    return await relay(admission, deps);
  } finally {
    stopBeating();
  }
}

async function relay(admission: Admission, deps: InferenceDeps): Promise<{ served: Served; reply: Reply }> {
  const journey = await firstThatAnswers(admission, deps, collectCompletion);
  const { result, target } = journey;
  if (!result.ok) return settleUnanswered(admission, journey, result, deps);

  const completion = result.value;
  const reported = readUsage(completion['usage']);
  const usage = reported ?? (await estimateUsage(admission, target, { text: textOfChunk(completion), scale: 1 }, deps.tokenizer));
  const cost = costOfUsage(admission, target, usage).nanoUsd;
  const body = withCost(completion, usageForClient(reported ? completion['usage'] : undefined, usage), cost);
  const overheadMs = performance.now() - admission.call.startedTick - journey.upstreamMs;
  const now = deps.clock.now();
  const isCancelled = admission.call.signal.aborted;
  const served: Served = {
    ...journey,
    outcome: isCancelled ? 'cancelled' : 'completed',
    usage,
    estimated: reported === undefined,
    responseSha256: hash('sha256', isCancelled ? '' : body, 'hex'),
    firstByteAt: now,
    completedAt: now,
    overheadMs,
  };
  const settled = await settle(admission, served, deps.lanes);
  const headers = {
    ...answerHeaders(admission, journey, overheadMs),
    ...runHeaders(settled.lanes.find(({ source }) => source === 'agent_run')),
    'x-cost-usd': formatUsd(cost),
    'content-type': 'application/json',
    'content-length': body.length,
  };
  return { served, reply: { status: 200, headers, body } };
}

const withCost = (completion: Completion, usage: Completion, cost: NanoUsd): Buffer =>
  Buffer.from(JSON.stringify({ ...completion, usage: { ...usage, cost: usdForDisplay(cost) } }));

async function collectCompletion(answer: UpstreamAnswer): Promise<{ ok: true; value: Completion } | UpstreamFault> {
  let bytes: Buffer;
  try {
    bytes = await answer.collect(MOST_ANSWER_BYTES);
  } catch (error) {
    return faultOfCut(error);
  }
  const value = parseCompletion(bytes);
  return value ? { ok: true, value } : invalidAnswer('the provider answered 200 with a body that is no chat completion');
}

function parseCompletion(bytes: Buffer): Completion | undefined {
  try {
    const value: unknown = JSON.parse(bytes.toString('utf8'));
    return isCompletion(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

const isCompletion = (value: unknown): value is Completion =>
  typeof value === 'object' && value !== null && 'choices' in value && Array.isArray(value.choices) && value.choices.length > 0;
