import { ChatCompletion, type ChatCompletionRequest } from '@tallygate/contract';
import { Ajv2020 } from 'ajv/dist/2020.js';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { describeUpstreamConformance } from '../conformance.ts';
import { answered, chatCall, chunksOf, pumped } from '../conformance-calls.ts';
import type { ChatCall, UpstreamCall } from '../port.ts';
import { createSandboxProvider } from './index.ts';
import { fileOf } from './testing/files.ts';
import { countTokens, tokensOf } from './tokens.ts';

describeUpstreamConformance('The sandbox provider', async () => ({ provider: createSandboxProvider(), model: 'gpt-4o-mini' }));

const NOW = Date.parse('2026-11-21T08:00:00.000Z');
const sandbox = createSandboxProvider({ clock: { now: () => NOW }, nonce: () => 'once' });

type Overrides = Parameters<typeof chatCall>[1] & { model?: string };
const call = ({ model = 'gpt-4o-mini', ...overrides }: Overrides = {}): ChatCall => chatCall(model, overrides);
const body = async (overrides: Overrides = {}) => (await answered(sandbox, call(overrides))).collect(10_000_000);
const plain = async (overrides: Overrides = {}) => ChatCompletion.parse(JSON.parse((await body(overrides)).toString()));
const streamed = async (overrides: Overrides = {}) => chunksOf(await pumped(await answered(sandbox, call({ ...overrides, stream: true }))));
const outcome = (overrides: Overrides = {}) => sandbox.call(call(overrides));
const cutReason = async (overrides: Overrides) => {
  const answer = await answered(sandbox, call(overrides));
  const parts: Buffer[] = [];
  const reason = await answer
    .pump((part) => void parts.push(part))
    .then(
      () => 'none',
      (error) => error.reason,
    );
  return { reason, text: Buffer.concat(parts).toString() };
};

const user = (content: ChatCompletionRequest['messages'][number]['content']) => ({ messages: [{ role: 'user' as const, content }] });
const tool = (name: string, parameters?: Record<string, unknown>) => ({
  type: 'function',
  function: { name, ...(parameters && { parameters }) },
});
const contentOf = ({ choices }: ChatCompletion) => choices[0]?.message.content;
const jsonFormat = (schema: Record<string, unknown>) => ({ type: 'json_schema' as const, json_schema: { name: 'shape', schema } });

