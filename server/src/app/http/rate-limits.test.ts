import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { MovableClock, newKey, send, signUp } from './testing/account-api.ts';
import { CHAT, chat, type InferenceWorld, openInferenceWorld } from './testing/inference-api.ts';

const START = Date.UTC(2026, 10, 21, 12);
const clock = new MovableClock();
let world: InferenceWorld;
let owner: Awaited<ReturnType<typeof signUp>>;

beforeAll(async () => {
  world = await openInferenceWorld(clock);
});
beforeEach(async () => {
  clock.stoppedAtMs = START;
  owner = await signUp(world.account);
});
afterAll(() => world?.close());

const limitsIn = (headers: Headers) =>
  Object.fromEntries(
    [...headers].filter(([name]) => name.startsWith('x-ratelimit-')).map(([name, value]) => [name.slice('x-ratelimit-'.length), value]),
  );
const testKey = (rate_limits: object, more: object = {}) => newKey(world.account, owner.auth, { livemode: false, rate_limits, ...more });
const setPlan = async (plan: string) => {
  await world.database.pool.query('update accounts set plan = $1 where id = $2', [plan, owner.accountId]);
  await world.database.pool.query('select pg_notify($1, $2)', ['tallygate_keys', `account:${owner.accountId}`]);
  world.account.directory.changed(`account:${owner.accountId}`);
};

describe('a key’s requests per minute', () => {
  test('let n through and answer the next one 429, with the seconds after which it goes through', async () => {
    const { auth } = await testKey({ requests_per_minute: 3 });
    for (const remaining of ['2', '1', '0']) {
      const { status, headers } = await chat(world, auth);
      expect([status, headers.get('x-ratelimit-remaining-requests')]).toEqual([200, remaining]);
    }
    clock.stoppedAtMs = START + 500;
    const refused = await chat(world, auth);
    expect([refused.status, refused.code, refused.headers.get('retry-after')]).toEqual([429, 'rate_limited', '20']);
    expect(refused.body.detail).toBe('The limit of 3 requests per minute of this API key is reached: repeat the request in 20 seconds.');
    expect(refused.body.error).toMatchObject({ type: 'rate_limit_error', code: 'rate_limit_exceeded' });
    expect(refused.headers.has('x-should-retry')).toBe(false);
    expect(limitsIn(refused.headers)).toMatchObject({ 'limit-requests': '3', 'remaining-requests': '0', 'reset-requests': '59.5s' });
    clock.stoppedAtMs = START + 20_000;
    expect((await chat(world, auth)).status).toBe(200);
  });

  test('are changed by a PATCH, in force at once', async () => {
    const { auth, keyId } = await testKey({ requests_per_minute: 1 });
    await chat(world, auth);
    expect((await chat(world, auth)).status).toBe(429);
    const patch = (requests_per_minute: number | null) =>
      send(world.account, `/v1/keys/${keyId}`, { method: 'PATCH', headers: owner.auth, json: { rate_limits: { requests_per_minute } } });
    expect((await patch(2)).body.rate_limits.requests_per_minute).toBe(2);
    expect((await chat(world, auth)).status).toBe(200);
    expect((await chat(world, auth)).status).toBe(429);
    await patch(null);
    expect((await chat(world, auth)).status).toBe(200);
  });
});

describe('a refused request', () => {
  const bad = { ...CHAT, messages: [{ role: 'nobody' }] };
  const refusals: [string, object | string, number, string][] = [
    ['that does not fit the contract', bad, 400, 'validation_failed'],
    ['that is no JSON', '{"model":', 400, 'malformed_json'],
    ['that is too large', `{"x":"${'x'.repeat(1_048_576)}"}`, 413, 'payload_too_large'],
    ['that is too complex', `[${'0,'.repeat(330_000)}0]`, 413, 'body_too_complex'],
    ['for a model that there is not', { ...CHAT, model: 'no-such-model' }, 404, 'model_not_found'],
  ];

  test.each(refusals)('%s is one of the requests of its key, and then the key has to wait', async (_, body, status, code) => {
    const { auth } = await testKey({ requests_per_minute: 2 });
    for (const remaining of ['1', '0']) {
      const refused = await chat(world, auth, body);
      expect([refused.status, refused.code, refused.headers.get('x-ratelimit-remaining-requests')]).toEqual([status, code, remaining]);
    }
    for (const next of [body, CHAT]) {
      const limited = await chat(world, auth, next);
      expect([limited.status, limited.code, limited.headers.get('retry-after')]).toEqual([429, 'rate_limited', '30']);
    }
    clock.stoppedAtMs = START + 30_000;
    expect((await chat(world, auth)).status).toBe(200);
  });

  test('takes no tokens, and a 429 takes nothing', async () => {
    const { auth } = await testKey({ requests_per_minute: 3, tokens_per_minute: 10_000 });
    await chat(world, auth, bad);
    for (let count = 0; count < 2; count++) await chat(world, auth);
    for (let count = 0; count < 5; count++) expect((await chat(world, auth)).status).toBe(429);
    clock.stoppedAtMs = START + 20_000;
    const { status, headers } = await chat(world, auth);
    expect([status, headers.get('x-ratelimit-limit-tokens')]).toEqual([200, '10000']);
  });

  test('counts among those of all test keys of the account', async () => {
    const [first, second] = [await testKey({}), await testKey({})];
    const before = Number((await chat(world, first.auth)).headers.get('x-ratelimit-remaining-requests'));
    await chat(world, first.auth, bad);
    expect((await chat(world, second.auth)).headers.get('x-ratelimit-remaining-requests')).toBe(String(before - 2));
  });

  test('is waited for no longer once the limit is wider', async () => {
    const { auth, keyId } = await testKey({ requests_per_minute: 1 });
    await chat(world, auth, bad);
    expect((await chat(world, auth)).status).toBe(429);
    await send(world.account, `/v1/keys/${keyId}`, {
      method: 'PATCH',
      headers: owner.auth,
      json: { rate_limits: { requests_per_minute: 5 } },
    });
    expect((await chat(world, auth)).status).toBe(200);
  });
});

