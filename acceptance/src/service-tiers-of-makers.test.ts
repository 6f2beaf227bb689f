import { type FakeUpstream, googleSteps, startFakeUpstream } from '@tallygate/fake-upstream';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { Account } from './account.ts';
import { allDialects } from './dialects.ts';
import { Gateway } from './gateway.ts';

const GEMINI = 'gemini-3.5-flash';
/** 10 tokens in and 8 out, nano-USD. */
const COST = { standard: 10 * 1_500 + 8 * 9_000, flex: 10 * 750 + 8 * 4_500, priority: 10 * 2_700 + 8 * 16_200 } as const;
type Tier = keyof typeof COST;

let fake: FakeUpstream;
let gateway: Gateway;
let account: Account;
let key: string;
beforeAll(async () => {
  fake = await startFakeUpstream();
  gateway = await Gateway.start(allDialects(fake));
  account = await Account.signUp(gateway, { plan: 'enterprise' });
  ({ key } = await account.createKey());
});
beforeEach(() => fake.reset());
afterAll(async () => {
  await gateway?.remove();
  await fake?.close();
});

async function post(path: string, body: object, headers: Readonly<Record<string, string>> = {}) {
  const answer = await fetch(`${gateway.url}${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  });
  const text = await answer.text();
  const events = [...text.matchAll(/^data: (?!\[DONE\])(.*)$/gm)].map(([, data = '']) => JSON.parse(data));
  return { answer, last: events.at(-1) ?? JSON.parse(text) };
}

const HELLO = { role: 'user', content: 'Say hello.' };
const GENERATE = `/v1beta/models/${GEMINI}:generateContent`;
const CHAT = '/v1/chat/completions';
const SURFACES = [
  { name: 'generateContent', path: GENERATE, field: 'serviceTier', isStreamed: false },
  { name: 'a stream', path: `${GENERATE.replace(':generate', ':streamGenerate')}?alt=sse`, field: 'serviceTier', isStreamed: true },
  { name: 'a chat', path: CHAT, field: 'service_tier', isStreamed: false },
  { name: 'a streamed chat', path: CHAT, field: 'service_tier', isStreamed: true },
] as const;

describe.each(SURFACES)('Gemini’s service tiers, asked for in $name', ({ path, field, isStreamed }) => {
  const body = path.startsWith('/v1beta')
    ? { contents: [{ role: 'user', parts: [{ text: 'Say hello.' }] }] }
    : { model: GEMINI, messages: [HELLO], ...(isStreamed && { stream: true, stream_options: { include_usage: true } }) };

  test.each<[Tier | undefined, Tier | undefined, Tier]>([
    ['priority', undefined, 'priority'],
    ['flex', undefined, 'flex'],
    [undefined, undefined, 'standard'],
    ['priority', 'standard', 'standard'],
  ])('%s, served at %s, is charged at %s', async (asked, served, charged) => {
    if (served) fake.script(googleSteps.saying({ serviceTier: served }));
    const { answer, last } = await post(path, { ...body, ...(asked && { [field]: asked }) });
    expect([answer.status, (last.usageMetadata ?? last.usage).cost]).toEqual([200, COST[charged] / 1e9]);
    expect(Object(fake.requests[0]?.body).serviceTier).toBe(asked);
  });
});

test('Google’s longer spelling of a tier is the same, and a tier that nobody knows is refused', async () => {
  const contents = [{ role: 'user', parts: [{ text: 'Say hello.' }] }];
  const { last } = await post(GENERATE, { contents, serviceTier: 'SERVICE_TIER_PRIORITY' });
  expect(last.usageMetadata.cost).toBe(COST.priority / 1e9);
  expect((await post(GENERATE, { contents, service_tier: 'turbo' })).answer.status).toBe(400);
});

test('a tier that no provider of the model can be asked for is refused, before anything is held', async () => {
  const contents = [{ role: 'user', parts: [{ text: 'Say hello.' }] }];
  const { answer, last } = await post('/v1beta/models/vertex%2Fgemini-2.5-pro:generateContent', { contents, serviceTier: 'priority' });
  expect([answer.status, fake.requests.length]).toEqual([400, 0]);
  expect(['unpriced_feature', 'no_provider_configured']).toContain(last.code);
});

describe('Anthropic’s service tiers', () => {
  const message = { model: 'claude-sonnet-4-6', max_tokens: 64, messages: [HELLO] };
  const ask = (fields: object) => post('/v1/messages', { ...message, ...fields }, { 'anthropic-version': '2023-06-01' });

  test.each(['auto', 'standard_only'])('%s reaches Anthropic as it is, at the one price', async (service_tier) => {
    const { answer, last } = await ask({ service_tier });
    expect([answer.status, last.usage.service_tier, last.usage.cost]).toEqual([200, 'standard', (10 * 3_000 + 8 * 15_000) / 1e9]);
    expect(fake.requests[0]?.body).toMatchObject({ service_tier });
  });

  test('any other is refused: nothing has a price at it', async () => {
    const { answer, last } = await ask({ service_tier: 'priority' });
    expect([answer.status, last.code, fake.requests.length]).toEqual([400, 'unpriced_feature', 0]);
  });

  test('a chat’s `default` is the standard one alone there, and its `priority` is refused', async () => {
    await post(CHAT, { model: message.model, messages: [HELLO], service_tier: 'default' });
    expect(fake.requests[0]?.body).toMatchObject({ service_tier: 'standard_only' });
    const { answer } = await post(CHAT, { model: message.model, messages: [HELLO], service_tier: 'priority' });
    expect([answer.status, fake.requests.length]).toEqual([400, 1]);
  });
});