describe('answers of the sandbox', () => {
  it('are the same to the byte for the same request but for their ids, which are those of no other answer', async () => {
    const again = createSandboxProvider({ clock: { now: () => NOW }, nonce: () => 'once' });
    const one = await body({ request: { n: 2, logprobs: true } });
    const other = await (await answered(again, call({ request: { n: 2, logprobs: true } }))).collect(1_000_000);
    expect(other.equals(one)).toBe(true);
    expect((await plain({ request: user('Another.') })).id).not.toBe((await plain()).id);
    const usual = createSandboxProvider({ clock: { now: () => NOW } });
    const request = { ...user('Call it.'), tools: [tool('it')], tool_choice: 'required' as const };
    const answers = await Promise.all(
      [1, 2].map(async () =>
        ChatCompletion.parse(JSON.parse((await (await answered(usual, call({ request }))).collect(1_000_000)).toString())),
      ),
    );
    const ids = answers.flatMap(({ id, choices }) => [id, ...(choices[0]?.message.tool_calls ?? []).map((made) => made.id)]);
    expect([ids.length, new Set(ids).size]).toEqual([4, 4]);
    const [first, second] = answers.map(({ choices }) => choices[0]?.message.tool_calls?.map((made) => ({ ...made, id: '' })));
    expect(first).toEqual(second);
  });

  it('have every key that OpenAI requires, nulls included', async () => {
    expect(await plain({ request: user('Say hello.') })).toEqual({
      id: expect.stringMatching(/^chatcmpl-[0-9a-f]{32}$/),
      object: 'chat.completion',
      created: NOW / 1000,
      model: 'gpt-4o-mini',
      service_tier: 'default',
      system_fingerprint: expect.any(String),
      choices: [
        {
          index: 0,
          message: {
            role: 'assistant',
            content: expect.stringMatching(/^You said: "Say hello\."\. .*sandbox/),
            refusal: null,
            annotations: [],
          },
          logprobs: null,
          finish_reason: 'stop',
        },
      ],
      usage: {
        prompt_tokens: expect.any(Number),
        completion_tokens: expect.any(Number),
        total_tokens: expect.any(Number),
        prompt_tokens_details: { cached_tokens: 0, audio_tokens: 0 },
        completion_tokens_details: { reasoning_tokens: 0, audio_tokens: 0, accepted_prediction_tokens: 0, rejected_prediction_tokens: 0 },
      },
    });
  });

  it('say the same streamed as plain, word by word', async () => {
    for (const request of [{}, { n: 3 }, { stop: 'comes' }, { tools: [tool('f', { properties: { a: {}, b: { type: 'number' } } })] }]) {
      const { choices, usage } = await plain({ request });
      const chunks = await streamed({ request });
      for (const { index, message, finish_reason } of choices) {
        const parts = chunks.flatMap((chunk) => chunk.choices.filter((choice) => choice.index === index));
        expect(parts.map(({ delta }) => delta.content ?? '').join('')).toBe(message.content ?? '');
        const pieces = parts.flatMap(({ delta }) => delta.tool_calls ?? []);
        expect(pieces.map((piece) => Object(piece['function'])['arguments']).join('')).toBe(
          message.tool_calls?.[0]?.function?.arguments ?? '',
        );
        expect(pieces.flatMap((piece) => piece['id'] ?? [])).toEqual(message.tool_calls?.map(({ id }) => id) ?? []);
        expect(parts.at(-1)?.finish_reason).toBe(finish_reason);
        expect(parts.length).toBeGreaterThan(4);
      }
      expect(chunks.at(-1)?.usage).toEqual(usage);
    }
  });

  it('quote a bounded beginning of what was said, also of a text that is huge or not well-formed', async () => {
    expect(contentOf(await plain({ request: user('A \n\t line') }))).toContain('"A line"');
    for (const text of ['x'.repeat(5_000_000), '\ud83d'.repeat(500), '👋'.repeat(5_000), ' '.repeat(100_000), '']) {
      expect(contentOf(await plain({ maxOutputTokens: 10_000, request: user(text) }))?.length).toBeLessThan(1_000);
    }
  });

  it('end before the first stop sequence', async () => {
    const request = { ...user('one two'), stop: ['', 'sandbox', ' two'] };
    expect(contentOf(await plain({ request }))).toBe('You said: "one');
    expect((await plain({ request })).choices[0]?.finish_reason).toBe('stop');
  });

  it('never go beyond the bound, in any mode, and say "length" where they are cut', async () => {
    const modes: Partial<ChatCompletionRequest>[] = [
      {},
      { reasoning_effort: 'high' },
      { tools: [tool('get_weather', { properties: { city: { type: 'string' } } }), tool('get_time')], ...user('get_weather and get_time') },
      { response_format: jsonFormat({ type: 'array', items: { type: 'string' }, minItems: 20 }) },
    ];
    await fc.assert(
      fc.asyncProperty(fc.nat(120), fc.integer({ min: 1, max: 4 }), fc.constantFrom(...modes), async (maxOutputTokens, n, mode) => {
        const { choices, usage } = await plain({ maxOutputTokens, request: { n, ...mode } });
        const said = choices.map(({ message }) =>
          [
            message.content ?? '',
            ...(message.tool_calls ?? []).flatMap((one) => [one.function?.name ?? '', one.function?.arguments ?? '']),
          ].reduce((sum, text) => sum + countTokens(text), 0),
        );
        const reasoning = usage?.completion_tokens_details?.reasoning_tokens ?? 0;
        expect(usage?.completion_tokens).toBe(said.reduce((sum, tokens) => sum + tokens, reasoning));
        expect(usage?.completion_tokens).toBeLessThanOrEqual(maxOutputTokens * n);
        const [first] = choices;
        if (first?.finish_reason === 'stop' && mode.response_format) expect(JSON.parse(first.message.content ?? '')).toHaveLength(20);
      }),
      { numRuns: 60 },
    );
  });

  it('are empty at a bound of 0', async () => {
    const { choices, usage } = await plain({ maxOutputTokens: 0, model: 'o4-mini', request: { tools: [tool('f')] } });
    expect(choices[0]).toMatchObject({ finish_reason: 'length', message: { content: '' } });
    expect(usage?.completion_tokens).toBe(0);
  });

  it('give each token a probability, and alternatives whose probabilities stay below 1 together', async () => {
    const { choices } = await plain({ request: { logprobs: true, top_logprobs: 5 } });
    const logprobs = Object(choices[0]?.logprobs);
    expect(logprobs.refusal).toBeNull();
    expect(logprobs.content.map(({ token }: { token: string }) => token)).toEqual(tokensOf(choices[0]?.message.content ?? ''));
    for (const { token, logprob, bytes, top_logprobs } of logprobs.content) {
      expect(Buffer.from(bytes).toString()).toBe(token);
      expect(top_logprobs).toHaveLength(5);
      expect(top_logprobs[0]).toEqual({ token, logprob, bytes });
      expect(top_logprobs.reduce((sum: number, one: { logprob: number }) => sum + Math.exp(one.logprob), 0)).toBeLessThan(1);
    }
    const chunks = await streamed({ request: { logprobs: true, top_logprobs: 5 } });
    expect(chunks.flatMap((chunk) => chunk.choices.flatMap((choice) => Object(choice['logprobs']).content ?? []))).toEqual(
      logprobs.content,
    );
  });

  it.each(['o4-mini', 'gpt-5.4-nano', 'deepseek-v4-pro', 'openai/gpt-5.6-sol'])('reason where the model does: %s', async (model) => {
    const { usage } = await plain({ model });
    expect(usage?.completion_tokens_details?.reasoning_tokens).toBe(32);
    expect(usage?.completion_tokens).toBeGreaterThan(32);
  });

  it('reason where an effort is asked for, and not where it is "none"', async () => {
    const reasoning = async (model: string, reasoning_effort: string) =>
      (await plain({ model, request: { reasoning_effort } })).usage?.completion_tokens_details?.reasoning_tokens;
    expect(await reasoning('gpt-4o-mini', 'low')).toBe(16);
    expect(await reasoning('o4-mini', 'none')).toBe(0);
    expect(await reasoning('o4-mini', 'toString')).toBe(32);
  });

  it('refuse a request that is nested too deeply to be written down, instead of failing', async () => {
    const deep = Array.from({ length: 200_000 }).reduce<unknown>((inner) => [inner], 0);
    const result = await outcome({ request: { deep } as Partial<ChatCompletionRequest> });
    if (!result.ok) expect(result).toMatchObject({ kind: 'rejected', retryable: false });
  });
});

