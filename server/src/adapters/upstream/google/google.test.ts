import { ChatCompletion, type ChatCompletionRequest, EmbedContentRequest, GenerateContentRequest } from '@tallygate/contract';
import { googleSteps, startFakeUpstream, steps } from '@tallygate/fake-upstream';
import { describe, expect, it } from 'vitest';
import { againstFakeUpstream, KEY, MAX_BYTES } from '../against-fake-upstream.ts';
import { describeUpstreamConformance } from '../conformance.ts';
import { answered, type CallOverrides, chatCall, chunksOf, pumped } from '../conformance-calls.ts';
import type { UpstreamCall } from '../port.ts';
import { google } from './index.ts';

const baseUrlOf = (url: string): string => new URL('/v1beta', url).href;

describe.each(['gemini-2.5-pro', 'gemini-3.5-flash'])('%s', (model) => {
  describeUpstreamConformance('the Google adapter', async () => {
    const fake = await startFakeUpstream();
    return { provider: google({ name: 'fake', baseUrl: baseUrlOf(fake.url) }), model, close: fake.close };
  });
});

const MODEL = 'gemini-3.5-flash';
const { fake, provider, provide, chat, ask } = againstFakeUpstream(
  (options) => google({ ...options, baseUrl: baseUrlOf(options.baseUrl) }),
  MODEL,
);
const plain = async (overrides: CallOverrides = {}) =>
  ChatCompletion.parse(JSON.parse((await (await ask(overrides)).collect(MAX_BYTES)).toString()));
const streamed = async (overrides: CallOverrides = {}) => chunksOf(await pumped(await ask({ ...overrides, stream: true })));
const LOOK = { type: 'function', function: { name: 'look', parameters: { type: 'object', properties: { city: { type: 'string' } } } } };
const CALLS = [
  { name: 'look', arguments: '{"city":"Köln"}' },
  { name: 'look', arguments: '{"city":"Bonn"}' },
];

describe('what is sent', () => {
  it('has only headers of our own, and the key among them rather than in the URL', async () => {
    const other = provide({ headers: { 'X-Goog-User-Project': 'mine' } });
    await other.call(chatCall(MODEL));
    expect(fake().requests[0]).toMatchObject({ method: 'POST', path: `/v1beta/models/${MODEL}:generateContent` });
    expect(fake().requests[0]?.headers).toEqual({
      host: new URL(fake().url).host,
      connection: 'keep-alive',
      'content-type': 'application/json',
      'content-length': expect.any(String),
      accept: 'application/json, text/event-stream',
      'accept-encoding': 'identity',
      'user-agent': 'tallygate',
      'x-goog-api-key': KEY,
      'x-goog-user-project': 'mine',
    });
    await other.close();
  });

  it('is nothing where the request asks for what Google cannot do; another provider may', async () => {
    expect(await chat({ request: { logit_bias: { '7': 1 } } })).toMatchObject({
      ok: false,
      kind: 'rejected',
      retryable: true,
      status: null,
      param: 'logit_bias',
    });
    expect(fake().requests).toHaveLength(0);
  });

  it('is nothing where the arguments of a call are nested deeper than anybody can write', async () => {
    const text = `${'{"a":'.repeat(200_000)}1${'}'.repeat(200_000)}`;
    const tool_calls = [{ id: 'a', type: 'function', function: { name: 'look', arguments: text } }];
    const messages: ChatCompletionRequest['messages'] = [
      { role: 'user', content: 'x' },
      { role: 'assistant', tool_calls },
    ];
    expect(await chat({ request: { messages } })).toMatchObject({ ok: false, kind: 'rejected', param: 'messages' });
  });
});

