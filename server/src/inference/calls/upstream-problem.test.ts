import { expect, test } from 'vitest';
import type { UpstreamFault } from '../../adapters/upstream/port.ts';
import { faulty } from './testing/inference.ts';
import { upstreamProblem } from './upstream-problem.ts';

const headersOf = (kind: UpstreamFault['kind'], isCharged: boolean) => upstreamProblem(faulty(kind), isCharged).extras.headers;

test.each([
  ['failed', true],
  ['rate_limited', true],
  ['timeout', false],
] as const)('a request that is charged and has no answer (%s) is not repeated by client libraries', (kind, isCharged) => {
  expect(headersOf(kind, isCharged)).toEqual({ 'x-should-retry': 'false' });
});

test.each(['failed', 'rate_limited'] as const)('one that is not charged (%s) may be repeated', (kind) => {
  expect(headersOf(kind, false)).toBeUndefined();
});
