import { Run, RunDetail } from '@tallygate/contract';
import { type FakeUpstream, startFakeUpstream, steps } from '@tallygate/fake-upstream';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { Account } from './account.ts';
import { ask, completionOf, HELLO, header, problemOf } from './chat.ts';
import { Gateway } from './gateway.ts';

/** The second one is in the ladder of the first; the models between them have no deployment. */
const ASKED = 'gpt-4.1';
const STEP_DOWN = 'o4-mini';

let upstream: FakeUpstream;
let gateway: Gateway;
let account: Account;
let key: string;
beforeAll(async () => {
  upstream = await startFakeUpstream();
  gateway = await Gateway.start({ process: 'shared', providers: [{ name: 'fake', base_url: upstream.url, models: [ASKED, STEP_DOWN] }] });
  account = await Account.signUp(gateway, { plan: 'enterprise' });
  ({ key } = await account.createKey());
});
afterAll(async () => {
  await gateway?.remove();
  await upstream?.close();
});
beforeEach(() => upstream.reset());

const request = { ...HELLO, model: ASKED };
const inRun = (run: string, more: Record<string, string> = {}) => ({ 'x-agent-run-id': run, ...more });
const api = async (path: string, method = 'GET') => {
  const answer = await fetch(`${gateway.url}${path}`, { method, headers: { authorization: `Bearer ${key}` } });
  return { status: answer.status, body: await answer.json() };
};
const allLimited = () =>
  upstream.script(({ body }) => (JSON.stringify(body).includes(`"${ASKED}"`) ? steps.rateLimited({ seconds: 7 }) : {}));
const modelsAsked = () => upstream.requests.map(({ body }) => Object(body).model);

test('an agent run falls back along the ladder when a model answers 429, at the served price', async () => {
  allLimited();
  const first = await ask(gateway, key, request, inRun('ladder', { 'x-agent-max-budget': '0.5' }));
  expect(first.status).toBe(200);
  expect(modelsAsked()).toEqual([ASKED, STEP_DOWN]);
  expect(['x-model-served', 'x-fallback', 'x-provider'].map((name) => header(first, name))).toEqual([STEP_DOWN, 'model', 'fake']);
  // o4-mini: 1,100 nano-USD per token in, 4,400 out; the provider counts 10 in and 8 out.
  expect(completionOf(first).usage).toMatchObject({ prompt_tokens: 10, completion_tokens: 8, cost: 0.000_046_2 });
  expect(header(first, 'x-agent-budget-spent-usd')).toBe('0.0000462');

  const trace = await account.trace(header(first, 'x-request-id'));
  expect(trace).toMatchObject({ model_requested: ASKED, model_served: STEP_DOWN, fallback: 'model', cost_usd: '0.0000462' });
  expect(trace.attempts.map(({ model, outcome, status }) => [model, outcome, status])).toEqual([
    [ASKED, 'rate_limited', 429],
    [STEP_DOWN, 'answered', 200],
  ]);

  // While the provider's Retry-After lasts, the model is not asked again.
  const askedSoFar = upstream.requests.length;
  const second = await ask(gateway, key, { ...request, stream: true }, inRun('ladder'));
  expect([second.status, header(second, 'x-model-served')]).toEqual([200, STEP_DOWN]);
  expect(modelsAsked().slice(askedSoFar)).toEqual([STEP_DOWN]);
  const later = await account.trace(header(second, 'x-request-id'));
  expect(later.skipped).toEqual([{ model: ASKED, deployment: 'fake#1', provider: 'fake', reason: 'cooling_down' }]);
});

test('without a fallback the 429 is passed on with the provider’s Retry-After, and traced', async () => {
  allLimited();
  const refused = await ask(gateway, key, request, inRun('strict', { 'x-fallback-policy': 'none' }));
  expect([refused.status, problemOf(refused).code]).toEqual([429, 'upstream_rate_limited']);
  expect(Number(header(refused, 'retry-after'))).toBeGreaterThanOrEqual(5);
  expect(modelsAsked()).toEqual([ASKED]);
  const trace = await account.trace(header(refused, 'x-request-id'));
  expect(trace).toMatchObject({ outcome: 'failed', cost_usd: '0', attempts: [{ model: ASKED, outcome: 'rate_limited', status: 429 }] });
});

test('closing a run tells what its answers have cost, at once', async () => {
  const model = { ...HELLO, model: STEP_DOWN };
  const answers = await Promise.all(Array.from({ length: 5 }, () => ask(gateway, key, model, inRun('short-lived'))));
  expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200]);
  // 10 tokens in and 8 out, each.
  expect((await api('/v1/runs/short-lived/close', 'POST')).body).toMatchObject({ state: 'closed', requests: 5, spent_usd: '0.000231' });
});

test('closing a run stops the stream of its child at once, charges what was generated, and lets no call in', async () => {
  const model = { ...HELLO, model: STEP_DOWN };
  expect((await ask(gateway, key, model, inRun('boss', { 'x-agent-max-calls': '9', 'x-agent-deadline': '3600' }))).status).toBe(200);
  const { promise: until, resolve: generateRest } = Promise.withResolvers<void>();
  upstream.script({ ...steps.longStream(300), waits: { at: 20, until } });
  const streaming = await fetch(`${gateway.url}/v1/chat/completions`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${key}`,
      'content-type': 'application/json',
      ...inRun('worker', { 'x-agent-parent-run-id': 'boss' }),
    },
    body: JSON.stringify({ ...model, stream: true, max_tokens: 10_000 }),
  });
  const reader = streaming.body?.pipeThrough(new TextDecoderStream()).getReader();
  let text = (await reader?.read())?.value ?? '';
  const requestId = streaming.headers.get('x-request-id') ?? '';
  expect(streaming.headers.get('x-agent-calls-remaining')).toBe('7');

  const closed = await api('/v1/runs/boss/close', 'POST');
  expect([closed.status, Run.parse(closed.body).state]).toEqual([200, 'closed']);
  for (let part = await reader?.read(); part && !part.done; part = await reader?.read()) text += part.value;
  // The provider is still at work.
  expect(text).toContain('"code":"run_closed"');
  generateRest();
  expect((await account.trace(requestId)).outcome).toBe('cancelled');

  for (const run of ['boss', 'worker']) {
    const refused = await ask(gateway, key, model, inRun(run));
    expect([refused.status, problemOf(refused).code, refused.headers.get('x-should-retry')]).toEqual([403, 'run_closed', null]);
  }
  const { body } = await api('/v1/runs/boss');
  expect(RunDetail.parse(body)).toMatchObject({
    state: 'closed',
    max_calls: 9,
    calls_remaining: 7,
    held_usd: '0',
    steps: { has_more: false, data: [{ model_served: STEP_DOWN, outcome: 'completed' }] },
    children: [{ run_id: 'worker', parent_run_id: 'boss', state: 'closed' }],
  });
  expect((await api('/v1/runs/boss/close', 'POST')).status).toBe(200);
  expect((await api('/v1/runs/nobody/close', 'POST')).status).toBe(404);
});
