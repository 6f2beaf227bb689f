import type { UpstreamFault } from '../adapters/upstream/port.ts';
import { Problem } from '../kernel/problem.ts';

/** What the caller is told when no provider answered. Only a rejection shows the provider's own words: the rest is between us and them. */
export function upstreamProblem(fault: UpstreamFault): Problem {
  const because = { because: fault.message };
  const retryAfterSeconds = fault.retryAfterMs === null ? undefined : Math.max(1, Math.ceil(fault.retryAfterMs / 1000));
  switch (fault.kind) {
    case 'rejected':
      return new Problem('upstream_rejected', fault.message, { ...because, ...(fault.param === null ? {} : { param: fault.param }) });
    case 'rate_limited':
      return new Problem(
        'upstream_rate_limited',
        'Every provider of this model is at its rate limit: repeat later, or name fallbacks in `models`.',
        {
          ...because,
          retryAfterSeconds: retryAfterSeconds ?? 1,
        },
      );
    case 'timeout':
      return new Problem(
        'upstream_timeout',
        'No provider of this model answered in time; nothing was charged. Repeat the request.',
        because,
      );
    case 'cancelled':
    case 'failed':
      return new Problem('upstream_failed', 'No provider of this model gave a valid answer; nothing was charged. Repeat the request.', {
        ...because,
        ...(retryAfterSeconds === undefined ? {} : { retryAfterSeconds }),
      });
    default:
      return fault.kind satisfies never;
  }
}