describe('tools in the sandbox', () => {
  const tools = [
    tool('get_weather', { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] }),
    tool('get_time'),
    tool('add'),
  ];
  const called = async (request: Partial<ChatCompletionRequest>) =>
    (await plain({ request: { tools, ...request } })).choices[0]?.message.tool_calls?.map((one) => one.function?.name);

  it('are called: the first, unless the user names others', async () => {
    expect(await called({})).toEqual(['get_weather']);
    expect(await called(user('What does get_time say?'))).toEqual(['get_time']);
    expect(await called(user('Call get_weather and add, at this address.'))).toEqual(['get_weather', 'add']);
    expect(await called(user('My address, please'))).toEqual(['get_weather']);
  });

  it('are called as `tool_choice` and `parallel_tool_calls` say', async () => {
    expect(await called({ tool_choice: 'none' })).toBeUndefined();
    expect(await called({ tool_choice: 'required' })).toEqual(['get_weather']);
    expect(await called({ tool_choice: { type: 'function', function: { name: 'add' } } })).toEqual(['add']);
    expect(
      await called({
        tool_choice: { type: 'allowed_tools', allowed_tools: { mode: 'auto', tools: [{ type: 'function', function: { name: 'add' } }] } },
      }),
    ).toEqual(['add']);
    expect(await called({ ...user('get_weather, then add'), parallel_tool_calls: false })).toEqual(['get_weather']);
  });

  it('get an answer that quotes their results', async () => {
    const call1 = { id: 'call_1', type: 'function', function: { name: 'get_weather', arguments: '{}' } };
    const messages: ChatCompletionRequest['messages'] = [
      { role: 'user', content: 'Weather?' },
      { role: 'assistant', content: null, tool_calls: [call1] },
      { role: 'tool', tool_call_id: 'call_1', content: '18 °C' },
      { role: 'tool', tool_call_id: 'call_2', content: [{ type: 'text', text: 'sunny' }] },
    ];
    const { choices } = await plain({ request: { tools, tool_choice: 'required', messages } });
    expect(choices[0]).toMatchObject({
      finish_reason: 'stop',
      message: { content: expect.stringMatching(/^The tools answered: "18 °C", "sunny"\./) },
    });
  });

  it('have ids of their own in every choice', async () => {
    const { choices } = await plain({ request: { n: 3, tools, ...user('get_time and add') } });
    const ids = choices.flatMap(({ message }) => message.tool_calls?.map(({ id }) => id) ?? []);
    expect(new Set(ids).size).toBe(6);
  });

  it('are refused, by name, where they cannot be called', async () => {
    expect(await outcome({ request: { tools, tool_choice: { type: 'function', function: { name: 'missing' } } } })).toMatchObject({
      kind: 'rejected',
      retryable: false,
      param: 'tool_choice',
    });
    expect(await outcome({ request: { tool_choice: 'required' } })).toMatchObject({ kind: 'rejected', param: 'tool_choice' });
    expect(await outcome({ request: { tools: [tool('f', { properties: { a: { $ref: '#/x' } }, required: ['a'] })] } })).toMatchObject({
      kind: 'rejected',
      param: 'tools[0].function.parameters',
      message: expect.stringContaining('#/x'),
    });
  });
});

