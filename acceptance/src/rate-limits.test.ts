import OpenAI, { RateLimitError } from 'openai';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Account } from './account.ts';
import { HELLO } from './chat.ts';
import { Gateway } from './gateway.ts';

let gateway: Gateway;
let account: Account;
beforeAll(async () => {
  gateway = await Gateway.start({ process: 'shared' });
  account = await Account.signUp(gateway);
});
afterAll(() => gateway?.remove());

async function clientWith(rate_limits: { requests_per_minute?: number; concurrency?: number }, maxRetries: number): Promise<OpenAI> {
  const { key } = await account.createKey({ livemode: false, rate_limits });
  return new OpenAI({ baseURL: `${gateway.url}/v1`, apiKey: key, maxRetries });
}

test('the OpenAI SDK raises its own RateLimitError, and the seconds to wait are in it', async () => {
  const openai = await clientWith({ requests_per_minute: 1 }, 0);
  const { response } = await openai.chat.completions.create(HELLO).withResponse();
  expect(response.headers.get('x-ratelimit-remaining-requests')).toBe('0');
  const error = await openai.chat.completions.create(HELLO).catch((thrown: unknown) => thrown);
  if (!(error instanceof RateLimitError)) throw error;
  expect([error.code, error.type]).toEqual(['rate_limit_exceeded', 'rate_limit_error']);
  const seconds = Number(error.headers.get('retry-after'));
  expect(seconds).toBeGreaterThan(20);
  expect(seconds).toBeLessThanOrEqual(60);
});

test('the OpenAI SDK repeats the request by itself after Retry-After, and gets its answer', async () => {
  const openai = await clientWith({ concurrency: 1 }, 100);
  const stream = await openai.chat.completions.create({ ...HELLO, stream: true }, { headers: { 'x-sandbox-fault': 'slow;ms=200' } });
  const startedAt = performance.now();
  const second = openai.chat.completions.create(HELLO);
  for await (const _chunk of stream);
  expect((await second).choices[0]?.message.content).toContain('Say hello.');
  expect(performance.now() - startedAt).toBeGreaterThanOrEqual(1_000);
});