describe('a plan’s limits', () => {
  test('hold for all live keys of the account together, and leave test keys alone', async () => {
    const [first, second, testing] = [await newKey(world.account, owner.auth), await newKey(world.account, owner.auth), await testKey({})];
    const answers = await Promise.all(Array.from({ length: 61 }, (_, index) => chat(world, index % 2 ? first.auth : second.auth)));
    // Ten at a time, and sixty in a minute: every refusal here is one of the plan.
    expect(new Set(answers.filter(({ status }) => status !== 200).map(({ code }) => code))).toEqual(new Set(['rate_limited']));
    for (let count = answers.filter(({ status }) => status === 200).length; count < 60; count++)
      expect((await chat(world, count % 2 ? first.auth : second.auth)).status).toBe(200);
    for (const auth of [first.auth, second.auth, owner.auth]) {
      const { status, body } = await chat(world, auth);
      expect([status, body.detail]).toEqual([429, expect.stringContaining('60 requests per minute of your plan')]);
    }
    expect((await chat(world, testing.auth)).status).toBe(200);
    await setPlan('pro');
    expect((await chat(world, first.auth)).status).toBe(200);
  });

  test('are in the headers where they leave less than the key’s own', async () => {
    await setPlan('pro');
    const { auth } = await newKey(world.account, owner.auth, { rate_limits: { requests_per_minute: 1_000, tokens_per_minute: 50_000 } });
    const { headers } = await chat(world, auth, { ...CHAT, max_tokens: 100 });
    expect(limitsIn(headers)).toMatchObject({ 'limit-requests': '1000', 'limit-tokens': '50000', 'reset-requests': '60ms' });
  });

  test('are the most that a key can be given', async () => {
    const json = { name: 'x', rate_limits: { requests_per_minute: 61 } };
    const { status, body } = await send(world.account, '/v1/keys', { headers: owner.auth, json });
    expect([status, body.errors[0].loc, body.detail]).toEqual([
      422,
      ['body', 'rate_limits', 'requests_per_minute'],
      expect.stringContaining('at most 60'),
    ]);
  });
});

describe('tokens per minute', () => {
  test('are taken by the prompt’s length and the caller’s bound, and what was not used comes back', async () => {
    const { auth } = await testKey({ tokens_per_minute: 2_000 });
    const wish = { ...CHAT, max_tokens: 1_500 };
    const first = await chat(world, auth, wish);
    const promptTokens = Math.ceil(JSON.stringify(wish).length / 4);
    expect(limitsIn(first.headers)).toMatchObject({ 'limit-tokens': '2000', 'remaining-tokens': String(500 - promptTokens) });
    const used: number = first.body.usage.total_tokens;
    expect((await chat(world, auth, wish)).headers.get('x-ratelimit-remaining-tokens')).toBe(String(500 - promptTokens - used));
  });

  test('name a request that is larger than the limit, which no waiting cures', async () => {
    const { auth } = await testKey({ tokens_per_minute: 2_000 });
    const refused = await chat(world, auth, { ...CHAT, max_tokens: 4_000 });
    expect([refused.status, refused.code, refused.headers.get('retry-after'), refused.headers.get('x-should-retry')]).toEqual([
      429,
      'rate_limited',
      null,
      'false',
    ]);
    expect(refused.body.detail).toContain('lower `max_tokens`');
  });
});

