import Anthropic from '@anthropic-ai/sdk';
import { anthropicSteps, type FakeUpstream, startFakeUpstream, steps } from '@tallygate/fake-upstream';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { Account } from './account.ts';
import { Gateway } from './gateway.ts';

const MODEL = 'claude-sonnet-4-6';
const HELLO = { model: MODEL, max_tokens: 2_000, messages: [{ role: 'user' as const, content: 'Say hello.' }] };
const LOOK = { name: 'look', input_schema: { type: 'object' as const, properties: { city: { type: 'string' } }, required: ['city'] } };
const PIXEL = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';

let fake: FakeUpstream;
let gateway: Gateway;
/** Answered by the sandbox: translated. */
let sandbox: Anthropic;
/** Answered by a provider that has Messages: passed on. */
let live: Anthropic;
beforeAll(async () => {
  fake = await startFakeUpstream();
  gateway = await Gateway.start({
    process: 'shared',
    providers: [{ name: 'openai', base_url: fake.url, models: ['gpt-4.1'] }],
    env: { ANTHROPIC_API_KEY: 'sk-ant-0123456789', ANTHROPIC_BASE_URL: fake.url, INFERENCE_BODY_BYTES: '1048576' },
  });
  const account = await Account.signUp(gateway, { plan: 'enterprise' });
  const { key } = await account.createKey();
  sandbox = new Anthropic({ baseURL: gateway.url, apiKey: gateway.bootstrap.test_api_key, maxRetries: 0 });
  live = new Anthropic({ baseURL: gateway.url, apiKey: null, authToken: key, maxRetries: 0 });
});
beforeEach(() => fake.reset());
afterAll(async () => {
  await gateway?.remove();
  await fake?.close();
});

const costIn = (usage: object): number => ('cost' in usage ? Number(usage.cost) : Number.NaN);

describe.each([
  ['translated', () => sandbox],
  ['passed on', () => live],
] as const)('the Anthropic SDK, %s', (_, client) => {
  test('answers plainly and as a stream, with the cost in the usage', async () => {
    const plain = await client().messages.create(HELLO);
    expect(plain).toMatchObject({ type: 'message', role: 'assistant', stop_reason: 'end_turn', content: [{ type: 'text' }] });
    expect(plain._request_id).toMatch(/^req_[0-9a-f]{32}$/);
    const stream = client().messages.stream(HELLO);
    const told: string[] = [];
    stream.on('text', (delta) => told.push(delta));
    const { content, usage, stop_reason } = await stream.finalMessage();
    for (const said of [content, plain.content]) expect(said).toMatchObject([{ type: 'text', text: told.join('') }]);
    expect([stop_reason, usage.input_tokens, usage.output_tokens]).toEqual([
      'end_turn',
      plain.usage.input_tokens,
      plain.usage.output_tokens,
    ]);
    expect(costIn(plain.usage)).toBeGreaterThan(0);
  });

  test('calls a tool and goes on with what it gave back, pictures among it', async () => {
    const asked = { ...HELLO, tools: [LOOK], tool_choice: { type: 'any' as const } };
    const called = await client().messages.stream(asked).finalMessage();
    const [call] = called.content.filter((block) => block.type === 'tool_use');
    expect(called.stop_reason).toBe('tool_use');
    expect(call).toMatchObject({ name: 'look', input: { city: expect.any(String) } });
    const result = {
      type: 'tool_result' as const,
      tool_use_id: call?.id ?? '',
      content: [
        { type: 'text' as const, text: 'sunny' },
        { type: 'image' as const, source: { type: 'base64' as const, media_type: 'image/png' as const, data: PIXEL } },
      ],
    };
    const goneOn = await client().messages.create({
      ...HELLO,
      tools: [LOOK],
      tool_choice: { type: 'none' },
      messages: [...HELLO.messages, { role: 'assistant', content: called.content }, { role: 'user', content: [result] }],
    });
    expect(goneOn.stop_reason).toBe('end_turn');
  });

  test('counts tokens and lists models in Anthropic’s form', async () => {
    expect((await client().messages.countTokens({ model: MODEL, messages: HELLO.messages })).input_tokens).toBeGreaterThan(3);
    expect((await client().beta.messages.countTokens({ model: MODEL, messages: HELLO.messages })).input_tokens).toBeGreaterThan(3);
    const ids: string[] = [];
    for await (const { id, type } of client().models.list({ limit: 5 })) if (type === 'model') ids.push(id);
    expect(ids).toContain(MODEL);
    expect(await client().models.retrieve(MODEL)).toMatchObject({ type: 'model', id: MODEL });
  });

  test('raises its own error for each kind of refusal', async () => {
    const raised = (call: Promise<unknown>) =>
      call.then(
        () => 'answered',
        (error: unknown) => (error instanceof Anthropic.APIError ? [error.status, error.type] : error),
      );
    await expect(client().messages.create({ ...HELLO, model: 'nothing' })).rejects.toBeInstanceOf(Anthropic.NotFoundError);
    const stranger = new Anthropic({ baseURL: gateway.url, apiKey: 'tg_test_nothing', maxRetries: 0 });
    const poor = { headers: { 'x-agent-run-id': `poor-${_}`.replace(' ', '-'), 'x-agent-max-budget': '0.000000001' } };
    expect([
      await raised(stranger.messages.create(HELLO)),
      await raised(client().messages.create({ ...HELLO, model: 'nothing' })),
      await raised(client().messages.create({ ...HELLO, max_tokens: 0 })),
      await raised(client().messages.create({ ...HELLO, tools: [{ type: 'web_search_20250305', name: 'web_search' }] })),
      await raised(client().messages.create(HELLO, poor)),
      await raised(client().messages.create({ ...HELLO, system: 'x'.repeat(1_048_576) })),
    ]).toEqual([
      [401, 'authentication_error'],
      [404, 'not_found_error'],
      [400, 'invalid_request_error'],
      [400, 'invalid_request_error'],
      [402, 'billing_error'],
      [413, 'request_too_large'],
    ]);
  });
});