describe('a loop with tools', () => {
  const USER = { role: 'user', content: 'Weather in Köln and Bonn?' } as const;
  type Calls = ChatCompletion['choices'][number]['message']['tool_calls'];
  const turn = (message: object, calls: Calls): Partial<ChatCompletionRequest> => ({
    tools: [LOOK],
    messages: [
      USER,
      { ...message, role: 'assistant' },
      ...(calls ?? []).map(({ id }) => ({ role: 'tool' as const, tool_call_id: id, content: 'sun' })),
    ],
  });

  it('goes on from the model’s own thoughts, plain and streamed, where the caller sends back what came', async () => {
    fake().script({ text: '', toolCalls: CALLS, google: { thoughtSignature: 'c2lnbmVk' } });
    const [choice] = (await plain({ request: { messages: [USER], tools: [LOOK] } })).choices;
    await plain({ request: turn(choice?.message ?? {}, choice?.message.tool_calls) });
    expect(Object(fake().requests[1]?.body).contents[1].parts).toEqual([
      { functionCall: { id: choice?.message.tool_calls?.[0]?.id, name: 'look', args: { city: 'Köln' } }, thoughtSignature: 'c2lnbmVk' },
      { functionCall: { id: choice?.message.tool_calls?.[1]?.id, name: 'look', args: { city: 'Bonn' } } },
    ]);

    fake().script({ text: '', toolCalls: CALLS, google: { thoughtSignature: 'c3RyZWFt', callIds: true } });
    const pieces = (await streamed({ request: { messages: [USER], tools: [LOOK] } })).flatMap(
      ({ choices }) => choices[0]?.delta.tool_calls ?? [],
    );
    const calls = ChatCompletion.shape.choices.element.shape.message.shape.tool_calls.parse(pieces);
    await plain({ request: turn({ content: null, tool_calls: calls }, calls) });
    expect(Object(fake().requests[3]?.body).contents[1].parts[0]).toMatchObject({
      functionCall: { id: 'google-call-0' },
      thoughtSignature: 'c3RyZWFt',
    });
  });

  it('goes on without them where the caller’s library knows OpenAI’s fields alone', async () => {
    fake().script({ text: '', toolCalls: CALLS, google: { thoughtSignature: 'c2lnbmVk' } });
    const [choice] = (await plain({ request: { messages: [USER], tools: [LOOK] } })).choices;
    const calls = choice?.message.tool_calls?.map(({ id, type, function: called }) => ({ id, type, ...(called && { function: called }) }));
    const { choices } = await plain({ request: turn({ content: null, tool_calls: calls }, calls) });
    expect(choices[0]?.finish_reason).toBe('stop');
  });
});

describe('what is answered', () => {
  it('tells thoughts apart and counts them as output, cached tokens as part of the input', async () => {
    const step = { reasoning: 'Let me think.', ...googleSteps.usage({ cachedContentTokenCount: 6 }) };
    fake().script(step, step);
    const { choices, usage } = await plain();
    expect(choices[0]?.message['reasoning_content']).toBe('Let me think.');
    const expected = {
      prompt_tokens: 10,
      completion_tokens: 11,
      total_tokens: 21,
      prompt_tokens_details: { cached_tokens: 6 },
      completion_tokens_details: { reasoning_tokens: 3 },
    };
    expect(usage).toEqual(expected);
    expect((await streamed()).at(-1)?.usage).toEqual(expected);
  });

  it('is a refusal where Google blocked the prompt, plain and streamed', async () => {
    fake().script(googleSteps.saying({ blockReason: 'SAFETY' }), googleSteps.saying({ blockReason: 'SAFETY' }));
    expect((await plain()).choices[0]).toMatchObject({ finish_reason: 'content_filter', message: { refusal: expect.any(String) } });
    expect((await streamed()).flatMap(({ choices }) => choices[0]?.finish_reason ?? [])).toEqual(['content_filter']);
  });

  it('streams parallel calls whole, each with its own index and id', async () => {
    fake().script({ text: 'I will look.', toolCalls: CALLS });
    const chunks = await streamed({ request: { tools: [LOOK] } });
    const calls = chunks.flatMap(({ choices }) => choices[0]?.delta.tool_calls ?? []);
    expect(calls.map(({ index }) => index)).toEqual([0, 1]);
    expect(new Set(calls.map((call) => call['id'])).size).toBe(2);
    expect(chunks.flatMap(({ choices }) => choices[0]?.finish_reason ?? [])).toEqual(['tool_calls']);
  });

  it('is the same however the bytes are cut, with either line end', async () => {
    fake().script({}, { ...steps.split(1) }, { lineEnd: '\n', pieceBytes: [3, 1, 7] });
    const [whole, ...others] = [await streamed(), await streamed(), await streamed()];
    const textOf = (chunks: typeof whole) => chunks?.map(({ choices }) => choices[0]?.delta.content ?? '').join('');
    for (const chunks of others) expect(textOf(chunks)).toBe(textOf(whole));
  });

  it('that is no answer is passed on as it is, for the reader to refuse', async () => {
    fake().script({ body: '<html>' }, { body: { candidates: 'none' } });
    expect((await (await ask()).collect(MAX_BYTES)).toString()).toContain('<html>');
    expect(JSON.parse((await (await ask()).collect(MAX_BYTES)).toString())).toEqual({ candidates: 'none' });
  });

  it('with a usage that is none has none, so that the gateway counts itself', async () => {
    fake().script(googleSteps.saying({ usage: () => undefined }), googleSteps.saying({ usage: () => ({ promptTokenCount: 'ten' }) }));
    expect((await plain()).usage).toBeUndefined();
    expect((await plain()).usage).toBeUndefined();
  });
});

