import type { OutgoingHttpHeaders } from 'node:http';
import type { Admission } from './admission.ts';
import type { Journey } from './attempt.ts';
import type { Call } from './call.ts';
import { rateHeaders } from './rate-limits.ts';
import { runHeaders } from './run-headers.ts';

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
