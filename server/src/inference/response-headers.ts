import type { OutgoingHttpHeaders } from 'node:http';
import type { LaneState } from '../adapters/lanes/port.ts';
import { formatUsd, maxOf } from '../kernel/money.ts';
import type { Admission } from './admission.ts';
import type { Journey } from './attempts.ts';
import type { Call } from './call.ts';
import { rateHeaders } from './rate-limits.ts';

/** Headers that every answer to the call carries, refusals included. */
const identifyingHeaders = ({ requestId, clientRequestId }: Call): OutgoingHttpHeaders => ({
  'x-request-id': clientRequestId ?? requestId,
});

/** What is known at the first byte of an admitted call's answer. */
export function answerHeaders(
  admission: Admission,
  { target, fallback }: Omit<Journey<unknown>, 'result'>,
  overheadMs: number,
): OutgoingHttpHeaders {
  const { call, hold, isBoundOurs, maxOutputTokens, run } = admission;
  return {
    ...identifyingHeaders(call),
    'x-receipt-id': call.receiptId,
    'x-model-served': target.model.id,
    'x-provider': target.deployment.provider,
    'x-overhead-ms': overheadMs.toFixed(3),
    'x-fallback': fallback,
    ...(isBoundOurs ? { 'x-budget-max-tokens': String(maxOutputTokens) } : {}),
    ...rateHeaders(hold.rates),
    ...runHeaders(run),
  };
}

/** Where the agent run stands; nothing for a call outside runs. A run without a ceiling has only its spend. */
export function runHeaders(run: LaneState | undefined): Record<string, string> {
  if (!run) return {};
  const spent = { 'x-agent-budget-spent-usd': formatUsd(run.spent) };
  if (run.cap === null) return spent;
  return {
    ...spent,
    'x-agent-budget-limit-usd': formatUsd(run.cap),
    'x-agent-budget-remaining-usd': formatUsd(maxOf(0n, run.cap - run.spent - run.held)),
  };
}
