import { describe, expect, it, test } from 'vitest';
import { googleWords } from './error-words.ts';

const words = (error: object) => googleWords(JSON.stringify({ error }));
const RETRY = '@type';

describe('a refusal of Google', () => {
  it('has its message, and its status as the code', () => {
    const error = {
      code: 400,
      message: 'Invalid value at contents.',
      status: 'INVALID_ARGUMENT',
      details: [{ fieldViolations: [{ field: 'contents' }] }],
    };
    expect(words(error)).toEqual({ message: 'Invalid value at contents.', param: null, code: 'INVALID_ARGUMENT' });
    expect(googleWords(JSON.stringify([{ error }]))).toEqual(words(error));
  });

  test.each([
    ['34s', 34_000],
    ['34.074824224s', 34_075],
    ['0s', 0],
    ['soon', undefined],
    ['-1s', undefined],
  ])('that asks for patience of %s is heard', (retryDelay, expected) => {
    const details = [
      { [RETRY]: 'type.googleapis.com/google.rpc.QuotaFailure' },
      { [RETRY]: 'type.googleapis.com/google.rpc.RetryInfo', retryDelay },
    ];
    expect(words({ message: 'x', status: 'RESOURCE_EXHAUSTED', details }).retryAfterMs).toBe(expected);
  });

  it('of our key is not blamed on the request, though its status is 400', () => {
    const details = [{ [RETRY]: 'type.googleapis.com/google.rpc.ErrorInfo', reason: 'API_KEY_INVALID' }];
    expect(words({ message: 'x', status: 'INVALID_ARGUMENT', details })).toMatchObject({ code: 'API_KEY_INVALID', blames: 'gateway' });
    expect(words({ message: 'x', status: 'FAILED_PRECONDITION' })).toMatchObject({ blames: 'gateway' });
  });

  it('that is no JSON is its own message', () => {
    expect(googleWords('<html>')).toEqual({ message: '<html>', param: null, code: null });
  });
});
