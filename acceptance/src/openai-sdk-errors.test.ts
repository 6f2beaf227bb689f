import { type FakeUpstream, startFakeUpstream, steps } from '@tallygate/fake-upstream';
import OpenAI from 'openai';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { Account } from './account.ts';
import { HELLO, MODEL } from './chat.ts';
import { Gateway } from './gateway.ts';

let upstream: FakeUpstream;
let gateway: Gateway;
let account: Account;
let liveKey: string;
beforeAll(async () => {
  upstream = await startFakeUpstream();
  gateway = await Gateway.start({ process: 'shared', providers: [{ name: 'fake', base_url: upstream.url, models: [MODEL] }] });
  account = await Account.signUp(gateway);
  ({ key: liveKey } = await account.createKey());
});
afterAll(async () => {
  await gateway?.remove();
  await upstream?.close();
});
beforeEach(() => upstream.reset());

/** A client that counts what it sends, repeats included. */
function client(apiKey: string, maxRetries = 2) {
  const sent = { requests: 0 };
  const openai = new OpenAI({
    baseURL: `${gateway.url}/v1`,
    apiKey,
    maxRetries,
    fetch: (...request) => {
      sent.requests += 1;
      return fetch(...request);
    },
  });
  return { openai, sent };
}

const thrownBy = async (promise: Promise<unknown>): Promise<InstanceType<typeof OpenAI.APIError>> => {
  const thrown = await promise.then(
    () => undefined,
    (error: unknown) => error,
  );
  if (!(thrown instanceof OpenAI.APIError)) throw new Error(`Not an APIError: ${String(thrown)}`);
  return thrown;
};

describe('the OpenAI SDK raises its own typed error', () => {
  test('for a key that never was one', async () => {
    const error = await thrownBy(client('sk-openai-key').openai.chat.completions.create(HELLO));
    expect(error).toBeInstanceOf(OpenAI.AuthenticationError);
    expect(error).toMatchObject({
      status: 401,
      code: 'invalid_api_key',
      type: 'authentication_error',
      requestID: expect.stringMatching(/^req_/),
    });
  });

  test('for a key that was revoked', async () => {
    const { key, key_id } = await account.createKey();
    await client(key).openai.models.list();
    await account.revoke(key_id);
    const error = await thrownBy(client(key).openai.chat.completions.create(HELLO));
    expect(error).toBeInstanceOf(OpenAI.AuthenticationError);
  });

  test('for a key without the scope', async () => {
    const { key } = await account.createKey({ scopes: ['account:read'] });
    const error = await thrownBy(client(key).openai.chat.completions.create(HELLO));
    expect(error).toBeInstanceOf(OpenAI.PermissionDeniedError);
    expect(error).toMatchObject({ code: 'scope_required', type: 'permission_error' });
  });

  test('for a model that is not in the catalogue', async () => {
    const error = await thrownBy(client(liveKey).openai.chat.completions.create({ ...HELLO, model: 'gpt-0' }));
    expect(error).toBeInstanceOf(OpenAI.NotFoundError);
    expect(error).toMatchObject({ code: 'model_not_found', param: 'model', message: expect.stringContaining('gpt-0') });
  });

  test('for a field out of range, which it names', async () => {
    const error = await thrownBy(client(liveKey).openai.chat.completions.create({ ...HELLO, temperature: 3 }));
    expect(error).toBeInstanceOf(OpenAI.BadRequestError);
    expect(error).toMatchObject({ code: 'validation_failed', param: 'temperature' });
  });

  test('for what the provider refuses, in the provider’s words', async () => {
    upstream.script(steps.refused(400, 'Unsupported value: reasoning_effort.', { param: 'reasoning_effort', code: 'unsupported_value' }));
    const error = await thrownBy(client(liveKey).openai.chat.completions.create(HELLO));
    expect(error).toBeInstanceOf(OpenAI.BadRequestError);
    expect(error).toMatchObject({ code: 'unsupported_value', type: 'invalid_request_error', param: 'reasoning_effort' });
    expect(error.message).toContain('Unsupported value: reasoning_effort.');
  });

  test('for a provider that fails every time, after its repeats', async () => {
    upstream.script(() => steps.serverError());
    const { openai, sent } = client(liveKey, 1);
    const error = await thrownBy(openai.chat.completions.create(HELLO));
    expect(error).toBeInstanceOf(OpenAI.InternalServerError);
    expect(error).toMatchObject({ status: 502, code: 'upstream_failed' });
    expect(sent.requests).toBe(2);
  });

  test('for a stream that breaks in the middle', async () => {
    upstream.script(steps.cutStream(5, 'reset'));
    const stream = await client(liveKey).openai.chat.completions.create({ ...HELLO, stream: true });
    let chunks = 0;
    const read = async () => {
      for await (const _ of stream) chunks += 1;
    };
    const error = await thrownBy(read());
    expect(error).toMatchObject({ code: 'upstream_failed', message: expect.stringContaining('broke the stream off') });
    expect(chunks).toBe(5);
  });
});

describe('money', () => {
  test('a cap that is spent is an APIError 402 that is not repeated, and says the numbers', async () => {
    const { key } = await account.createKey({ monthly_cap_usd: '0.000001' });
    const { openai, sent } = client(key);
    const error = await thrownBy(openai.chat.completions.create({ ...HELLO, max_tokens: 100 }));
    expect(error).toMatchObject({ status: 402, code: 'insufficient_quota', type: 'insufficient_quota' });
    expect(error.error).toMatchObject({ message: expect.stringContaining('the monthly cap of this API key') });
    expect(sent.requests).toBe(1);
    expect(upstream.requests).toHaveLength(0);
  });

  test('a provider’s rate limit is waited for, or a RateLimitError', async () => {
    upstream.script(steps.rateLimited({ seconds: 1 }), {});
    const { openai, sent } = client(liveKey);
    const startedAt = performance.now();
    await openai.chat.completions.create(HELLO);
    expect([sent.requests, upstream.requests.length]).toEqual([1, 2]);
    expect(performance.now() - startedAt).toBeGreaterThan(900);

    upstream.script(() => steps.rateLimited());
    expect(await thrownBy(client(liveKey, 0).openai.chat.completions.create(HELLO))).toBeInstanceOf(OpenAI.RateLimitError);
  });

  test('what running requests hold is a RateLimitError that cures itself', async () => {
    const { key } = await account.createKey({ monthly_cap_usd: '0.0001' });
    upstream.script({ delayMs: 700 }, {});
    const arrived = upstream.nextRequest();
    const first = client(key).openai.chat.completions.create({ ...HELLO, max_tokens: 100 });
    await arrived;
    const { openai, sent } = client(key);
    const second = await openai.chat.completions.create({ ...HELLO, max_tokens: 100 });
    expect(second.usage?.completion_tokens).toBe(8);
    expect(sent.requests).toBeGreaterThan(1);
    await first;
  });
});
