import { ChatCompletion, type ChatCompletionRequest } from '@tallygate/contract';
import { anthropicSteps, startFakeUpstream, steps } from '@tallygate/fake-upstream';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { againstFakeUpstream, KEY, MAX_BYTES } from '../against-fake-upstream.ts';
import { describeUpstreamConformance } from '../conformance.ts';
import { type CallOverrides, chatCall, chunksOf, pumped } from '../conformance-calls.ts';
import { CHAT_REQUESTS, LOOK } from '../testing/chat-requests.ts';
import { anthropic } from './anthropic.ts';
import { contentBlocks } from './content.ts';

// Each takes another kind of request: adaptive thinking and an output format, a thinking budget, a tool in place of an output format.
describe.each(['claude-opus-4-8', 'claude-haiku-4-5', 'claude-3-5-haiku-20241022'])('%s', (model) => {
  describeUpstreamConformance('the Anthropic adapter', async () => {
    const fake = await startFakeUpstream();
    return { provider: anthropic({ name: 'fake', baseUrl: fake.url }), model, hasOneChoiceOnly: true, close: fake.close };
  });
});

const { fake, provider, provide, chat, ask } = againstFakeUpstream(anthropic, 'claude-sonnet-4-6');
const plain = async (overrides: CallOverrides = {}) =>
  ChatCompletion.parse(JSON.parse((await (await ask(overrides)).collect(MAX_BYTES)).toString()));
const streamed = async (overrides: CallOverrides = {}) => chunksOf(await pumped(await ask({ ...overrides, stream: true })));
const CALLS = [
  { name: 'look', arguments: '{"city":"Köln"}' },
  { name: 'look', arguments: '{"city":"Bonn"}' },
];

describe('what is sent', () => {
  it('has only headers of our own: the key and the version of the provider, no compression, nothing of the caller', async () => {
    const other = provide({ headers: { 'Anthropic-Beta': 'context-1m-2025-08-07' } });
    await other.call(chatCall('claude-sonnet-4-6'));
    expect(fake().requests[0]).toMatchObject({ method: 'POST', path: '/v1/messages' });
    expect(fake().requests[0]?.headers).toEqual({
      host: new URL(fake().url).host,
      connection: 'keep-alive',
      'content-type': 'application/json',
      'content-length': expect.any(String),
      accept: 'application/json',
      'accept-encoding': 'identity',
      'anthropic-version': '2023-06-01',
      'anthropic-beta': 'context-1m-2025-08-07',
      'user-agent': 'tallygate',
      'x-api-key': KEY,
    });
    await other.close();
  });

  it('serves chat completions, and is not asked for anything else', () => {
    expect(provider().serves('/v1/chat/completions')).toBe(true);
    expect(provider().serves('/v1/embeddings')).toBe(false);
  });

  it.each([
    ['asks for sound', { modalities: ['audio'] }, 'modalities'],
    ['has arguments nested deeper than anybody can write', deeplyNested(), 'messages'],
  ])('is nothing where the request %s', async (_, request, param) => {
    expect(await chat({ request })).toMatchObject({ ok: false, kind: 'rejected', retryable: true, status: null, param });
    expect(fake().requests).toHaveLength(0);
  });
});

describe('a request that OpenAI would take', () => {
  it('is one that Anthropic takes, for every generation of models', async () => {
    const models = fc.constantFrom('claude-opus-4-8', 'claude-sonnet-4-6', 'claude-haiku-4-5');
    const bounds = fc.constantFrom(1, 1024, 1300, 60_000);
    await fc.assert(
      fc.asyncProperty(models, bounds, CHAT_REQUESTS, async (model, maxOutputTokens, request) => {
        const says = request.messages.some((message) => 'tool_calls' in message || contentBlocks(message.content).length > 0);
        const answer = await chat({ model, maxOutputTokens, request });
        if (answer.ok) answer.abort();
        else expect([says, answer.message]).toEqual([false, 'messages: at least one message is required']);
      }),
      { numRuns: 300 },
    );
  });
});