describe('concurrency', () => {
  test('lets so many run, and the next one when one of them has ended', async () => {
    const { auth } = await testKey({ concurrency: 1 });
    // The sandbox waits before its first byte, so that the first request is running while the second comes.
    const slow = chat(world, { ...auth, 'x-sandbox-fault': 'slow-first-byte;ms=500' });
    const seen: (readonly [number, string | null])[] = [];
    do {
      const { status, headers } = await chat(world, auth);
      seen.push([status, headers.get('retry-after')]);
    } while (seen.at(-1)?.[0] === 200 && seen.length < 50);
    expect(seen.at(-1)).toEqual([429, '1']);
    expect((await slow).status).toBe(200);
    expect((await chat(world, auth)).status).toBe(200);
  });
});

describe('the headers of the limits', () => {
  const NAMES = ['limit-requests', 'limit-tokens', 'remaining-requests', 'remaining-tokens', 'reset-requests', 'reset-tokens'];

  test.each([
    ['a plain answer', 200, {}, {}],
    ['a stream', 200, { stream: true }, {}],
    ['a failure of the provider', 502, {}, { 'x-sandbox-fault': '500' }],
    ['a refusal over money', 402, { model: 'claude-opus-4-8', max_tokens: 10_000 }, {}],
  ])('are on %s', async (_what, status, body, headers) => {
    const { auth } = await testKey({ requests_per_minute: 10, tokens_per_minute: 100_000 }, { monthly_cap_usd: '0.01' });
    const answer = await chat(world, { ...auth, ...headers }, { ...CHAT, ...body });
    expect([answer.status, Object.keys(limitsIn(answer.headers)).sort()], answer.text).toEqual([status, NAMES]);
  });

  test('of a refusal over money show that a request was taken, and no tokens', async () => {
    const { auth } = await testKey({ requests_per_minute: 10, tokens_per_minute: 1_000 }, { monthly_cap_usd: '0' });
    for (const remaining of ['9', '8', '7']) {
      const { status, headers } = await chat(world, auth);
      expect([status, limitsIn(headers)]).toEqual([
        402,
        expect.objectContaining({ 'remaining-requests': remaining, 'remaining-tokens': '1000' }),
      ]);
    }
  });

  test.each<[string, number, string, object | string, Record<string, string>]>([
    ['a model that is none', 404, 'model_not_found', { ...CHAT, model: 'gpt-0' }, {}],
    ['input that does not fit', 400, 'validation_failed', { model: 'gpt-4o-mini' }, {}],
    ['a header that does not fit', 400, 'validation_failed', CHAT, { 'x-budget-policy': 'x' }],
    ['a body that is no JSON', 400, 'malformed_json', '{', {}],
    ['a body of another type', 415, 'unsupported_media_type', CHAT, { 'content-type': 'text/plain' }],
  ])('are on the refusal of %s, which is one of the requests', async (_what, status, code, body, headers) => {
    const { auth } = await testKey({ requests_per_minute: 10, tokens_per_minute: 100_000 });
    await chat(world, auth);
    clock.stoppedAtMs = START + 1_000;
    for (const [remaining, reset] of [
      ['8', '11s'],
      ['7', '17s'],
      ['6', '23s'],
    ]) {
      const refused = await chat(world, { ...auth, ...headers }, body);
      expect([refused.status, refused.code]).toEqual([status, code]);
      expect(Object.keys(limitsIn(refused.headers)).sort()).toEqual(NAMES);
      expect(limitsIn(refused.headers)).toMatchObject({ 'limit-requests': '10', 'remaining-requests': remaining, 'reset-requests': reset });
    }
  });

  test('are on a refusal under an Idempotency-Key, whose repeats take nothing', async () => {
    const { auth } = await testKey({ requests_per_minute: 10 });
    for (let time = 0; time < 3; time++) {
      const refused = await chat(world, { ...auth, 'idempotency-key': 'the-same' }, { ...CHAT, model: 'gpt-0' });
      expect([refused.code, limitsIn(refused.headers)['remaining-requests']]).toEqual(['model_not_found', '9']);
    }
    expect((await chat(world, auth)).headers.get('x-ratelimit-remaining-requests')).toBe('8');
  });

  test.each([
    ['a model that the key may not use', { allowed_models: ['claude-opus-4-8'] }, 'model_not_allowed'],
    ['an endpoint that the key may not use', { allowed_endpoints: ['/v1/embeddings'] }, 'endpoint_not_allowed'],
    ['a key without the scope', { scopes: ['account:read'] }, 'scope_required'],
  ])('are on the refusal of %s', async (_what, narrowed, code) => {
    const { auth } = await testKey({ requests_per_minute: 10 }, narrowed);
    const refused = await chat(world, auth);
    expect([refused.status, refused.code, limitsIn(refused.headers)['remaining-requests']]).toEqual([403, code, '9']);
  });

  test('are not there for a caller who is not known', async () => {
    const { auth, keyId } = await testKey({ requests_per_minute: 10 });
    await send(world.account, `/v1/keys/${keyId}`, { method: 'DELETE', headers: owner.auth });
    for (const headers of [auth, {}]) {
      const refused = await chat(world, headers);
      expect([refused.status, limitsIn(refused.headers)]).toEqual([401, {}]);
    }
  });
});
