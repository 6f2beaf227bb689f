import { reasonOf, type UpstreamFault } from '../../adapters/upstream/port.ts';
import { Problem } from '../../kernel/problem.ts';

/** The request is charged: a client library that repeated it by itself would pay twice. */
const PAID = { headers: { 'x-should-retry': 'false' } } as const;

/** A provider that is late may bill all the same. */
export const lateProblem = (fault: UpstreamFault): Problem =>
  new Problem(
    'upstream_timeout',
    'No provider of this model answered in time. What a provider bills for it all the same is charged: the receipt will tell. Repeat the request.',
    { because: reasonOf(fault), ...PAID },
  );

/** What a provider bills for an answer that nobody could be given. */
export const tooLargeProblem = (): Problem =>
  new Problem(
    'answer_too_large',
    'The provider’s answer, or an event of it, is too large or too complex to be read, so it was not kept. What the provider bills for it is charged: the receipt has the amount. Ask for less in one request: lower `n`, the log probabilities or the size, or send fewer inputs.',
  );

/** What a provider bills for a stream that could not be read to its end. */
export const unreadableProblem = (): Problem =>
  new Problem(
    'upstream_failed',
    'The provider sent something that is no event of a stream. What the provider bills for the answer is charged: the receipt has the amount. Repeat the request.',
  );

/**
 * What the caller is told when no provider answered. Only a rejection shows the provider's own words.
 * @param isCharged the provider bills for it all the same
 */
export function upstreamProblem(fault: UpstreamFault, isCharged = false): Problem {
  const because = { because: reasonOf(fault) };
  const retryAfterSeconds = fault.retryAfterMs === null ? undefined : Math.max(1, Math.ceil(fault.retryAfterMs / 1000));
  switch (fault.kind) {
    case 'rejected':
      return rejected(fault);
    case 'rate_limited':
      if (isCharged) return new Problem('upstream_failed', CHARGED, { ...because, ...PAID });
      return new Problem(
        'upstream_rate_limited',
        'Every provider of this model is at its rate limit: repeat later, or name fallbacks in `models`.',
        {
          ...because,
          retryAfterSeconds: retryAfterSeconds ?? 1,
        },
      );
    case 'timeout':
      return lateProblem(fault);
    case 'cancelled':
    case 'failed':
      // A gateway that is our provider tells what only its operator, or ours, can mend.
      if (fault.code === 'provider_loop') return new Problem('provider_loop', fault.message, because);
      if (isCharged) return new Problem('upstream_failed', CHARGED, { ...because, ...PAID });
      return new Problem('upstream_failed', NOT_CHARGED, { ...because, ...(retryAfterSeconds === undefined ? {} : { retryAfterSeconds }) });
    default:
      return fault.kind satisfies never;
  }
}

/** A client looks for the provider's own code (`context_length_exceeded`, `content_filter`), so that is what it is shown. */
const rejected = (fault: UpstreamFault): Problem =>
  new Problem('upstream_rejected', fault.message, {
    because: reasonOf(fault),
    ...(fault.param !== null && { param: fault.param }),
    upstream: { status: clientStatus(fault.status), code: fault.code, type: fault.type ?? null },
  });

/** Some translations know by the words that the request is at fault, whatever the status is. */
const clientStatus = (status: number | null): number => (status !== null && REQUEST_AT_FAULT.has(status) ? status : 400);
const REQUEST_AT_FAULT: ReadonlySet<number> = new Set([400, 413, 415, 422]);

const NOT_CHARGED = 'No provider of this model gave a valid answer; nothing was charged. Repeat the request.';
const CHARGED =
  'The provider failed after it had begun its answer, or says what it has used. That is charged: the receipt has the amount. Repeat the request.';