describe('an answer', () => {
  it('has parallel tool calls, plain and streamed alike, and takes their results', async () => {
    fake().script({ text: '', toolCalls: CALLS }, { text: '', toolCalls: CALLS });
    const { choices } = await plain({ request: { tools: [LOOK] } });
    const calls = choices[0]?.message.tool_calls ?? [];
    expect(calls.map((call) => call.function?.arguments)).toEqual(['{"city":"Köln"}', '{"city":"Bonn"}']);
    const chunks = await streamed({ request: { tools: [LOOK] } });
    const pieces = chunks.flatMap((chunk) => chunk.choices[0]?.delta.tool_calls ?? []);
    expect(pieces.filter((piece) => piece['id']).map(({ index, id }) => [index, id])).toEqual(calls.map(({ id }, index) => [index, id]));
    expect(chunks.at(-2)?.choices[0]?.finish_reason).toBe('tool_calls');

    const results = calls.map(({ id }) => ({ role: 'tool' as const, tool_call_id: id, content: 'rain' }));
    const question = { role: 'user' as const, content: 'Compare.' };
    const followUp = await plain({
      request: { tools: [LOOK], messages: [question, { role: 'assistant', content: null, tool_calls: calls }, ...results] },
    });
    expect(followUp.choices[0]?.finish_reason).toBe('stop');
  });

  it('thinks on after a tool call where its thoughts are sent back with the call', async () => {
    const request = { tools: [LOOK], reasoning_effort: 'low' };
    const question = { role: 'user' as const, content: 'Look.' };
    fake().script({ reasoning: 'I should look.', text: '', toolCalls: CALLS.slice(0, 1) });
    const message = (await plain({ model: 'claude-haiku-4-5', maxOutputTokens: 4096, request })).choices[0]?.message;
    expect(message).toMatchObject({ reasoning_content: 'I should look.', reasoning_details: [{ signature: expect.stringMatching(/./) }] });
    const result = { role: 'tool' as const, tool_call_id: message?.tool_calls?.[0]?.id ?? '', content: 'rain' };
    const messages: ChatCompletionRequest['messages'] = [question, { ...message, role: 'assistant' }, result];
    await plain({ model: 'claude-haiku-4-5', maxOutputTokens: 4096, request: { ...request, messages } });
    expect(fake().requests.at(-1)?.body).toMatchObject({
      thinking: { type: 'enabled' },
      messages: [{}, { content: [{ type: 'thinking', thinking: 'I should look.' }, { type: 'tool_use' }] }, {}],
    });
  });

  it.each([false, true])('counts reads and writes of the cache (streamed: %s)', async (isStreamed) => {
    fake().script(anthropicSteps.cached({ read: 3000, write5m: 500, write1h: 200 }));
    const usage = isStreamed ? (await streamed()).at(-1)?.usage : (await plain()).usage;
    expect(usage).toMatchObject({
      prompt_tokens: 3710,
      completion_tokens: 8,
      total_tokens: 3718,
      prompt_tokens_details: { cached_tokens: 3000, cache_write_tokens: 500, cache_write_1h_tokens: 200 },
    });
  });

  it('tells of a refusal, plain and streamed', async () => {
    fake().script(anthropicSteps.refusal('No.'), anthropicSteps.refusal('No.'));
    expect((await plain()).choices[0]).toMatchObject({ finish_reason: 'content_filter', message: { refusal: 'No.' } });
    const chunks = await streamed();
    expect(chunks.at(-2)?.choices[0]?.finish_reason).toBe('content_filter');
    expect(chunks.flatMap(({ choices }) => choices[0]?.delta['refusal'] ?? [])).toEqual(['No.']);
  });

  it('comes whole from pieces cut anywhere, with pings between and CRLF', async () => {
    const text = 'Grüß dich, 世界 👋';
    const joined = async () => (await streamed()).map(({ choices }) => choices[0]?.delta.content ?? '').join('');
    fake().script({ text, ...steps.split(1) }, { text, ...steps.split(7), ...steps.crlf(), ...steps.pings() });
    expect(await joined()).toBe(text);
    expect(await joined()).toBe(text);
  });

  it('sees pictures, documents and shapes, and the fake provider has nothing against the request', async () => {
    const { choices } = await plain({
      request: {
        messages: [
          {
            role: 'user',
            content: [
              { type: 'text', text: 'Read.' },
              { type: 'image_url', image_url: { url: 'https://example.com/a.png' } },
              { type: 'file', file: { filename: 'a.pdf', file_data: 'data:application/pdf;base64,JVBERg==' } },
            ],
          },
        ],
        response_format: {
          type: 'json_schema',
          json_schema: {
            name: 'x',
            schema: { type: 'object', properties: { stars: { type: 'integer', minimum: 1 } }, required: ['stars'] },
          },
        },
      },
    });
    expect(JSON.parse(choices[0]?.message.content ?? '')).toEqual({ stars: expect.any(Number) });
  });
});

