import { describe, expect, it } from 'vitest';
import { AbortError, ConnectionError, errorFromProblem, TimeoutError } from '../errors.ts';
import { retryDelayMs } from './retry.ts';

const NOW = Date.parse('2026-11-21T08:00:00Z');
const error = (code: string, status: number, headers: Record<string, string> = {}) =>
  errorFromProblem('No.', { code, status, headers: new Headers(headers) });
const delay = (failure: Parameters<typeof retryDelayMs>[0], attempt = 0, random = 0) => retryDelayMs(failure, attempt, () => random, NOW);

describe('whether', () => {
  it.each([
    ['rate_limited', 429],
    ['budget_in_flight', 429],
    ['idempotency_in_progress', 409],
    ['request_timeout', 408],
    ['internal_error', 500],
    ['upstream_timeout', 504],
    ['a_code_of_tomorrow', 503],
  ])('repeats %s (%i)', (code, status) => expect(delay(error(code, status))).toBeGreaterThan(0));

  it.each([
    ['budget_exceeded', 402],
    ['idempotency_conflict', 409],
    ['conflict', 409],
    ['no_provider_configured', 503],
    ['validation_failed', 422],
    ['a_code_of_tomorrow', 400],
  ])('does not repeat %s (%i)', (code, status) => expect(delay(error(code, status))).toBeUndefined());

  it('repeats what never reached the service or timed out, and never what the caller aborted', () => {
    expect(delay(new ConnectionError('reset'))).toBe(500);
    expect(delay(new TimeoutError(5))).toBe(500);
    expect(delay(new AbortError('bye'))).toBeUndefined();
  });

  it('lets the service’s x-should-retry win over code and status', () => {
    expect(delay(error('conflict', 409, { 'x-should-retry': 'true' }))).toBe(500);
    expect(delay(error('internal_error', 500, { 'x-should-retry': 'false' }))).toBeUndefined();
  });
});

describe('when', () => {
  it('doubles from half a second up to eight seconds, less up to a quarter', () => {
    const failure = error('internal_error', 500);
    expect([0, 1, 2, 3, 4, 9].map((attempt) => delay(failure, attempt))).toEqual([500, 1000, 2000, 4000, 8000, 8000]);
    expect(delay(failure, 0, 1)).toBe(375);
  });

  it('waits as long as the service asks: milliseconds first, then seconds, then a date', () => {
    expect(delay(error('rate_limited', 429, { 'retry-after-ms': '12.5', 'retry-after': '3' }))).toBe(12.5);
    expect(delay(error('rate_limited', 429, { 'retry-after': '3' }))).toBe(3000);
    expect(delay(error('rate_limited', 429, { 'retry-after': 'Sat, 21 Nov 2026 08:00:10 GMT' }))).toBe(10_000);
    expect(delay(error('rate_limited', 429, { 'retry-after': 'soon' }))).toBe(500);
  });

  it('gives the error to the caller when the service asks for more than a minute', () => {
    expect(delay(error('rate_limited', 429, { 'retry-after': '61' }))).toBeUndefined();
  });
});