describe('what goes wrong', () => {
  it('before the answer is a fault: our key’s and Google’s own retryable, the request’s not', async () => {
    fake().script(googleSteps.keyInvalid(), googleSteps.overloaded(), googleSteps.invalid('Bad contents.'), googleSteps.exhausted('7.5s'));
    expect(await chat()).toMatchObject({ kind: 'failed', retryable: true, status: 400, code: 'API_KEY_INVALID' });
    expect(await chat({ stream: true })).toMatchObject({ kind: 'failed', retryable: true, status: 503 });
    expect(await chat()).toMatchObject({ kind: 'rejected', retryable: false, message: 'Bad contents.' });
    expect(await chat({ stream: true })).toMatchObject({ kind: 'rate_limited', retryable: true, retryAfterMs: 7500 });
  });

  it('by a header says when to come again as well', async () => {
    fake().script({ ...googleSteps.exhausted('60s'), headers: { 'retry-after': '2' } });
    expect(await chat()).toMatchObject({ kind: 'rate_limited', retryAfterMs: 2000 });
  });

  it('never repeats the key', async () => {
    fake().script(googleSteps.refused(403, 'PERMISSION_DENIED', `The key ${KEY} may not.`));
    expect(await chat()).toMatchObject({ kind: 'failed', message: 'The key [redacted] may not.' });
  });

  it('in the middle of a stream is an error event, behind what was said', async () => {
    fake().script(steps.errorMidStream(2));
    const text = await pumped(await ask({ stream: true }));
    expect(text).toContain('"content":"tok0"');
    expect(text).toMatch(/data: \{"error":\{"message":"The model is overloaded[^\n]+\n\n$/);
  });

  it('at the end of a stream is a cut: closed without a reason to end, or broken off', async () => {
    for (const step of [{ done: false }, steps.cutStream(3, 'reset'), steps.cutStream(3, 'fin')]) {
      fake().script(step);
      await expect(pumped(await ask({ stream: true }))).rejects.toMatchObject({ name: 'UpstreamCut', reason: 'reset' });
    }
  });
});

describe('embeddings', () => {
  const embed = async (request: object) => {
    const { signal, firstByteTimeoutMs, idleTimeoutMs } = chatCall(MODEL);
    const call = {
      signal,
      firstByteTimeoutMs,
      idleTimeoutMs,
      stream: false,
      maxOutputTokens: null,
      model: 'gemini-embedding-001',
    } as const;
    return provider().call({ ...call, endpoint: '/v1/embeddings', request: { model: 'm', input: 'x', ...request } });
  };

  it('are served, a vector for each text', async () => {
    expect(provider().serves('/v1/embeddings')).toBe(true);
    const answer = await embed({ input: ['a', 'b'], dimensions: 4 });
    expect(answer.ok && JSON.parse((await answer.collect(MAX_BYTES)).toString())).toMatchObject({
      data: [{ index: 0, embedding: [0.5, 0.5, 0.5, 0.5] }, { index: 1 }],
    });
    expect(fake().requests[0]?.path).toBe('/v1beta/models/gemini-embedding-001:batchEmbedContents');
  });

  it('of tokens are refused', async () => {
    expect(await embed({ input: [1, 2] })).toMatchObject({ ok: false, kind: 'rejected', param: 'input' });
  });
});

it('serves nothing else', async () => {
  expect(provider().serves('/v1/images/generations')).toBe(false);
  const answer = await answered(provider(), chatCall('tunedModels/my-model')).catch((error: Error) => error.message);
  expect(answer).toContain('/v1beta/tunedModels/my-model');
});

describe('a request in Google’s own words', () => {
  const contents = [{ role: 'user' as const, parts: [{ text: 'Hi.' }] }];
  const contentCall = (fields: object = {}, stream = false): UpstreamCall => ({
    ...{ endpoint: '/v1beta/models:generateContent', model: MODEL, stream, maxOutputTokens: 100, signal: new AbortController().signal },
    ...{ firstByteTimeoutMs: 5_000, idleTimeoutMs: 5_000 },
    request: GenerateContentRequest.parse({ contents, models: ['other'], store: true, ...fields }),
  });

  const passedBy = async (call: UpstreamCall) => {
    const answer = await provider().call(call);
    if (!answer.ok) throw new Error(answer.message);
    return answer;
  };

  it('passes as it is, with the bound that is held and without what the gateway reads', async () => {
    const fields = { safetySettings: [], generationConfig: { maxOutputTokens: 5_000, topK: 3, thinkingConfig: { thinkingBudget: 0 } } };
    await passedBy(contentCall(fields));
    expect(fake().requests[0]?.body).toEqual({
      ...{ contents, safetySettings: [] },
      generationConfig: { maxOutputTokens: 100, topK: 3, thinkingConfig: { thinkingBudget: 0 } },
    });
  });

  it('has Google’s own answer and events, byte by byte', async () => {
    const body = '{ "candidates":[{}], "a_field_of_next_year": 1e2 }';
    const events = 'data: {"x": 1e2}\r\n\r\n';
    fake().script({ body }, { body: events, headers: { 'content-type': 'text/event-stream' } });
    expect(String(await (await passedBy(contentCall())).collect(MAX_BYTES))).toBe(body);
    expect(await pumped(await passedBy(contentCall({}, true)))).toBe(events);
    expect(fake().requests.map(({ path }) => path.split(':')[1])).toEqual(['generateContent', 'streamGenerateContent?alt=sse']);
  });

  it('is told that a call was another model’s, where Google demands a signature', async () => {
    const called = { role: 'model' as const, parts: [{ functionCall: { name: 'look', args: {} } }] };
    const given = { role: 'user' as const, parts: [{ functionResponse: { name: 'look', response: { output: 'sun' } } }] };
    await passedBy(contentCall({ contents: [...contents, called, given] }));
    expect(JSON.stringify(fake().requests[0]?.body)).toContain('"thoughtSignature":"skip_thought_signature_validator"');
  });

  it('asks for vectors with all that Google knows of them', async () => {
    const request = EmbedContentRequest.parse({ model: 'x', content: { parts: [{ text: 'Hi.' }] }, taskType: 'CLUSTERING' });
    const call = (fields: object) =>
      ({ ...contentCall(), maxOutputTokens: null, model: 'gemini-embedding-001', ...fields }) as UpstreamCall;
    await passedBy(call({ endpoint: '/v1beta/models:embedContent', request }));
    await passedBy(call({ endpoint: '/v1beta/models:batchEmbedContents', request: { requests: [request] } }));
    const { model: _, ...sent } = request;
    expect(fake().requests.map(({ body }) => body)).toEqual([sent, { requests: [{ ...sent, model: 'models/gemini-embedding-001' }] }]);
  });
});