describe('what goes wrong', () => {
  it('before an answer is a fault: 429 with the time to come back, overload, an empty account, a bad request', async () => {
    fake().script(
      anthropicSteps.rateLimited(7),
      anthropicSteps.overloaded(),
      anthropicSteps.invalid('Your credit balance is too low to access the Anthropic API.'),
      anthropicSteps.invalid('messages.0: something is wrong'),
      anthropicSteps.refused(401, 'authentication_error', `invalid x-api-key ${KEY}`),
    );
    expect(await chat()).toMatchObject({ kind: 'rate_limited', retryable: true, status: 429, retryAfterMs: 7000 });
    expect(await chat()).toMatchObject({ kind: 'failed', retryable: true, status: 529, code: 'overloaded_error', message: 'Overloaded' });
    expect(await chat()).toMatchObject({ kind: 'failed', retryable: true, status: 400 });
    expect(await chat()).toMatchObject({ kind: 'rejected', retryable: false, status: 400, param: 'messages.0' });
    expect(await chat()).toMatchObject({ kind: 'failed', status: 401, message: 'invalid x-api-key [redacted]' });
  });

  it('in the middle of a stream is OpenAI’s error in place of the rest', async () => {
    fake().script(steps.errorMidStream(4));
    const text = await pumped(await ask({ stream: true }));
    expect(text.split('\n\n').at(-2)).toMatch(
      /^data: {"error":{"message":"Overloaded","type":"server_error","param":null,"code":"overloaded_error"}}$/,
    );
    expect(text).not.toContain('[DONE]');
  });

  it.each(['reset', 'fin', 'garbage'] as const)(
    'in the middle of a stream is a cut, with what the prompt came to still known: %s',
    async (how) => {
      fake().script({ ...anthropicSteps.cached({ read: 3000 }), ...steps.cutStream(4, how) });
      const answer = await ask({ stream: true });
      await expect(answer.pump(() => {})).rejects.toMatchObject({ name: 'UpstreamCut', reason: 'reset' });
      expect(answer.usageSoFar?.()).toMatchObject({ prompt_tokens: 3010, prompt_tokens_details: { cached_tokens: 3000 } });
    },
  );

  it('is a stream that stalls, a stream without its end, and a plain answer that breaks off', async () => {
    fake().script(steps.cutStream(4, 'stall'), steps.withoutDone(), steps.cutBody('reset'));
    await expect((await ask({ stream: true, idleTimeoutMs: 50 })).pump(() => {})).rejects.toMatchObject({ reason: 'idle_timeout' });
    await expect((await ask({ stream: true })).pump(() => {})).rejects.toMatchObject({ reason: 'reset' });
    await expect((await ask()).collect(MAX_BYTES)).rejects.toMatchObject({ reason: 'reset' });
  });

  it('is an answer of another API, left as it is for the relay to refuse', async () => {
    fake().script(steps.malformedJson(), { body: { hello: 'world' } });
    expect((await (await ask()).collect(MAX_BYTES)).toString()).toBe('{"id": "chatcmpl-1", "choices": [');
    expect((await (await ask()).collect(MAX_BYTES)).toString()).toBe('{"hello":"world"}');
  });
});

function deeplyNested(): Partial<ChatCompletionRequest> {
  const args = `{"a":${'['.repeat(100_000)}${']'.repeat(100_000)}}`;
  const calls = [{ id: 'x', type: 'function', function: { name: 'look', arguments: args } }];
  return {
    messages: [
      { role: 'user', content: 'a' },
      { role: 'assistant', content: null, tool_calls: calls },
    ],
  };
}
