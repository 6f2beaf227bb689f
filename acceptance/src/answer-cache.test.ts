import Anthropic from '@anthropic-ai/sdk';
import { GoogleGenAI } from '@google/genai';
import { anthropicSteps, type FakeUpstream, startFakeUpstream, steps } from '@tallygate/fake-upstream';
import { type ReceiptResponse, verifyReceipt } from '@tallygate/receipts';
import OpenAI from 'openai';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { Account } from './account.ts';
import { Gateway } from './gateway.ts';

const CACHE = { 'x-cache': 'max-age=600' };
let fake: FakeUpstream;
let gateway: Gateway;
let openai: OpenAI;
let anthropic: Anthropic;
let google: GoogleGenAI;
let key: string;

beforeAll(async () => {
  fake = await startFakeUpstream();
  gateway = await Gateway.start({
    process: 'shared',
    providers: [{ name: 'openai', base_url: fake.url, models: ['gpt-4.1', 'text-embedding-3-small'] }],
    env: {
      ...{ ANTHROPIC_API_KEY: 'sk-ant-0123456789', ANTHROPIC_BASE_URL: fake.url },
      ...{ GEMINI_API_KEY: 'google-secret-key', GOOGLE_BASE_URL: new URL('/v1beta', fake.url).href },
    },
  });
  const account = await Account.signUp(gateway, { plan: 'enterprise' });
  ({ key } = await account.createKey());
  openai = new OpenAI({ baseURL: `${gateway.url}/v1`, apiKey: key, maxRetries: 0, defaultHeaders: CACHE });
  anthropic = new Anthropic({ baseURL: gateway.url, apiKey: key, maxRetries: 0, defaultHeaders: CACHE });
  google = new GoogleGenAI({ apiKey: key, httpOptions: { baseUrl: gateway.url, headers: CACHE } });
});
beforeEach(() => fake.reset());
afterAll(async () => {
  await gateway?.remove();
  await fake?.close();
});

const all = async <T>(stream: AsyncIterable<T>): Promise<T[]> => {
  const items: T[] = [];
  for await (const item of stream) items.push(item);
  return items;
};
const chat = (content: string) => ({ model: 'gpt-4.1', max_tokens: 300, messages: [{ role: 'user' as const, content }] });
const message = (content: string) => ({ ...chat(content), model: 'claude-sonnet-4-6' });
const content = (contents: string) => ({ model: 'gemini-3.5-flash', contents });

const clients: [string, (question: string) => Promise<unknown>][] = [
  ['the OpenAI SDK, a chat', (question) => openai.chat.completions.create(chat(question))],
  ['the OpenAI SDK, a streamed chat', async (question) => all(await openai.chat.completions.create({ ...chat(question), stream: true }))],
  ['the OpenAI SDK, a response', (input) => openai.responses.create({ model: 'gpt-4.1', input, store: false })],
  ['the OpenAI SDK, an embedding', (input) => openai.embeddings.create({ model: 'text-embedding-3-small', input })],
  ['the Anthropic SDK, a message', (question) => anthropic.messages.create(message(question))],
  ['the Anthropic SDK, a streamed message', (question) => anthropic.messages.stream(message(question)).finalMessage()],
  ['the Google SDK, content', async (question) => (await google.models.generateContent(content(question))).candidates],
  [
    'the Google SDK, streamed content',
    async (question) => (await all(await google.models.generateContentStream(content(question)))).map(({ candidates }) => candidates),
  ],
];

test.each(clients)('%s is told the same again, and the provider is asked once', async (name, ask) => {
  const first = await ask(name);
  expect(await ask(name)).toEqual(first);
  expect(fake.requests).toHaveLength(1);
  await ask(`${name} once more`);
  expect(fake.requests).toHaveLength(2);
});

test('an answer that broke off or failed is asked for again', async () => {
  fake.script(steps.serverError(), { text: 'Hello.' });
  await expect(openai.chat.completions.create(chat('fails'))).rejects.toThrow();
  expect((await openai.chat.completions.create(chat('fails'))).choices[0]?.message.content).toBe('Hello.');
  fake.reset();
  fake.script(anthropicSteps.overloaded(), anthropicSteps.overloaded());
  for (let count = 0; count < 2; count += 1) await expect(anthropic.messages.create(message('fails'))).rejects.toThrow();
  expect(fake.requests).toHaveLength(2);
});

test('the receipt of a kept answer verifies, costs nothing and names the bytes of the first', async () => {
  const receiptOf = async () => {
    const { response } = await openai.chat.completions.create(chat('Receipts.')).withResponse();
    const id = response.headers.get('x-receipt-id');
    const read = async () => fetch(`${gateway.url}/v1/receipts/${id}`, { headers: { authorization: `Bearer ${key}` } });
    await expect.poll(async () => (await read()).status, { timeout: 20_000 }).toBe(200);
    return { state: response.headers.get('x-cache'), receipt: (await (await read()).json()) as ReceiptResponse };
  };
  const [first, again] = [await receiptOf(), await receiptOf()];
  expect([first.state, again.state]).toEqual(['MISS', 'HIT']);
  expect(again.receipt.payload).toMatchObject({
    outcome: 'cached',
    cost_nano_usd: '0',
    response_sha256: first.receipt.payload.response_sha256,
  });
  const keys = await (await fetch(`${gateway.url}/.well-known/vaas-keys.json`)).json();
  for (const { receipt } of [first, again]) expect(verifyReceipt(receipt, keys)).toMatchObject({ valid: true });
});
