import { ChatCompletion, type ChatCompletionRequest } from '@tallygate/contract';
import { bedrockSteps, startFakeUpstream, steps } from '@tallygate/fake-upstream';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { againstFakeUpstream, KEY, MAX_BYTES, NOW } from '../against-fake-upstream.ts';
import { contentBlocks } from '../anthropic/content.ts';
import { describeUpstreamConformance } from '../conformance.ts';
import { type CallOverrides, chatCall, chunksOf, pumped } from '../conformance-calls.ts';
import { CHAT_REQUESTS, LOOK } from '../testing/chat-requests.ts';
import type { BedrockOptions } from './api.ts';
import { bedrock } from './bedrock.ts';
import { signerFor } from './signing.ts';
import { bedrockAt, REGION } from './testing/bedrock-at-fake.ts';

const IDENTITY = { accessKeyId: 'AKIDEXAMPLE', secretAccessKey: 'wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY' };

const NOVA = 'eu.amazon.nova-2-lite-v1:0';
const origin = (url: string): string => new URL(url).origin;

describe.each([NOVA, 'meta.llama4-scout-17b-instruct-v1:0'])('%s', (model) => {
  describeUpstreamConformance('the Bedrock adapter', async () => {
    const fake = await startFakeUpstream();
    return { provider: bedrockAt({ name: 'fake', baseUrl: fake.url }), model, hasOneChoiceOnly: true, close: fake.close };
  });
});

const { fake, provider, chat, ask } = againstFakeUpstream(bedrockAt, NOVA);
const plain = async (overrides: CallOverrides = {}) =>
  ChatCompletion.parse(JSON.parse((await (await ask(overrides)).collect(MAX_BYTES)).toString()));
const streamed = async (overrides: CallOverrides = {}) => chunksOf(await pumped(await ask({ ...overrides, stream: true })));
const CALLS = [
  { name: 'look', arguments: '{"city":"Köln"}' },
  { name: 'look', arguments: '{"city":"Bonn"}' },
];

