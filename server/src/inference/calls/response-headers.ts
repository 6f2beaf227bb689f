import type { OutgoingHttpHeaders } from 'node:http';
import type { Admission } from './admission.ts';
import { agentRunHeaders } from './agent-run-headers.ts';
import type { Call } from './call.ts';
import type { KeptCall } from './call-context.ts';
import type { ServedBy } from './deployments.ts';
import type { InferenceDeps } from './deps.ts';
import { rateHeaders } from './rate-limits.ts';
import type { Served } from './served.ts';

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
  { target, fallback }: Pick<Served, 'target' | 'fallback'>,
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
    ...(call.headers.cache && { 'x-cache': call.cache ? 'MISS' : 'BYPASS' }),
    ...(isBoundOurs ? { 'x-budget-max-tokens': String(maxOutputTokens) } : {}),
    ...rateHeaders(hold.rates),
    ...agentRunHeaders(hold.lanes),
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
    ...agentRunHeaders(hold.lanes),
    ...call.run?.headers,
  };
}

/** The promise of an answer that is fetched later: a line of a batch, a response in the background. Its head is what names the receipt. */
export const keptPromise = ({ call, hold }: Admission, model: string, { promises }: Pick<InferenceDeps, 'promises'>): string | undefined =>
  promises?.of({
    ...{ receiptId: call.receiptId, requestSha256: call.work.requestSha256(), model, worstCost: hold.amount },
    head: { 'x-receipt-id': call.receiptId },
    // A crash may come between the storing of the answer and its settlement.
    isSettled: false,
  });

export const keptCall = (admission: Admission, { model }: ServedBy, deps: Pick<InferenceDeps, 'promises'>): KeptCall => ({
  ...admission.call,
  promise: () => keptPromise(admission, model.id, deps),
});

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
          worstCost: hold.amount,
          isSettled,
        }),
      }
    : {};
