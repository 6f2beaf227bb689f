import { type FakeUpstream, type RecordedRequest, startFakeUpstream } from '@tallygate/fake-upstream';
import OpenAI from 'openai';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { Account } from './account.ts';
import { HELLO, MODEL } from './chat.ts';
import { Gateway } from './gateway.ts';

let upstream: FakeUpstream;
let gateway: Gateway;
let account: Account;
let openai: OpenAI;

beforeAll(async () => {
  upstream = await startFakeUpstream();
  gateway = await Gateway.start({
    process: 'shared',
    providers: [{ name: 'fake', base_url: upstream.url, api_key: 'sk-provider-secret', models: { [MODEL]: 'house-model' } }],
  });
  account = await Account.signUp(gateway, { plan: 'enterprise' });
  const { key: apiKey } = await account.createKey();
  openai = new OpenAI({ baseURL: `${gateway.url}/v1`, apiKey, maxRetries: 0 });
});
afterAll(async () => {
  await gateway?.remove();
  await upstream?.close();
});
beforeEach(() => upstream.reset());

function theRequest(): RecordedRequest {
  const [request, ...others] = upstream.requests;
  if (!request || others.length > 0) throw new Error(`The provider got ${upstream.requests.length} requests`);
  return request;
}

describe('what the provider gets', () => {
  test('is what the caller sent, fields unknown to the gateway included, to its own name for the model', async () => {
    const sent = {
      ...HELLO,
      seed: 7,
      temperature: 0.3,
      stop: ['\n\n', 'END'],
      logit_bias: { '50256': -100 },
      max_tokens: 100,
      tomorrow: { deep: [1, null, { x: 'ü😀' }], flag: false },
      metadata: { ticket: '42' },
    };
    await openai.chat.completions.create(sent);
    expect(theRequest().body).toEqual({ ...sent, model: 'house-model' });
  });

  test('has its own key and none of the caller’s', async () => {
    await openai.chat.completions.create(HELLO, { headers: { 'x-secret-of-caller': 'no', cookie: 'a=b' } });
    const { headers } = theRequest();
    expect(headers.authorization).toBe('Bearer sk-provider-secret');
    expect(JSON.stringify(headers)).not.toMatch(/tg_live_|x-secret-of-caller|cookie|x-forwarded/);
  });

  test('always has a bound on tokens, also where the caller gave none', async () => {
    const { response } = await openai.chat.completions.create(HELLO).withResponse();
    expect(theRequest().body).toMatchObject({ max_tokens: 16_384 });
    expect(response.headers.get('x-budget-max-tokens')).toBe('16384');
  });

  test('has the caller’s bound under the name that the caller chose', async () => {
    await openai.chat.completions.create({ ...HELLO, max_completion_tokens: 20 });
    expect(theRequest().body).toMatchObject({ max_completion_tokens: 20 });
    expect(theRequest().body).not.toHaveProperty('max_tokens');
  });

  test('asks for usage in every stream', async () => {
    for await (const _ of await openai.chat.completions.create({ ...HELLO, stream: true }));
    expect(theRequest().body).toMatchObject({ stream: true, stream_options: { include_usage: true } });
  });
});