describe('response_format in the sandbox', () => {
  it('makes an object of `json_object`', async () => {
    const answer = contentOf(await plain({ request: { response_format: { type: 'json_object' } } }));
    expect(JSON.parse(answer ?? '')).toEqual({ answer: expect.stringContaining('You said'), sandbox: true });
  });

  it('makes a valid value of `json_schema`, recursive ones included', async () => {
    const schema = {
      type: 'object',
      properties: {
        title: { type: 'string', maxLength: 8 },
        parts: { type: 'array', items: { $ref: '#' } },
        kind: { anyOf: [{ const: 'x' }, { type: 'null' }] },
      },
      required: ['title', 'parts', 'kind'],
      additionalProperties: false,
    };
    const answer = contentOf(await plain({ request: { response_format: jsonFormat(schema) } }));
    expect(new Ajv2020().validate(schema, JSON.parse(answer ?? ''))).toBe(true);
  });

  it('breaks the JSON off at the bound, as a model does', async () => {
    const whole = contentOf(await plain({ request: { response_format: { type: 'json_object' } } }));
    const { choices } = await plain({ maxOutputTokens: 5, request: { response_format: { type: 'json_object' } } });
    expect(choices[0]?.finish_reason).toBe('length');
    expect(whole?.startsWith(choices[0]?.message.content ?? '?')).toBe(true);
  });

  it('refuses a schema that nothing can satisfy, naming the field', async () => {
    expect(
      await outcome({ request: { response_format: jsonFormat({ type: 'object', required: ['a'], additionalProperties: false }) } }),
    ).toMatchObject({
      kind: 'rejected',
      status: 400,
      param: 'response_format.json_schema.schema',
      code: 'invalid_json_schema',
    });
  });
});

describe('attachments in the sandbox', () => {
  const GIF = 'R0lGODlhAgADAAAAACH5BAEKAAEALAAAAAABAAEAAAICTAEAOw==';
  const image = (url: string) => ({ type: 'image_url' as const, image_url: { url } });

  it('are acknowledged with type and size, and links are not followed', async () => {
    const parts = [
      { type: 'text' as const, text: 'Look.' },
      image(`data:image/png;base64,${GIF}`),
      image('https://sandbox.invalid/a.png'),
      image('data:image/svg+xml;charset=utf-8;base64,PHN2Zy8+'),
      { type: 'input_audio' as const, input_audio: { data: 'UklGRg==', format: 'wav' } },
      { type: 'file' as const, file: { filename: 'report.pdf' } },
      { type: 'video_url' as const, video_url: { url: 'https://sandbox.invalid/a.mp4' } },
    ];
    expect(contentOf(await plain({ request: user(parts) }))).toMatch(
      /^You said: "Look\."\. I see 3 images \(image\/gif of 2 × 3 pixels, a link that was not followed, image\/svg\+xml\)\. I hear 1 sound \(wav of 4 bytes\)\. I have 1 file \(report\.pdf\)\. I see 1 video /,
    );
  });

  it.each([
    'data:image/png;base64,%%%',
    'data:image/png;base64,',
    'data:image/png;base64,aGVsbG8=',
    'data:image/png,raw',
    'data:text/plain;base64,aGVsbG8=',
    'data:image/png',
    'file:///etc/passwd',
    'ftp://example.com/a.png',
    'https://',
    'nonsense',
  ])('are refused where they are broken: %s', async (url) => {
    const messages = [...user('First.').messages, ...user([{ type: 'text', text: 'Then.' }, image(url)]).messages];
    expect(await outcome({ request: { messages } })).toMatchObject({
      kind: 'rejected',
      retryable: false,
      status: 400,
      param: 'messages[1].content[1].image_url',
      code: 'invalid_image_url',
      message: expect.stringMatching(/^Invalid image/),
    });
  });

  it('are refused where a sound is not base64', async () => {
    const part = { type: 'input_audio' as const, input_audio: { data: '~', format: 'wav' } };
    expect(await outcome({ request: user([part]) })).toMatchObject({ kind: 'rejected', param: 'messages[0].content[0].input_audio' });
  });
});

