import { expect, test } from 'vitest';
import { Problem } from '../../kernel/problem.ts';
import { createRequireMetricsReader } from './metrics-reader.ts';

const require = createRequireMetricsReader('metrics-token-0001');

/** The code of the refusal; `open` where the metrics are given. */
function outcome(headers: Record<string, string>): string {
  try {
    require({ headers });
    return 'open';
  } catch (error) {
    return error instanceof Problem ? error.code : String(error);
  }
}

test('metrics are given to a client that sends exactly the token', () => {
  expect(outcome({ authorization: 'Bearer metrics-token-0001' })).toBe('open');
  for (const wrong of ['Bearer metrics-token-000', 'Bearer metrics-token-00012', 'metrics-token-0001', 'Bearer '])
    expect(outcome({ authorization: wrong })).toBe('invalid_credentials');
});

test('metrics are refused without the token, to a program on this machine too', () => {
  expect(outcome({ host: 'localhost' })).toBe('missing_credentials');
});
