import type { OutgoingHttpHeaders } from 'node:http';
import type { Admission } from './admission.ts';
import type { Journey } from './attempt.ts';
import type { Call } from './call.ts';
import type { InferenceDeps } from './deps.ts';
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
  deps: Promising,
): OutgoingHttpHeaders {
  const { call, hold, isBoundOurs, maxOutputTokens } = admission;
  const head = {
    ...identifyingHeaders(call),
    'x-receipt-id': call.receiptId,
    'x-model-served': headerText(target.model.id),
    'x-provider': target.deployment.provider,
    'x-fallback': fallback,
  };
  return {
    ...head,
    ...promiseHeader(admission, { head, model: target.model.id }, deps),
    'x-overhead-ms': overheadMs.toFixed(3),
    ...(isBoundOurs ? { 'x-budget-max-tokens': String(maxOutputTokens) } : {}),
    ...rateHeaders(hold.rates),
    ...runHeaders(hold.lanes),
    ...call.run?.headers,
  };
}

/** Of the answer to a call that its run has stopped: no provider's answer is waited for. */
export function stoppedHeaders(admission: Admission, deps: Promising): OutgoingHttpHeaders {
  const { call, hold, targets } = admission;
  const head = { ...identifyingHeaders(call), 'x-receipt-id': call.receiptId };
  return {
    ...head,
    ...promiseHeader(admission, { head, model: targets[0]?.model.id ?? call.work.model }, deps),
    ...rateHeaders(hold.rates),
    ...runHeaders(hold.lanes),
    ...call.run?.headers,
  };
}

interface Promising extends Pick<InferenceDeps, 'promises'> {
  /** Whether the settlement is in the journal. */
  readonly isSettled?: boolean;
}

interface Answering {
  readonly head: OutgoingHttpHeaders;
  readonly model: string;
}

/** What of the receipt is promised with the head of its answer: that there will be one, and the most that it can cost. */
const promiseHeader = (
  { call, hold }: Admission,
  { head, model }: Answering,
  { promises, isSettled = false }: Promising,
): OutgoingHttpHeaders =>
  promises
    ? {
        'x-receipt-promise': promises.of({
          ...{ receiptId: call.receiptId, requestSha256: call.work.requestSha256(), model, head },
          maxCost: hold.amount,
          isSettled,
        }),
      }
    : {};