describe('faults of the sandbox', () => {
  it.each([
    ['429', { kind: 'rate_limited', status: 429, retryable: true, retryAfterMs: null }],
    ['429;retry-after=2', { kind: 'rate_limited', status: 429, retryable: true, retryAfterMs: 2000 }],
    ['500', { kind: 'failed', status: 500, retryable: true }],
    ['503', { kind: 'failed', status: 503, retryable: true }],
    ['400', { kind: 'rejected', status: 400, retryable: false }],
    ['no such fault', { kind: 'rejected', status: 400, retryable: false, message: expect.stringContaining('Valid: ') }],
  ])('%s is no answer but a fault', async (sandboxFault, fault) => {
    expect(await outcome({ sandboxFault })).toMatchObject({ ok: false, ...fault });
  });

  it('timeout and a first byte that is too slow end at the first-byte timeout, not before', async () => {
    for (const sandboxFault of ['timeout', 'slow-first-byte;ms=50000']) {
      const before = performance.now();
      expect(await outcome({ sandboxFault, firstByteTimeoutMs: 30 })).toMatchObject({
        ok: false,
        kind: 'timeout',
        status: null,
        retryable: true,
      });
      expect(performance.now() - before).toBeGreaterThanOrEqual(28);
    }
  });

  it('a slow first byte in time is an answer', async () => {
    const before = performance.now();
    expect((await plain({ sandboxFault: 'slow-first-byte;ms=30' })).object).toBe('chat.completion');
    expect(performance.now() - before).toBeGreaterThanOrEqual(28);
  });

  it('a caller who hangs up during the wait gets "cancelled" at once, and close ends every wait', async () => {
    const caller = new AbortController();
    const waiting = outcome({ sandboxFault: 'timeout', firstByteTimeoutMs: 600_000, signal: caller.signal });
    caller.abort();
    expect(await waiting).toMatchObject({ ok: false, kind: 'cancelled', retryable: false });
    const closing = createSandboxProvider();
    const pending = closing.call(call({ sandboxFault: 'timeout', firstByteTimeoutMs: 600_000 }));
    const stalled = (await answered(closing, call({ sandboxFault: 'stall', stream: true, idleTimeoutMs: 600_000 }))).pump(() => undefined);
    await closing.close();
    expect(await pending).toMatchObject({ ok: false, kind: 'failed' });
    await expect(stalled).rejects.toMatchObject({ reason: 'aborted' });
  });

  it('cut and stall break a stream off after so many content chunks, and never let it end', async () => {
    const contents = (text: string) => text.split('\n\n').filter((event) => /"delta":\{"content"/.test(event)).length;
    for (const after of [0, 1, 3]) {
      const cut = await cutReason({ stream: true, sandboxFault: `cut;after=${after}` });
      expect([cut.reason, contents(cut.text)]).toEqual(['reset', after]);
      const stall = await cutReason({ stream: true, sandboxFault: `stall;after=${after}`, idleTimeoutMs: 20 });
      expect([stall.reason, contents(stall.text)]).toEqual(['idle_timeout', after]);
    }
    const late = await cutReason({ stream: true, sandboxFault: 'cut;after=5000' });
    expect(late.reason).toBe('reset');
    expect(late.text).not.toContain('"finish_reason":"stop"');
  });

  it('cut and stall break a plain body off in the middle', async () => {
    for (const [sandboxFault, reason] of Object.entries({ cut: 'reset', stall: 'idle_timeout' })) {
      const result = await cutReason({ sandboxFault, idleTimeoutMs: 20 });
      expect(result.reason).toBe(reason);
      expect(result.text).toMatch(/^\{"id"/);
      expect(() => JSON.parse(result.text)).toThrow(SyntaxError);
    }
  });

  it('error-event ends a stream with an error that OpenAI clients throw, and no [DONE]', async () => {
    const text = await pumped(await answered(sandbox, call({ stream: true, sandboxFault: 'error-event;after=2' })));
    const events = text
      .trim()
      .split('\n\n')
      .map((event) => JSON.parse(event.slice('data: '.length)));
    expect(events).toHaveLength(4);
    expect(events.at(-1)).toEqual({ error: { message: expect.any(String), type: 'server_error', param: null, code: 'sandbox_fault' } });
    expect(JSON.parse((await body({ sandboxFault: 'error-event' })).toString())).toHaveProperty('error.type', 'server_error');
  });

  it('malformed is a 200 that is not JSON', async () => {
    const garbage = (await body({ sandboxFault: 'malformed' })).toString();
    expect(() => JSON.parse(garbage)).toThrow(SyntaxError);
    const text = await pumped(await answered(sandbox, call({ stream: true, sandboxFault: 'malformed' })));
    expect(() => chunksOf(text)).toThrow(SyntaxError);
  });

  it('no-usage leaves the usage out', async () => {
    expect(await plain({ sandboxFault: 'no-usage' })).not.toHaveProperty('usage');
    expect((await streamed({ sandboxFault: 'no-usage' })).filter(({ usage }) => usage)).toEqual([]);
  });

  it('overrun bills more than the bound', async () => {
    for (const maxOutputTokens of [0, 100]) {
      const { usage } = await plain({ sandboxFault: 'overrun', maxOutputTokens, request: { n: 2 } });
      expect(usage?.completion_tokens).toBe(4 * maxOutputTokens + 16);
      expect(usage?.total_tokens).toBe((usage?.prompt_tokens ?? 0) + (usage?.completion_tokens ?? 0));
    }
  });

  it('slow puts a gap between chunks, and a gap beyond the idle timeout is a stall', async () => {
    const before = performance.now();
    const chunks = await streamed({ sandboxFault: 'slow;ms=5', maxOutputTokens: 4 });
    expect(performance.now() - before).toBeGreaterThanOrEqual(chunks.length * 4);
    expect((await cutReason({ stream: true, sandboxFault: 'slow;ms=500', idleTimeoutMs: 10 })).reason).toBe('idle_timeout');
  });
});

describe('every endpoint of the sandbox', () => {
  const timeouts = { firstByteTimeoutMs: 5000, idleTimeoutMs: 5000 };
  const usual = { model: 'any', stream: false, ...timeouts, signal: new AbortController().signal } as const;
  const file = fileOf('file', Buffer.alloc(100));
  const movie = fileOf('video', Buffer.from('\0\0\0\x18ftypmp42'));
  const calls: UpstreamCall[] = [
    { ...usual, endpoint: '/v1/chat/completions', maxOutputTokens: 64, request: { model: 'x', ...user('Hello.') } },
    { ...usual, endpoint: '/v1/completions', maxOutputTokens: 64, request: { model: 'x', prompt: 'Hello.' } },
    { ...usual, endpoint: '/v1/responses', maxOutputTokens: 64, request: { model: 'x', input: 'Hello.' } },
    { ...usual, endpoint: '/v1/embeddings', maxOutputTokens: null, request: { model: 'x', input: 'Hello.' } },
    { ...usual, endpoint: '/v1/rerank', maxOutputTokens: null, request: { model: 'x', query: 'Hello?', documents: ['Hello.'] } },
    { ...usual, endpoint: '/v1/moderations', maxOutputTokens: null, request: { model: 'x', input: 'Hello.' } },
    { ...usual, endpoint: '/v1/images/generations', maxOutputTokens: null, request: { model: 'x', prompt: 'Hello.', size: '64x64' } },
    { ...usual, endpoint: '/v1/images/edits', maxOutputTokens: null, request: { model: 'x', prompt: 'Hello.', size: '64x64' } },
    { ...usual, endpoint: '/v1/images/variations', maxOutputTokens: null, request: { model: 'x', size: '64x64' } },
    { ...usual, endpoint: '/v1/audio/speech', maxOutputTokens: null, request: { model: 'x', input: 'Hello.', voice: 'alloy' } },
    { ...usual, endpoint: '/v1/audio/transcriptions', maxOutputTokens: null, request: { model: 'x' }, files: [file] },
    { ...usual, endpoint: '/v1/audio/translations', maxOutputTokens: null, request: { model: 'x' }, files: [file] },
    { ...usual, endpoint: '/v1/videos', maxOutputTokens: null, request: { model: 'x', prompt: 'Hello.' } },
    { ...usual, endpoint: '/v1/videos/characters', maxOutputTokens: null, request: { model: 'x', name: 'Ada' }, files: [movie] },
  ];

  it.each(calls)('$endpoint is served, answers, and has the faults that every endpoint has', async (one) => {
    expect(sandbox.serves(one.endpoint)).toBe(true);
    const answer = async (sandboxFault?: string) => {
      const result = await sandbox.call({ ...one, sandboxFault });
      if (!result.ok) throw new Error(result.message);
      return result;
    };
    const whole = await (await answer()).collect(10_000_000);
    expect(whole.length).toBeGreaterThan(0);
    expect(await sandbox.call({ ...one, sandboxFault: '429;retry-after=1' })).toMatchObject({ kind: 'rate_limited', retryAfterMs: 1000 });
    expect(await sandbox.call({ ...one, sandboxFault: 'timeout', firstByteTimeoutMs: 5 })).toMatchObject({ kind: 'timeout' });
    expect(await sandbox.call({ ...one, signal: AbortSignal.abort() })).toMatchObject({ kind: 'cancelled' });
    await expect((await answer('cut')).collect(10_000_000)).rejects.toMatchObject({ reason: 'reset' });
    const slow = await (await answer('slow;ms=1')).collect(10_000_000);
    if (one.endpoint !== '/v1/videos') expect(slow.equals(whole)).toBe(true);
    expect((await (await answer('malformed')).collect(1000)).toString()).toMatch(/^<html>/);
    expect(JSON.parse((await (await answer('error-event')).collect(1000)).toString())).toHaveProperty('error.code', 'sandbox_fault');
  });

  it('ends with its provider, also where a job is looked at', async () => {
    const closing = createSandboxProvider();
    await closing.close();
    for (const one of calls) expect(await closing.call(one)).toMatchObject({ ok: false, kind: 'failed' });
    expect(await closing.read?.({ method: 'GET', path: '/videos/video_1', ...timeouts, signal: usual.signal })).toMatchObject({
      kind: 'failed',
    });
  });
});

describe('refusals and custom tools of the sandbox', () => {
  it('refuses in words when asked to, plain and streamed, within the bound', async () => {
    const { choices } = await plain({ sandboxFault: 'refusal' });
    expect(choices[0]).toMatchObject({ finish_reason: 'stop', message: { content: null, refusal: expect.stringMatching(/^I'm sorry/) } });
    const chunks = await streamed({ sandboxFault: 'refusal' });
    expect(chunks.flatMap((chunk) => chunk.choices.map(({ delta }) => delta['refusal'] ?? '')).join('')).toBe(choices[0]?.message.refusal);
    expect((await plain({ sandboxFault: 'refusal', maxOutputTokens: 2 })).choices[0]?.finish_reason).toBe('length');
  });

  it('calls a custom tool with any text, or with one that matches its regular expression', async () => {
    const grammar = { syntax: 'regex', definition: '[a-z]{3}-\\d{2}' };
    const tools = [
      { type: 'custom', custom: { name: 'note' } },
      { type: 'custom', custom: { name: 'code', format: { type: 'grammar', grammar } } },
    ];
    const { choices } = await plain({ request: { tools, ...user('note and code') } });
    const calls = (choices[0]?.message.tool_calls ?? []).map((one) => Object(one));
    expect(calls.map(({ type, custom }) => [type, custom.name])).toEqual([
      ['custom', 'note'],
      ['custom', 'code'],
    ]);
    expect(calls[1]?.custom.input).toMatch(/^[a-z]{3}-\d{2}$/);
    const chunks = await streamed({ request: { tools, ...user('code') } });
    const inputs = chunks.flatMap((chunk) => chunk.choices.flatMap(({ delta }) => delta.tool_calls ?? []));
    expect(inputs.map((one) => Object(one).custom.input).join('')).toBe(calls[1]?.custom.input);
  });
});
