import type { OutgoingHttpHeaders } from 'node:http';
import type { LaneState } from '../../adapters/lanes/port.ts';
import { formatUsd, maxOf, minOf } from '../../kernel/money.ts';
import type { Admission } from './admission.ts';
import type { Journey } from './attempts.ts';
import type { Call } from './call.ts';
import { rateHeaders } from './rate-limits.ts';

/** Headers that every answer to the call carries, refusals included. */
const identifyingHeaders = ({ requestId, clientRequestId }: Call): OutgoingHttpHeaders => ({
  'x-request-id': clientRequestId ?? requestId,
});

/** A field's value has visible ASCII alone (RFC 9110, 5.5): other characters of a name are percent-encoded as UTF-8, and so is `%` itself. */
const headerText = (name: string): string =>
  name.replace(/(?:[^\x21-\x7e]|%)+/g, (characters) => encodeURIComponent(characters.toWellFormed()));

/** What is known at the first byte of an admitted call's answer. */
export function answerHeaders(
  admission: Admission,
  { target, fallback }: Omit<Journey<unknown>, 'result'>,
  overheadMs: number,
): OutgoingHttpHeaders {
  const { call, hold, isBoundOurs, maxOutputTokens } = admission;
  return {
    ...identifyingHeaders(call),
    'x-receipt-id': call.receiptId,
    'x-model-served': headerText(target.model.id),
    'x-provider': target.deployment.provider,
    'x-overhead-ms': overheadMs.toFixed(3),
    'x-fallback': fallback,
    ...(isBoundOurs ? { 'x-budget-max-tokens': String(maxOutputTokens) } : {}),
    ...rateHeaders(hold.rates),
    ...runHeaders(hold.lanes),
    ...call.run?.headers,
  };
}

/** Of the answer to a call that its run has stopped: no provider's answer is waited for. */
export const stoppedHeaders = ({ call, hold }: Admission): OutgoingHttpHeaders => ({
  ...identifyingHeaders(call),
  'x-receipt-id': call.receiptId,
  ...rateHeaders(hold.rates),
  ...runHeaders(hold.lanes),
  ...call.run?.headers,
});

/**
 * Where the agent run stands; nothing for a call outside runs. Its own lane comes first, then those of the runs above it, which leave it no
 * more than they have left themselves. Without any ceiling there is only the spend.
 */
export function runHeaders(lanes: readonly LaneState[]): Record<string, string> {
  const runs = lanes.filter(({ source }) => source === 'agent_run');
  const [own] = runs;
  if (!own) return {};
  const left = runs.flatMap(({ cap, spent, held }) => (cap === null ? [] : [maxOf(0n, cap - spent - held)]));
  return {
    'x-agent-budget-spent-usd': formatUsd(own.spent),
    ...(own.cap !== null && { 'x-agent-budget-limit-usd': formatUsd(own.cap) }),
    ...(left.length > 0 && { 'x-agent-budget-remaining-usd': formatUsd(left.reduce(minOf)) }),
  };
}
