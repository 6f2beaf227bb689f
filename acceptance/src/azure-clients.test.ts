import OpenAI, { AzureOpenAI } from 'openai';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { HELLO, MODEL } from './chat.ts';
import { Gateway } from './gateway.ts';

let gateway: Gateway;
let azure: AzureOpenAI;
const VERSION = { apiVersion: '2024-10-21', maxRetries: 0 };

beforeAll(async () => {
  gateway = await Gateway.start({ process: 'shared' });
  azure = new AzureOpenAI({ endpoint: gateway.url, apiKey: gateway.bootstrap.test_api_key, ...VERSION });
});
afterAll(() => gateway?.remove());

test('OpenAI’s client for Azure chats, streams and embeds, and pays as every client does', async () => {
  const { data, response } = await azure.chat.completions.create(HELLO).withResponse();
  expect([data.choices[0]?.finish_reason, data.model]).toEqual(['stop', MODEL]);
  expect(response.headers.get('x-receipt-id')).toMatch(/^[\da-f-]{36}$/);
  const words: string[] = [];
  for await (const { choices } of await azure.chat.completions.create({ ...HELLO, stream: true }))
    words.push(choices[0]?.delta.content ?? '');
  expect(words.join('')).toBe(data.choices[0]?.message.content);
  const { data: vectors } = await azure.embeddings.create({ model: 'text-embedding-3-small', input: ['a', 'b'] });
  expect(vectors).toHaveLength(2);
  expect((await azure.models.list()).data.map(({ id }) => id)).toContain(MODEL);
});

test('the deployment of the path is the model, whatever the body says', async () => {
  const of = (deployment: string) =>
    new AzureOpenAI({ endpoint: gateway.url, apiKey: gateway.bootstrap.test_api_key, deployment, ...VERSION });
  expect((await of('gpt-4.1-mini').chat.completions.create(HELLO)).model).toBe('gpt-4.1-mini');
  await expect(of('nothing').chat.completions.create(HELLO)).rejects.toMatchObject({ status: 404, code: 'model_not_found' });
  // Under one idempotency key the same body asks another deployment for something else.
  const once = { headers: { 'idempotency-key': 'one-body' } };
  expect((await of(MODEL).chat.completions.create(HELLO, once)).model).toBe(MODEL);
  await expect(of('gpt-4.1-mini').chat.completions.create(HELLO, once)).rejects.toMatchObject({ code: 'idempotency_conflict' });
});

test('a signature is not moved to a deployment, which it does not cover', async () => {
  const signed = azure.chat.completions.create(HELLO, { headers: { 'signature-input': 'tallygate=("@method" "@path" "content-digest")' } });
  await expect(signed).rejects.toMatchObject({ status: 401, code: 'invalid_signature' });
});

test('Azure’s newer paths are OpenAI’s below /openai/v1', async () => {
  const openai = new OpenAI({ baseURL: `${gateway.url}/openai/v1`, apiKey: gateway.bootstrap.test_api_key, maxRetries: 0 });
  expect((await openai.responses.create({ model: MODEL, input: 'Say hello.' })).status).toBe('completed');
});

test('a wrong key is refused, and so are two keys in one request', async () => {
  const stranger = new AzureOpenAI({ endpoint: gateway.url, apiKey: 'tg_test_nonsense', ...VERSION });
  await expect(stranger.chat.completions.create(HELLO)).rejects.toBeInstanceOf(OpenAI.AuthenticationError);
  const two = azure.chat.completions.create(HELLO, { headers: { authorization: 'Bearer tg_test_another' } });
  await expect(two).rejects.toMatchObject({ status: 401, error: { message: expect.any(String) } });
});
