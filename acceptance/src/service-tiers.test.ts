import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import OpenAI from 'openai';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { Terminal } from '../../cli/testing/terminal.ts';
import { Account } from './account.ts';
import { Gateway } from './gateway.ts';
import { otherVerifiers } from './testing/other-verifiers.ts';

const PATIENCE = { timeout: 60_000, interval: 100 };
const MODEL = 'gpt-5-mini';
/** 10 tokens in and 8 out. */
const COST = { default: '18500', flex: '9250', priority: '33300' } as const;
type Tier = keyof typeof COST;

let said: string;
let asked: unknown;
let provider: Server;
let gateway: Gateway;
let key: string;
let client: OpenAI;
let folder: string;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'tallygate-tiers-'));
  provider = createServer(async (req, res) => {
    const { stream, service_tier } = JSON.parse(await text(req));
    asked = service_tier;
    const isChat = req.url?.endsWith('/chat/completions');
    const answer = isChat ? chatAnswer(stream) : responseAnswer(stream);
    res.writeHead(200, { 'content-type': stream ? 'text/event-stream' : 'application/json' });
    res.end(
      stream
        ? answer.map((event) => `${'type' in event ? `event: ${event.type}\n` : ''}data: ${JSON.stringify(event)}\n\n`).join('')
        : JSON.stringify(answer[0]),
    );
  }).listen(0, '127.0.0.1');
  await new Promise((resolve) => provider.once('listening', resolve));
  const base_url = `http://127.0.0.1:${(provider.address() as AddressInfo).port}/v1`;
  gateway = await Gateway.start({ process: 'shared', providers: [{ name: 'house', base_url, models: [MODEL], responses: true }] });
  ({ key } = await (await Account.signUp(gateway, { plan: 'enterprise' })).createKey());
  client = new OpenAI({ apiKey: key, baseURL: `${gateway.url}/v1`, maxRetries: 0 });
});
afterAll(async () => {
  await gateway?.remove();
  provider?.close();
  rmSync(folder, { recursive: true, force: true });
});

function chatAnswer(stream: boolean): object[] {
  const head = { id: 'chatcmpl-1', created: 1, model: MODEL, service_tier: said };
  const usage = { prompt_tokens: 10, completion_tokens: 8, total_tokens: 18 };
  const whole = { index: 0, message: { role: 'assistant', content: 'Hello.', refusal: null }, logprobs: null, finish_reason: 'stop' };
  if (!stream) return [{ ...head, object: 'chat.completion', choices: [whole], usage }];
  const chunk = { ...head, object: 'chat.completion.chunk' };
  return [
    { ...chunk, choices: [{ index: 0, delta: { role: 'assistant', content: 'Hello.' }, finish_reason: null }] },
    { ...chunk, choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] },
    { ...chunk, choices: [], usage },
  ];
}

function responseAnswer(stream: boolean): object[] {
  const content = [{ type: 'output_text', text: 'Hello.', annotations: [], logprobs: [] }];
  const message = { type: 'message', id: 'msg_1', role: 'assistant', status: 'completed', content };
  const usage = {
    ...{ input_tokens: 10, input_tokens_details: { cached_tokens: 0 } },
    ...{ output_tokens: 8, output_tokens_details: { reasoning_tokens: 0 }, total_tokens: 18 },
  };
  const response = { id: 'resp_1', object: 'response', created_at: 1, model: MODEL, service_tier: said };
  const done = { ...response, status: 'completed', output: [message], usage };
  if (!stream) return [done];
  return [
    { type: 'response.created', sequence_number: 0, response: { ...response, service_tier: 'auto', status: 'in_progress', output: [] } },
    { type: 'response.completed', sequence_number: 1, response: done },
  ];
}

/** Asks as OpenAI's client does, and tells the receipt. */
async function receiptOf(surface: 'chat' | 'responses', stream: boolean, service_tier: Tier | undefined): Promise<object> {
  const tier = service_tier && { service_tier };
  const asking =
    surface === 'chat'
      ? client.chat.completions.create({
          model: MODEL,
          messages: [{ role: 'user', content: 'Say hello.' }],
          max_completion_tokens: 64,
          ...tier,
          stream,
        })
      : client.responses.create({ model: MODEL, input: 'Say hello.', max_output_tokens: 64, ...tier, stream });
  const { data, response } = await asking.withResponse();
  if (Symbol.asyncIterator in data) for await (const _ of data);
  const id = response.headers.get('x-receipt-id');
  return vi.waitFor(async () => {
    const found = await (await fetch(`${gateway.url}/v1/receipts/${id}`)).json();
    expect(found).toMatchObject({ log: { state: 'logged' } });
    return found;
  }, PATIENCE);
}

const CASES: readonly (readonly [Tier | undefined, string])[] = [
  ['flex', 'flex'],
  ['priority', 'priority'],
  // The provider had no room at that tier.
  ['priority', 'default'],
  ['flex', 'default'],
  [undefined, 'default'],
  ['default', 'default'],
  // No price of its own, as at a provider whose tiers are its own.
  [undefined, 'scale'],
  // Whose project is at another tier all the same: within what is held for the standard one.
  [undefined, 'flex'],
];
const WAYS = [
  ['chat', false],
  ['chat', true],
  ['responses', false],
  ['responses', true],
] as const;

test.each(CASES)('asked for %s, what is served at %s is charged at that price on every surface', async (wanted, served) => {
  said = served;
  const paid = served in COST ? (served as Tier) : 'default';
  for (const [surface, stream] of WAYS) {
    const receipt = await receiptOf(surface, stream, wanted);
    const version = expect.stringMatching(paid === 'default' ? /^[\d-]+$/ : new RegExp(`^[\\d-]+/${paid}$`));
    expect(receipt, `${surface} ${stream}`).toMatchObject({
      payload: {
        cost_nano_usd: COST[paid],
        price_version: version,
        price_entry: { index: expect.any(Number) },
      },
      price: { declaration: { model: MODEL, price_version: version } },
    });
    expect(asked).toBe(wanted);
  }
});

test('a tier without a price is refused before a provider is asked, with what would give it one', async () => {
  asked = undefined;
  const refused = client.chat.completions.create({ model: MODEL, messages: [{ role: 'user', content: 'Hi' }], service_tier: 'scale' });
  await expect(refused).rejects.toMatchObject({ status: 400, param: 'service_tier' });
  expect(asked).toBeUndefined();
});

test('the command line finds every one of these receipts in order, by the published prices', async () => {
  const terminal = new Terminal({ baseUrl: gateway.url });
  const type = (...argv: string[]) => terminal.type(argv, { apiKey: key });
  await type('receipts', 'keys');
  await type('receipts', 'export', '--month', new Date().toISOString().slice(0, 7), '-o', 'all.jsonl');
  expect(await type('receipts', 'verify', 'all.jsonl')).toMatchObject({ exitCode: 0 });
  writeFileSync(join(folder, 'keys.json'), await (await fetch(`${gateway.url}/.well-known/vaas-keys.json`)).text());
  writeFileSync(join(folder, 'all.jsonl'), terminal.files.get('all.jsonl') ?? '');
});

for (const { language, isMissing, verify } of otherVerifiers())
  test.skipIf(isMissing)(`the verifier in ${language} finds them in order`, async () => {
    expect(await verify(join(folder, 'keys.json'), join(folder, 'all.jsonl'))).toMatchObject({ isValid: true });
  });
