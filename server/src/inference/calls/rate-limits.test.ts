import { expect, test } from 'vitest';
import type { RateLane } from '../../adapters/lanes/port.ts';
import type { Caller } from './call-context.ts';
import { RefusedRequests } from './rate-limits.ts';

const RATES = { requestsPerMinute: 5, tokensPerMinute: 5, concurrency: 5 };

/** With nothing left in any lane. */
const lanes = {
  rates: async () => ({ requests: null, tokens: null }),
  countRefused: async (_accountId: string, [lane]: readonly RateLane[]) => ({
    requests: { limit: lane?.requestsPerMinute ?? 0, remaining: 0, resetMs: 60_000 },
    tokens: null,
  }),
};

test.each([
  [true, 'your plan'],
  [false, 'the test keys of your account'],
])('a refusal by the rate limits of live keys (%s) or test keys says whose they are', async (livemode, owner) => {
  const refused = new RefusedRequests({ lanes: lanes as never, plans: { of: () => ({ rates: RATES }) } as never, testRates: RATES });
  const principal = { kind: 'key', accountId: 'a', keyId: 'k', livemode };
  const grant = { principal, plan: 'free' } as unknown as Caller;
  await refused.count(grant);
  expect(() => refused.requireRoom(grant)).toThrow(`The limit of 5 requests per minute of ${owner} is reached`);
});
