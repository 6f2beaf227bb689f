import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { type FakeUpstream, startFakeUpstream } from '../index.ts';

let fake: FakeUpstream;
beforeAll(async () => {
  fake = await startFakeUpstream();
});
afterAll(() => fake.close());
beforeEach(() => fake.reset());

const PLACE = '/projects/p/locations/global/publishers';
const GEMINI = { contents: [{ role: 'user', parts: [{ text: 'Hi.' }] }] };
const CLAUDE = { anthropic_version: 'vertex-2023-10-16', max_tokens: 100, messages: [{ role: 'user', content: 'Hi.' }] };

const post = (path: string, body: object, headers: Record<string, string> = { authorization: 'Bearer token' }): Promise<Response> =>
  fetch(new URL(`/v1beta1${PLACE}${path}`, fake.url), {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  });

it('answers Gemini, Claude and embeddings in their words', async () => {
  const gemini = await post('/google/models/gemini-3.5-flash:generateContent', GEMINI);
  expect(await gemini.json()).toMatchObject({ usageMetadata: { promptTokenCount: 10, candidatesTokenCount: 8 } });
  const claude = await post('/anthropic/models/claude-sonnet-4-6:rawPredict', CLAUDE);
  expect(await claude.json()).toMatchObject({ type: 'message', usage: { input_tokens: 10, output_tokens: 8 } });
  const stream = await post('/anthropic/models/claude-sonnet-4-6:streamRawPredict', { ...CLAUDE, stream: true });
  expect(await stream.text()).toContain('event: message_stop');
  const vectors = await post('/google/models/text-embedding-005:predict', { instances: [{ content: 'Hi.' }, { content: 'Ho.' }] });
  expect((await vectors.json()).predictions).toMatchObject([{ embeddings: { statistics: { token_count: 10 } } }, {}]);
});

it.each<[string, number, string, object, Record<string, string>?]>([
  ['no credentials', 401, '/google/models/gemini-3.5-flash:generateContent', GEMINI, {}],
  ['a method of the other publisher', 404, '/google/models/gemini-3.5-flash:rawPredict', GEMINI],
  ['a model in the body', 400, '/anthropic/models/claude-sonnet-4-6:rawPredict', { ...CLAUDE, model: 'claude' }],
  ['another version', 400, '/anthropic/models/claude-sonnet-4-6:rawPredict', { ...CLAUDE, anthropic_version: '2023-06-01' }],
  ['an unknown field', 400, '/google/models/gemini-3.5-flash:generateContent', { ...GEMINI, model: 'gemini' }],
  ['a method of older models', 400, '/google/models/gemini-embedding-2:predict', { instances: [{ content: 'Hi.' }] }],
])('refuses %s', async (_, status, path, body, headers) => {
  expect((await post(path, body, headers)).status).toBe(status);
});
