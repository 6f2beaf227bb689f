import { expect, test } from 'vitest';
import type { UpstreamFault } from '../adapters/upstream/port.ts';
import { upstreamProblem } from './upstream-problem.ts';

const fault = (fields: Partial<UpstreamFault>): UpstreamFault => ({
  ok: false,
  kind: 'failed',
  retryable: true,
  status: 500,
  retryAfterMs: null,
  message: 'the provider’s own words',
  isQuoted: true,
  param: null,
  code: null,
  ...fields,
});

test.each([
  ['rejected', null, 'upstream_rejected', 400, undefined],
  ['rate_limited', null, 'upstream_rate_limited', 429, 1],
  ['rate_limited', 0, 'upstream_rate_limited', 429, 1],
  ['rate_limited', 2_001, 'upstream_rate_limited', 429, 3],
  ['timeout', 5_000, 'upstream_timeout', 504, undefined],
  ['cancelled', null, 'upstream_failed', 502, undefined],
  ['failed', null, 'upstream_failed', 502, undefined],
  ['failed', 10, 'upstream_failed', 502, 1],
] as const)('a fault of kind %s with a Retry-After of %s ms becomes %s', (kind, retryAfterMs, code, status, seconds) => {
  const problem = upstreamProblem(fault({ kind, retryAfterMs }));
  expect(problem).toMatchObject({ code, status });
  expect(problem.extras.retryAfterSeconds).toBe(seconds);
});

test('a provider that is a gateway and sees a loop is quoted, since only an operator can mend it', () => {
  const problem = upstreamProblem(fault({ status: 508, code: 'provider_loop' }));
  expect(problem).toMatchObject({ code: 'provider_loop', status: 508, message: 'the provider’s own words' });
});

test('the provider’s own words reach the caller for a rejection alone, and with the field they name', () => {
  const rejected = upstreamProblem(fault({ kind: 'rejected', param: 'messages' }));
  expect(rejected.message).toBe('the provider’s own words');
  expect(rejected.extras.param).toBe('messages');
  for (const kind of ['rate_limited', 'timeout', 'cancelled', 'failed'] as const) {
    const problem = upstreamProblem(fault({ kind }));
    expect(problem.message).not.toContain('own words');
  }
});

test('the reason that is logged says nothing that the provider may have read in the prompt', () => {
  for (const kind of ['rejected', 'rate_limited', 'timeout', 'cancelled', 'failed'] as const)
    expect(upstreamProblem(fault({ kind })).extras.because).toBe('The provider answered with status 500.');
  const reasons = [fault({ code: 'insufficient_quota' }), fault({ code: 'words of the prompt' }), fault({ status: 200 })].map(
    (one) => upstreamProblem(one).extras.because,
  );
  expect(reasons).toEqual([
    'The provider answered with status 500 (insufficient_quota).',
    'The provider answered with status 500.',
    "The provider's answer says that it failed.",
  ]);
});
