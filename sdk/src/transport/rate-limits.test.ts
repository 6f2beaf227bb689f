import { expect, it } from 'vitest';
import { rateLimitsOf } from './rate-limits.ts';

const headers = (reset: string) =>
  new Headers({ 'x-ratelimit-limit-requests': '60', 'x-ratelimit-remaining-requests': '12', 'x-ratelimit-reset-requests': reset });

it.each([
  ['0s', 0],
  ['120ms', 120],
  ['1.5s', 1_500],
  ['6m0s', 360_000],
  ['1h2m3.25s', 3_723_250],
])('reads a reset in %s as %d milliseconds', (text, resetMs) => {
  expect(rateLimitsOf(headers(text))).toEqual({ requests: { limit: 60, remaining: 12, resetMs }, tokens: undefined });
});

it('is undefined where nothing is limited', () => {
  expect(rateLimitsOf(new Headers())).toBeUndefined();
});