describe('a provider that has Messages', () => {
  test('is asked and answers as it is: thinking with its signature, hidden thoughts, parallel calls, betas', async () => {
    fake.script({
      reasoning: 'Hm.',
      text: 'I look.',
      toolCalls: [
        { name: 'look', arguments: '{"city":"Ulm"}' },
        { name: 'look', arguments: '{"city":"Bonn"}' },
      ],
      anthropic: { redactedThinking: 'eA==' },
    });
    const message = await live.beta.messages
      .stream({ ...HELLO, tools: [LOOK], thinking: { type: 'enabled', budget_tokens: 1_024 }, betas: ['interleaved-thinking-2025-05-14'] })
      .finalMessage();
    expect(message.content).toMatchObject([
      { type: 'redacted_thinking', data: 'eA==' },
      { type: 'thinking', thinking: 'Hm.', signature: expect.stringMatching(/./) },
      { type: 'text', text: 'I look.' },
      { type: 'tool_use', input: { city: 'Ulm' } },
      { type: 'tool_use', input: { city: 'Bonn' } },
    ]);
    const [request] = fake.requests;
    expect(request?.headers['anthropic-beta']).toBe('interleaved-thinking-2025-05-14');
    expect(request?.body).toMatchObject({ thinking: { budget_tokens: 1_024 }, max_tokens: 2_000, stream: true });
  });

  test('is paid to the nano-dollar for what its cache wrote for five minutes and an hour, and read', async () => {
    fake.script(anthropicSteps.cached({ read: 6, write5m: 4, write1h: 3 }), anthropicSteps.cached({ read: 6, write5m: 4, write1h: 3 }));
    const system = [{ type: 'text' as const, text: 'Be brief.', cache_control: { type: 'ephemeral' as const, ttl: '1h' as const } }];
    const plain = await live.messages.create({ ...HELLO, system });
    // USD a million: 3 fresh, 0.30 read, 3.75 written for five minutes, 6 for an hour, 15 out.
    const { input_tokens: fresh, output_tokens: out } = plain.usage;
    expect(costIn(plain.usage)).toBeCloseTo((fresh * 3 + 6 * 0.3 + 4 * 3.75 + 3 * 6 + out * 15) / 1e6, 12);
    const costs: number[] = [];
    for await (const event of live.messages.stream({ ...HELLO, system }))
      if (event.type === 'message_delta') costs.push(costIn(event.usage));
    expect(costs).toEqual([costIn(plain.usage)]);
    expect(fake.requests[0]?.body).toMatchObject({ system });
  });

  test('that is at its limit, overloaded or breaks off raises the SDK’s own error', async () => {
    fake.script(anthropicSteps.rateLimited(33), anthropicSteps.overloaded());
    await expect(live.messages.create(HELLO)).rejects.toBeInstanceOf(Anthropic.RateLimitError);
    await expect(live.messages.create(HELLO)).rejects.toBeInstanceOf(Anthropic.InternalServerError);
    fake.reset();
    fake.script(steps.errorMidStream(4));
    await expect(live.messages.stream(HELLO).finalMessage()).rejects.toMatchObject({ type: 'overloaded_error' });
  });
});

