import { afterAll, beforeAll, beforeEach, describe, expect, it, test } from 'vitest';
import { azureSteps, type FakeUpstream, startFakeUpstream } from '../index.ts';

let fake: FakeUpstream;
beforeAll(async () => {
  fake = await startFakeUpstream();
});
afterAll(() => fake.close());
beforeEach(() => fake.reset());

const DEPLOYMENT = '/openai/deployments/d/chat/completions?api-version=2024-10-21';
const BODY = { messages: [{ role: 'user', content: 'Hello.' }], max_completion_tokens: 100 };
const post = (path: string, body: object = {}, headers: Record<string, string> = { 'api-key': 'k' }): Promise<Response> =>
  fetch(new URL(path, fake.url), { method: 'POST', headers, body: JSON.stringify({ ...BODY, ...body }) });

describe('Azure’s answer', () => {
  it.each([[DEPLOYMENT], ['/openai/v1/chat/completions'], ['/openai/v1/chat/completions?api-version=preview']])(
    'at %s tells what the filter found',
    async (path) => {
      expect(await (await post(path, { model: 'd' })).json()).toMatchObject({
        object: 'chat.completion',
        choices: [{ content_filter_results: { hate: { filtered: false } } }],
        prompt_filter_results: [{ prompt_index: 0 }],
      });
    },
  );

  it('streamed begins with a chunk that has no choices and no id', async () => {
    const text = await (await post(DEPLOYMENT, { stream: true })).text();
    expect(JSON.parse(text.split('\n\n')[0]?.slice(6) ?? '')).toMatchObject({
      id: '',
      choices: [],
      prompt_filter_results: [{ prompt_index: 0 }],
    });
    expect(text.endsWith('data: [DONE]\n\n')).toBe(true);
  });
});

test.each([
  ['without a version', '/openai/deployments/d/chat/completions', {}, { 'api-key': 'k' }, 404],
  ['without credentials', DEPLOYMENT, {}, {}, 401],
  ['without the model where no deployment is in the path', '/openai/v1/chat/completions', {}, { 'api-key': 'k' }, 400],
  ['with stream options but no stream', DEPLOYMENT, { stream_options: {} }, { 'api-key': 'k' }, 400],
] as const)('a request %s is refused and uses up no step', async (_, path, body, headers, status) => {
  fake.script({ text: 'kept' });
  expect((await post(path, body, { ...headers })).status).toBe(status);
  expect(await (await post(DEPLOYMENT)).text()).toContain('kept');
});

test('a filtered prompt is a 400 with what was found', async () => {
  fake.script(azureSteps.promptFiltered());
  const answer = await post(DEPLOYMENT);
  expect([answer.status, await answer.json()]).toMatchObject([
    400,
    { error: { code: 'content_filter', innererror: { content_filter_result: { hate: { filtered: true } } } } },
  ]);
});