describe('what is sent', () => {
  it('has only headers of our own, with the key', async () => {
    await chat();
    expect(fake().requests[0]).toMatchObject({ method: 'POST', path: '/model/eu.amazon.nova-2-lite-v1%3A0/converse' });
    expect(fake().requests[0]?.headers).toEqual({
      host: new URL(fake().url).host,
      connection: 'keep-alive',
      'content-type': 'application/json',
      'content-length': expect.any(String),
      accept: 'application/json',
      'accept-encoding': 'identity',
      'user-agent': 'tallygate',
      authorization: `Bearer ${KEY}`,
    });
  });

  it.each([NOVA, 'arn:aws:bedrock:eu-central-1:123456789012:application-inference-profile/abc123'])(
    'is signed without a key, as it arrives: %s',
    async (model) => {
      const signing = provideSigning();
      // Its bytes go out in pieces.
      await signing.call(chatCall(model, { request: { messages: [{ role: 'user', content: 'ä'.repeat(200_000) }] } }));
      const { path, headers, rawBody } = fake().requests[0] ?? { path: '', headers: {}, rawBody: Buffer.alloc(0) };
      const sign = await signerFor({ baseUrl: origin(fake().url), region: REGION, clock: { now: () => NOW } });
      const sent = { 'content-type': String(headers['content-type']), accept: String(headers.accept) };
      const { authorization } = await sign({ method: 'POST', path, headers: sent, body: rawBody }, IDENTITY);
      expect(rawBody.length).toBeGreaterThan(400_000);
      expect(headers.authorization).toBe(authorization);
      await signing.close();
    },
  );

  it('is nothing where no credentials can be had, or the request cannot be told to a model of Bedrock', async () => {
    const without = provideSigning(() => Promise.reject(new Error('no provider has any')));
    expect(await without.call(chatCall(NOVA))).toMatchObject({
      kind: 'failed',
      retryable: true,
      status: null,
      message: expect.stringContaining('no provider has'),
    });
    const picture = [{ type: 'image_url' as const, image_url: { url: 'https://example.com/a.png' } }];
    expect(await chat({ request: { messages: [{ role: 'user', content: picture }] } })).toMatchObject({
      ...{ kind: 'rejected', retryable: true, status: null, param: 'messages' },
    });
    expect(fake().requests).toHaveLength(0);
    await without.close();
  });

  it('is signed by others once the credentials are refused', async () => {
    let fetched = 0;
    const signing = provideSigning(async () => ({ ...IDENTITY, sessionToken: `number-${++fetched}` }));
    fake().script(bedrockSteps.tokenExpired());
    expect(await signing.call(chatCall(NOVA))).toMatchObject({ kind: 'failed', retryable: true, status: 403 });
    expect(await signing.call(chatCall(NOVA))).toMatchObject({ ok: true });
    expect(fake().requests.map(({ headers }) => headers['x-amz-security-token'])).toEqual(['number-1', 'number-2']);
    await signing.close();
  });

  it('is one that Converse takes, whatever OpenAI would take', async () => {
    const models = fc.constantFrom(
      NOVA,
      'arn:aws:bedrock:us-east-1:123456789012:application-inference-profile/abc123',
      'mistral.mistral-large-3-675b-instruct',
      'openai.gpt-oss-120b-1:0',
    );
    await fc.assert(
      fc.asyncProperty(models, CHAT_REQUESTS, async (model, request) => {
        const says = request.messages.some((message) => 'tool_calls' in message || contentBlocks(message.content).length > 0);
        const answer = await chat({ model, request });
        if (answer.ok) answer.abort();
        else expect([says, answer.message]).toEqual([false, expect.stringContaining('messages is empty')]);
      }),
      { numRuns: 300 },
    );
  });

  const provideSigning = (credentials: BedrockOptions['credentials'] = async () => IDENTITY) =>
    bedrock({ name: 'fake', baseUrl: origin(fake().url), region: REGION, credentials, clock: { now: () => NOW } });
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

    const results = calls.map(({ id }) => ({ role: 'tool' as const, tool_call_id: id, content: '' }));
    const question = { role: 'user' as const, content: 'Compare.' };
    const messages: ChatCompletionRequest['messages'] = [question, { role: 'assistant', content: null, tool_calls: calls }, ...results];
    expect((await plain({ request: { tools: [LOOK], messages } })).choices[0]?.finish_reason).toBe('stop');
  });

  it('has the first call alone where parallel calls are declined', async () => {
    const request = { tools: [LOOK], parallel_tool_calls: false };
    fake().script({ text: '', toolCalls: CALLS }, { text: '', toolCalls: CALLS });
    expect((await plain({ request })).choices[0]?.message.tool_calls).toHaveLength(1);
    const pieces = (await streamed({ request })).flatMap((chunk) => chunk.choices[0]?.delta.tool_calls ?? []);
    expect(new Set(pieces.map(({ index }) => index))).toEqual(new Set([0]));
  });

  it.each([false, true])('has thoughts with their signatures, which go back with the call (streamed: %s)', async (isStreamed) => {
    fake().script({
      ...bedrockSteps.saying({ redactedContent: 'aGlkZGVu' }),
      reasoning: 'I should look.',
      text: '',
      toolCalls: CALLS.slice(1),
    });
    const request = { tools: [LOOK] };
    const deltas = isStreamed ? (await streamed({ request })).flatMap(({ choices }) => choices.map(({ delta }) => delta)) : [];
    const message = isStreamed ? deltas.find((delta) => delta['reasoning_details']) : (await plain({ request })).choices[0]?.message;
    expect(message?.['reasoning_details']).toMatchObject([
      { data: 'aGlkZGVu' },
      { text: 'I should look.', signature: expect.stringMatching(/./) },
    ]);
    const messages: ChatCompletionRequest['messages'] = [
      { role: 'user', content: 'Look.' },
      { role: 'assistant', content: 'So.', reasoning_details: message?.['reasoning_details'] },
      { role: 'user', content: 'And?' },
    ];
    await plain({ request: { messages } });
    expect(fake().requests.at(-1)?.body).toMatchObject({
      messages: [
        {},
        { content: [{ reasoningContent: { redactedContent: 'aGlkZGVu' } }, { reasoningContent: { reasoningText: {} } }, { text: 'So.' }] },
        {},
      ],
    });
  });

  it.each([false, true])('counts reads and writes of the cache (streamed: %s)', async (isStreamed) => {
    fake().script(bedrockSteps.cached({ read: 3000, write5m: 500, write1h: 200 }));
    const usage = isStreamed ? (await streamed()).at(-1)?.usage : (await plain()).usage;
    expect(usage).toMatchObject({
      prompt_tokens: 3710,
      completion_tokens: 8,
      total_tokens: 3718,
      prompt_tokens_details: { cached_tokens: 3000, cache_write_tokens: 500, cache_write_1h_tokens: 200 },
    });
  });

  it.each([
    ['guardrail_intervened', 'content_filter'],
    ['content_filtered', 'content_filter'],
    ['model_context_window_exceeded', 'length'],
    ['stop_sequence', 'stop'],
    ['malformed_tool_use', 'stop'],
  ])('that ended for %s ends for %s, plain and streamed', async (stopReason, reason) => {
    fake().script(bedrockSteps.saying({ stopReason }), bedrockSteps.saying({ stopReason }));
    expect((await plain()).choices[0]?.finish_reason).toBe(reason);
    expect((await streamed()).at(-2)?.choices[0]?.finish_reason).toBe(reason);
  });

  it('comes whole from pieces cut anywhere', async () => {
    const text = 'Grüß dich, 世界 👋';
    const joined = async () => (await streamed()).map(({ choices }) => choices[0]?.delta.content ?? '').join('');
    fake().script({ text, ...steps.split(1) }, { text, ...steps.split(7) });
    expect(await joined()).toBe(text);
    expect(await joined()).toBe(text);
  });

  it('sees pictures, documents, marks for the cache and thinks, and the provider has nothing against the request', async () => {
    const mark = { cache_control: { type: 'ephemeral', ttl: '1h' } };
    const content = [
      { type: 'image_url' as const, image_url: { url: 'data:image/jpg;base64,/9j/' } },
      { type: 'file' as const, file: { filename: 'a  b.pdf', file_data: 'data:application/pdf;base64,JVBERg==' }, ...mark },
      { type: 'file' as const, file: { filename: 'a.txt', file_data: 'data:text/plain;base64,SGk=' } },
    ];
    const request = { messages: [{ role: 'user' as const, content }], reasoning_effort: 'high' };
    expect((await plain({ request })).choices[0]?.message).toMatchObject({ reasoning_content: 'Let me think.' });
    expect(fake().requests[0]?.body).toMatchObject({
      messages: [
        {
          content: [
            { image: { format: 'jpeg', source: { bytes: '/9j/' } } },
            { document: { format: 'pdf', name: 'Document 1' } },
            { cachePoint: { type: 'default' } },
            { document: { format: 'txt', name: 'Document 2', source: { bytes: 'SGk=' } } },
            { text: expect.any(String) },
          ],
        },
      ],
      additionalModelRequestFields: { reasoningConfig: { type: 'enabled', maxReasoningEffort: 'medium' } },
    });
    await chat({ model: 'meta.llama3-1-8b-instruct-v1:0', request });
    expect(JSON.stringify(fake().requests[1]?.body)).not.toMatch(/cachePoint|additionalModelRequestFields/);
  });
});