describe('a provider with chat completions', () => {
  test('is asked in their words, and streams parallel calls as Anthropic’s blocks', async () => {
    fake.script({
      text: 'I look.',
      toolCalls: [
        { name: 'look', arguments: '{"city":"Ulm"}' },
        { name: 'look', arguments: '{"city":"Bonn"}' },
      ],
    });
    const message = await live.messages.stream({ ...HELLO, model: 'gpt-4.1', system: 'Be brief.', tools: [LOOK] }).finalMessage();
    expect(message.content).toMatchObject([
      { type: 'text', text: 'I look.' },
      { type: 'tool_use', name: 'look', input: { city: 'Ulm' } },
      { type: 'tool_use', name: 'look', input: { city: 'Bonn' } },
    ]);
    expect(message.usage.input_tokens).toBeGreaterThan(0);
    expect(fake.requests[0]?.path).toMatch(/\/chat\/completions$/);
    expect(fake.requests[0]?.body).toMatchObject({ messages: [{ role: 'system', content: 'Be brief.' }, { role: 'user' }] });
  });

  test('takes over where a provider with Messages is overloaded', async () => {
    fake.script(anthropicSteps.overloaded());
    // Another model of Anthropic’s than those whose provider has failed before.
    const fallback = { ...HELLO, model: 'claude-haiku-4-5', models: ['gpt-4.1'] };
    const { data, response } = await live.messages.create(fallback).withResponse();
    expect([data.type, response.headers.get('x-model-served'), response.headers.get('x-fallback')]).toEqual([
      'message',
      'gpt-4.1',
      'model',
    ]);
  });
});

describe('batches of messages', () => {
  const requests = (['one', 'two'] as const).map((custom_id) => ({ custom_id, params: { ...HELLO, max_tokens: 64 } }));

  test('are answered at half the price, listed, and gone once they are deleted', async () => {
    const { id } = await sandbox.messages.batches.create({ requests });
    expect(id).toMatch(/^msgbatch_/);
    await expect
      .poll(async () => (await sandbox.messages.batches.retrieve(id)).processing_status, { timeout: 60_000, interval: 200 })
      .toBe('ended');
    expect((await sandbox.messages.batches.retrieve(id)).request_counts).toMatchObject({ processing: 0, succeeded: 2, errored: 0 });
    const costs: number[] = [];
    for await (const { custom_id, result } of await sandbox.messages.batches.results(id)) {
      expect(['one', 'two']).toContain(custom_id);
      if (result.type === 'succeeded') costs.push(costIn(result.message.usage));
    }
    const alone = costIn((await sandbox.messages.create({ ...HELLO, max_tokens: 64 })).usage);
    expect(costs).toEqual([alone / 2, alone / 2]);
    const listed: string[] = [];
    for await (const batch of sandbox.messages.batches.list({ limit: 1 })) listed.push(batch.id);
    expect(listed).toContain(id);
    expect(await sandbox.messages.batches.delete(id)).toMatchObject({ id, type: 'message_batch_deleted' });
    await expect(sandbox.messages.batches.retrieve(id)).rejects.toBeInstanceOf(Anthropic.NotFoundError);
  });

  test('have a request that is wrong fail by itself, in Anthropic’s form', async () => {
    const wrong = { custom_id: 'wrong', params: { ...HELLO, model: 'nothing', max_tokens: 64 } };
    const { id } = await sandbox.messages.batches.create({ requests: [...requests, wrong] });
    await expect
      .poll(() => sandbox.messages.batches.retrieve(id), { timeout: 60_000, interval: 200 })
      .toMatchObject({ processing_status: 'ended', request_counts: { processing: 0, succeeded: 2, errored: 1 } });
    const told = new Map<string, unknown>();
    for await (const { custom_id, result } of await sandbox.messages.batches.results(id)) told.set(custom_id, result);
    expect(told.get('wrong')).toMatchObject({ type: 'errored', error: { type: 'error', error: { type: 'not_found_error' } } });
  });

  test('whose results were deleted as a file say so, and are listed all the same', async () => {
    const { id } = await sandbox.messages.batches.create({ requests });
    await expect
      .poll(async () => (await sandbox.messages.batches.retrieve(id)).processing_status, { timeout: 60_000, interval: 200 })
      .toBe('ended');
    const headers = { authorization: `Bearer ${gateway.bootstrap.test_api_key}` };
    const { data } = await (await fetch(`${gateway.url}/v1/files?purpose=batch_output`, { headers })).json();
    for (const file of data) expect((await fetch(`${gateway.url}/v1/files/${file.id}`, { method: 'DELETE', headers })).status).toBe(200);
    expect(data.length).toBeGreaterThan(0);
    await expect(sandbox.messages.batches.results(id)).rejects.toBeInstanceOf(Anthropic.NotFoundError);
    expect(await sandbox.messages.batches.retrieve(id)).toMatchObject({ processing_status: 'ended', request_counts: { succeeded: 2 } });
  });
});
