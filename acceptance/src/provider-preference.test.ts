import { type FakeUpstream, startFakeUpstream, steps } from '@tallygate/fake-upstream';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { Account } from './account.ts';
import { Gateway } from './gateway.ts';

const MODELS = ['gpt-4o-mini', 'gpt-4.1', 'gpt-3.5-turbo-instruct', 'text-embedding-3-small', 'jina-reranker-v2-base-multilingual'];
const messages = [{ role: 'user', content: 'Say hello.' }];
const CHAT = { model: 'gpt-4o-mini', messages, max_tokens: 20 };
const ENDPOINTS: readonly (readonly [path: string, body: object])[] = [
  ['/v1/chat/completions', CHAT],
  ['/v1/completions', { model: 'gpt-3.5-turbo-instruct', prompt: 'Say hello.', max_tokens: 20 }],
  ['/v1/responses', { model: 'gpt-4o-mini', input: 'Say hello.', max_output_tokens: 20, store: false }],
  ['/v1/messages', CHAT],
  ['/v1/embeddings', { model: 'text-embedding-3-small', input: 'Say hello.' }],
  ['/v1/rerank', { model: 'jina-reranker-v2-base-multilingual', query: 'Which?', documents: ['Hello.'] }],
];

let upstreams: Readonly<Record<string, FakeUpstream>>;
let anthropic: FakeUpstream;
let gateway: Gateway;
let account: Account;
let key: string;
beforeAll(async () => {
  upstreams = { one: await startFakeUpstream(), other: await startFakeUpstream() };
  anthropic = await startFakeUpstream();
  gateway = await Gateway.start({
    process: 'shared',
    providers: Object.entries(upstreams).map(([name, { url }]) => ({ name, base_url: url, models: MODELS, responses: true })),
    env: { ANTHROPIC_API_KEY: 'sk-ant-0123456789', ANTHROPIC_BASE_URL: anthropic.url },
  });
  account = await Account.signUp(gateway, { plan: 'enterprise' });
  key = (await account.createKey()).key;
});
beforeEach(() => {
  for (const one of [...Object.values(upstreams), anthropic]) one.reset();
});
afterAll(async () => {
  await gateway?.remove();
  for (const one of [...Object.values(upstreams ?? {}), anthropic]) await one?.close();
});

async function ask(path: string, body: object, provider?: object) {
  const answer = await fetch(`${gateway.url}${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ ...body, ...(provider && { provider }) }),
  });
  const { status, headers } = answer;
  return {
    status,
    by: headers.get('x-provider'),
    model: headers.get('x-model-served'),
    id: headers.get('x-request-id') ?? '',
    text: await answer.text(),
  };
}
const askedOf = (name: string) => upstreams[name]?.requests ?? [];

describe.each(ENDPOINTS)('%s', (path, body) => {
  test('is served by the provider that the request names, which is not told of it', async () => {
    for (const [name, another] of [
      ['one', 'other'],
      ['other', 'one'],
    ] as const) {
      for (const provider of [
        { only: [name] },
        { order: [name] },
        { ignore: [another] },
        { order: [name.toUpperCase()], allow_fallbacks: false },
      ])
        expect(await ask(path, body, provider)).toMatchObject({ status: 200, by: name });
      expect(askedOf(name)).toHaveLength(4);
      expect(askedOf(another)).toHaveLength(0);
      for (const request of askedOf(name)) expect(request.body).not.toHaveProperty('provider');
      upstreams[name]?.reset();
    }
  });

  test('refuses a preference that the gateway does not know, and one that leaves no provider', async () => {
    const unknown = await ask(path, body, { quantizations: ['fp8'] });
    expect(unknown).toMatchObject({ status: 400, text: expect.stringContaining('quantizations') });
    const nobody = await ask(path, body, { only: ['nobody'] });
    expect(nobody).toMatchObject({ status: 400, text: expect.stringContaining('It is served here by: one, other.') });
    expect([...askedOf('one'), ...askedOf('other')]).toEqual([]);
  });
});

test('Anthropic is not told of a preference that came in its own form', async () => {
  const { status, by } = await ask('/v1/messages', { ...CHAT, model: 'claude-sonnet-4-6' }, { only: ['anthropic'] });
  expect([status, by]).toEqual([200, 'anthropic']);
  expect(anthropic.requests[0]?.body).not.toHaveProperty('provider');
});

test('a provider that fails is followed by the next in order, and by none where fallbacks are not allowed', async () => {
  upstreams['one']?.script(steps.serverError());
  expect(await ask('/v1/chat/completions', CHAT, { order: ['one', 'other'] })).toMatchObject({ status: 200, by: 'other' });
  upstreams['one']?.script(steps.serverError());
  const alone = await ask('/v1/chat/completions', CHAT, { order: ['one'], allow_fallbacks: false });
  expect(alone.status).toBeGreaterThanOrEqual(500);
  expect(askedOf('other')).toHaveLength(1);
});

test('the cheapest of the models is tried first, and the hold is no larger than without', async () => {
  const body = { ...CHAT, model: 'gpt-4.1', models: ['gpt-4o-mini'] };
  const plain = await ask('/v1/chat/completions', body);
  const cheapest = await ask('/v1/chat/completions', body, { sort: 'price' });
  expect([plain.model, cheapest.model]).toEqual(['gpt-4.1', 'gpt-4o-mini']);
  const held = async (id: string) => Number((await account.trace(id)).held_usd);
  expect(await held(cheapest.id)).toBe(await held(plain.id));
  const limited = await ask('/v1/chat/completions', body, { max_price: { prompt: 0.15, completion: 0.6 } });
  expect(limited.model).toBe('gpt-4o-mini');
  expect(await held(limited.id)).toBeLessThan(await held(plain.id));
  expect((await account.trace(limited.id)).skipped).toEqual([{ model: 'gpt-4.1', deployment: null, provider: null, reason: 'too_dear' }]);
});

test('a response in the background is served by the provider that its request names', async () => {
  const body = { model: 'gpt-4o-mini', input: 'Say hello.', max_output_tokens: 20, background: true };
  const { id, text } = await ask('/v1/responses', body, { only: ['other'] });
  const created = JSON.parse(text);
  const statusOf = async () =>
    (await (await fetch(`${gateway.url}/v1/responses/${created.id}`, { headers: { authorization: `Bearer ${key}` } })).json()).status;
  await expect.poll(statusOf, { timeout: 20_000, interval: 50 }).toBe('completed');
  expect(await account.trace(id)).toMatchObject({ provider: 'other' });
  expect(askedOf('one')).toEqual([]);
});

test('a model that is dearer than the request wants is refused with what says so', async () => {
  const refused = await ask('/v1/chat/completions', CHAT, { max_price: { prompt: 0.1 } });
  expect(refused.status).toBe(400);
  expect(JSON.parse(refused.text)).toMatchObject({ code: 'validation_failed', error: { param: 'provider.max_price' } });
});

test('with a test key the sandbox answers, whatever the request prefers', async () => {
  const answer = await fetch(`${gateway.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${gateway.bootstrap.test_api_key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ ...CHAT, provider: { only: ['openai'], sort: 'throughput' } }),
  });
  expect([answer.status, answer.headers.get('x-provider')]).toEqual([200, 'sandbox']);
});