describe('what goes wrong', () => {
  it.each([
    [bedrockSteps.throttled(), { kind: 'rate_limited', retryable: true, status: 429, code: 'ThrottlingException' }],
    [bedrockSteps.modelTimeout(), { kind: 'failed', retryable: true, status: 408, code: 'ModelTimeoutException' }],
    [bedrockSteps.unavailable(), { kind: 'failed', retryable: true, status: 503, code: 'ServiceUnavailableException' }],
    [bedrockSteps.refused(424, 'ModelErrorException', 'The model failed.'), { kind: 'failed', retryable: true, status: 424 }],
    [bedrockSteps.refused(400, 'ServiceQuotaExceededException', 'Your quota.'), { kind: 'failed', retryable: true, status: 400 }],
    [bedrockSteps.invalid('The provided model identifier is invalid.'), { kind: 'failed', retryable: true, status: 400 }],
    [bedrockSteps.invalid('The value at temperature is wrong.'), { kind: 'rejected', code: 'ValidationException', param: null }],
    [
      bedrockSteps.invalid('Input is too long for requested model.'),
      { kind: 'rejected', retryable: false, status: 400, code: 'context_length_exceeded', param: 'messages' },
    ],
    [
      { status: 403, body: { __type: 'com.amazon.coral.service#UnrecognizedClientException', message: `The key ${KEY} is invalid.` } },
      { kind: 'failed', status: 403, code: 'UnrecognizedClientException', message: 'The key [redacted] is invalid.' },
    ],
  ])('before an answer is a fault: %o', async (step, fault) => {
    fake().script(step);
    expect(await chat()).toMatchObject(fault);
  });

  it('in the middle of a stream is OpenAI’s error in place of the rest', async () => {
    fake().script(steps.errorMidStream(4));
    const text = await pumped(await ask({ stream: true }));
    expect(text.split('\n\n').at(-2)).toMatch(
      /^data: {"error":{"message":"The model failed.","type":"server_error","param":null,"code":"modelStreamErrorException"}}$/,
    );
    expect(text).not.toContain('[DONE]');
  });

  it('is an error of the connection that AWS tells of in the stream, and an exception before anything else', async () => {
    const error = { ':message-type': 'error', ':error-code': 'InternalFailure', ':error-message': 'Gone.' };
    fake().script(bedrockSteps.stream(bedrockSteps.framed(error, '')));
    expect(await pumped(await ask({ stream: true }))).toContain(
      '"message":"Gone.","type":"server_error","param":null,"code":"InternalFailure"',
    );
    fake().script(bedrockSteps.stream(bedrockSteps.exceptionFrame('throttlingException', { message: 'Wait.' })));
    expect(await pumped(await ask({ stream: true }))).toContain('"code":"throttlingException"');
    const message = 'Input is too long for requested model.';
    fake().script(bedrockSteps.stream(bedrockSteps.exceptionFrame('validationException', { message })));
    expect(await pumped(await ask({ stream: true }))).toContain('"code":"context_length_exceeded"');
  });

  it.each(['reset', 'fin', 'garbage'] as const)('in the middle of a stream is a cut: %s', async (how) => {
    fake().script(steps.cutStream(4, how));
    await expect((await ask({ stream: true })).pump(() => {})).rejects.toMatchObject({ name: 'UpstreamCut', reason: 'reset' });
  });

  it('is a stream that stalls, one without its usage, one that ends in a message, one of other bytes', async () => {
    const whole = bedrockSteps.frame('messageStart', { role: 'assistant' });
    fake().script(steps.cutStream(4, 'stall'), steps.withoutDone(), bedrockSteps.stream(whole.subarray(0, 20)), {
      body: 'data: {}\n\n',
      headers: {},
    });
    await expect((await ask({ stream: true, idleTimeoutMs: 50 })).pump(() => {})).rejects.toMatchObject({ reason: 'idle_timeout' });
    for (let times = 0; times < 3; times += 1)
      await expect((await ask({ stream: true })).pump(() => {})).rejects.toMatchObject({ reason: 'reset' });
  });

  it('is a message that is garbled: what comes behind it is passed on no more, but counted', async () => {
    fake().script({ inserted: { at: 4, event: bedrockSteps.garbled() } });
    expect(await pumped(await ask({ stream: true }))).toContain('data: unreadable');
    fake().script({ padding: 3_000_000, paddingAt: 4 });
    const answer = await ask({ stream: true });
    await expect(answer.pump(() => {})).rejects.toMatchObject({ reason: 'too_large', found: { usage: { completion_tokens: 8 } } });
  });

  it('is an answer of another API, left as it is for the relay to refuse', async () => {
    fake().script(steps.malformedJson(), { body: { hello: 'world' } });
    expect((await (await ask()).collect(MAX_BYTES)).toString()).toBe('{"id": "chatcmpl-1", "choices": [');
    expect((await (await ask()).collect(MAX_BYTES)).toString()).toBe('{"hello":"world"}');
  });

  it('is an endpoint that Bedrock is not asked for', () => {
    expect(provider().serves('/v1/images/generations')).toBe(false);
  });
});