describe('what comes back', () => {
  test('is the provider’s completion with the exact cost added', async () => {
    const { data, response } = await openai.chat.completions.create(HELLO).withResponse();
    // 10 tokens in at 0.15 USD and 8 out at 0.60 USD a million.
    expect(data).toMatchObject({
      id: expect.stringMatching(/^chatcmpl-fake-/),
      choices: [{ message: { content: 'tok0 tok1 tok2 tok3 tok4 tok5 tok6 tok7' }, finish_reason: 'stop' }],
      usage: { prompt_tokens: 10, completion_tokens: 8, total_tokens: 18, cost: 0.0000063 },
    });
    expect(response.headers.get('x-cost-usd')).toBe('0.0000063');
  });

  test('streams as it is written, not when it is complete', async () => {
    upstream.script({ tokens: 3, gapMs: 2_000 });
    const writtenByThen: number[] = [];
    for await (const { choices } of await openai.chat.completions.create({ ...HELLO, stream: true }))
      if (choices[0]?.delta.content) writtenByThen.push(theRequest().bytesSent);
    expect(writtenByThen).toHaveLength(3);
    expect(writtenByThen[0]).toBeLessThan(theRequest().bytesSent);
  });

  test('assembles streamed tool calls, several at a time', async () => {
    const toolCalls = [
      { name: 'get_weather', arguments: '{"city":"Berlin","unit":"celsius"}' },
      { name: 'get_time', arguments: '{"zone":"Europe/Berlin"}' },
    ];
    upstream.script({ text: '', toolCalls }, { text: '', toolCalls });
    const functions = toolCalls.map((call) => ({ type: 'function', function: call }));
    const tools = toolCalls.map(({ name }) => ({ type: 'function' as const, function: { name, parameters: { type: 'object' } } }));
    const plain = await openai.chat.completions.create({ ...HELLO, tools });
    const streamed = await openai.chat.completions.stream({ ...HELLO, tools }).finalChatCompletion();
    for (const { choices } of [plain, streamed])
      expect(choices[0]).toMatchObject({ finish_reason: 'tool_calls', message: { tool_calls: functions } });
  });

  test('runs the tools of a caller to the final answer, streamed', async () => {
    upstream.script({ text: '', toolCalls: [{ name: 'add', arguments: '{"a":2,"b":3}' }] }, { text: 'It is five.' });
    const given: unknown[] = [];
    const runner = openai.chat.completions.runTools({
      ...HELLO,
      stream: true,
      tools: [
        {
          type: 'function',
          function: {
            name: 'add',
            description: 'Adds',
            parameters: { type: 'object' },
            parse: (text: string): unknown => JSON.parse(text),
            function: (numbers: unknown) => String(given.push(numbers) && 5),
          },
        },
      ],
    });
    expect(await runner.finalContent()).toBe('It is five.');
    expect(given).toEqual([{ a: 2, b: 3 }]);
    expect(upstream.requests[1]?.body).toMatchObject({
      messages: [{ role: 'user' }, { role: 'assistant' }, { role: 'tool', content: '5' }],
    });
  });

  test('keeps reasoning deltas', async () => {
    upstream.script({ reasoning: 'Let me think.', text: 'Yes.' });
    let reasoning = '';
    for await (const { choices } of await openai.chat.completions.create({ ...HELLO, stream: true })) {
      const delta = choices[0]?.delta;
      if (delta && 'reasoning_content' in delta) reasoning += delta.reasoning_content;
    }
    expect(reasoning).toBe('Let me think.');
  });

  test('keeps log probabilities and every one of several choices', async () => {
    const { choices } = await openai.chat.completions.create({ ...HELLO, n: 3, logprobs: true });
    expect(choices.map(({ index, logprobs }) => [index, logprobs?.content?.length])).toEqual([
      [0, 8],
      [1, 8],
      [2, 8],
    ]);
  });
});

describe('a caller who goes away', () => {
  const billed = async () => {
    const request = theRequest();
    expect(await request.ended).toBe('answered');
    return request.billed;
  };

  test('in the middle of a stream pays for what the provider bills', async () => {
    upstream.script({ tokens: 300, gapMs: 1 });
    const stream = await openai.chat.completions.create({ ...HELLO, max_tokens: 1_000, stream: true }).withResponse();
    let chunks = 0;
    for await (const _ of stream.data) if (++chunks === 20) break;
    const { outputTokens } = await billed();
    expect(outputTokens).toBe(300);
    const trace = await account.trace(stream.response.headers.get('x-request-id') ?? '');
    expect(trace).toMatchObject({ outcome: 'cancelled', estimated: false, usage: { output_tokens: outputTokens } });
  });

  test('before a plain answer pays for what the provider bills', async () => {
    upstream.script({ delayMs: 2_000 });
    const arrived = upstream.nextRequest();
    const hangUp = new AbortController();
    const requestId = 'hung-up-before-plain-answer';
    const completion = openai.chat.completions.create(HELLO, { signal: hangUp.signal, headers: { 'x-request-id': requestId } });
    await arrived;
    hangUp.abort();
    await expect(completion).rejects.toThrow(OpenAI.APIUserAbortError);
    const { outputTokens } = await billed();
    expect(await account.trace(requestId)).toMatchObject({
      outcome: 'cancelled',
      estimated: false,
      usage: { output_tokens: outputTokens },
    });
  });

  test('is distinguished from a timeout of the SDK, whose answer is read on too', async () => {
    upstream.script({ delayMs: 5_000 });
    const arrived = upstream.nextRequest();
    const completion = openai.chat.completions.create(HELLO, { timeout: 2_000 });
    await expect(completion).rejects.toThrow(OpenAI.APIConnectionTimeoutError);
    expect(await (await arrived).ended).toBe('answered');
  });
});
