import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type FakeUpstream, type Step, startFakeUpstream, steps } from './index.ts';

let fake: FakeUpstream;
beforeAll(async () => {
  fake = await startFakeUpstream();
});
afterAll(() => fake.close());
beforeEach(() => fake.reset());

const MESSAGES = [{ role: 'user', content: 'Say hello.' }];
const post = (body: object, signal?: AbortSignal): Promise<Response> =>
  fetch(`${fake.url}/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'm', messages: MESSAGES, ...body }),
    ...(signal && { signal }),
  });
const streamed = async (body: object = {}): Promise<string> =>
  (await post({ stream: true, stream_options: { include_usage: true }, ...body })).text();
const eventsOf = (text: string) =>
  text
    .split(/\r?\n\r?\n/)
    .filter((event) => event.startsWith('data: {'))
    .map((event) => JSON.parse(event.slice(6)));

describe('the default answer', () => {
  it('is a chat completion of eight words with exact usage', async () => {
    const answer = await (await post({})).json();
    expect(answer).toMatchObject({
      object: 'chat.completion',
      model: 'm',
      choices: [{ index: 0, finish_reason: 'stop', message: { role: 'assistant', content: 'tok0 tok1 tok2 tok3 tok4 tok5 tok6 tok7' } }],
      usage: { prompt_tokens: 10, completion_tokens: 8, total_tokens: 18 },
    });
  });

  it('streams the same text: role first, one event a token, finish, usage, [DONE]', async () => {
    const text = await streamed();
    const events = eventsOf(text);
    expect(events).toHaveLength(1 + 8 + 1 + 1);
    expect(events[0].choices[0].delta).toMatchObject({ role: 'assistant', content: '' });
    expect(
      events
        .slice(1, 9)
        .map((event) => event.choices[0].delta.content)
        .join(''),
    ).toBe('tok0 tok1 tok2 tok3 tok4 tok5 tok6 tok7');
    expect(events[9].choices[0]).toMatchObject({ delta: {}, finish_reason: 'stop' });
    expect(events[10]).toMatchObject({ choices: [], usage: { completion_tokens: 8 } });
    expect(events.slice(0, 10).every((event) => event.usage === null)).toBe(true);
    expect(text.endsWith('data: [DONE]\n\n')).toBe(true);
  });

  it('leaves usage out of a stream that does not ask for it', async () => {
    expect(await (await post({ stream: true })).text()).not.toContain('usage');
  });

  it('honours the smaller of both token bounds', async () => {
    const answer = await (await post({ max_tokens: 5, max_completion_tokens: 3 })).json();
    expect(answer).toMatchObject({
      choices: [{ finish_reason: 'length', message: { content: 'tok0 tok1 tok2' } }],
      usage: { completion_tokens: 3 },
    });
  });

  it('exceeds the bound on request', async () => {
    fake.script({ tokens: 50, exceedsBound: true });
    expect(await (await post({ max_tokens: 5 })).json()).toMatchObject({ usage: { completion_tokens: 50 } });
  });

  it('gives every choice of n > 1, plain and streamed, and counts them all', async () => {
    const answer = await (await post({ n: 3 })).json();
    expect(answer).toMatchObject({ choices: [{ index: 0 }, { index: 1 }, { index: 2 }], usage: { completion_tokens: 24 } });
    const events = eventsOf(await streamed({ n: 2 }));
    expect(new Set(events.flatMap((event) => event.choices.map((choice: { index: number }) => choice.index)))).toEqual(new Set([0, 1]));
  });

  it('calls the tool it must call, with arguments that fit its schema', async () => {
    const tools = [
      { type: 'function', function: { name: 'weather', parameters: { type: 'object', properties: { city: { type: 'string' } } } } },
    ];
    const answer = await (await post({ tools, tool_choice: 'required' })).json();
    expect(answer).toMatchObject({
      choices: [
        {
          finish_reason: 'tool_calls',
          message: { content: null, tool_calls: [{ type: 'function', function: { name: 'weather', arguments: '{"city":"text"}' } }] },
        },
      ],
      usage: { completion_tokens: 3 },
    });
    const deltas = eventsOf(await streamed({ tools, tool_choice: 'required' })).flatMap(
      (event) => event.choices[0]?.delta.tool_calls ?? [],
    );
    expect(deltas[0]).toMatchObject({ index: 0, type: 'function', function: { name: 'weather' } });
    expect(deltas.map((delta) => delta.function.arguments).join('')).toBe('{"city":"text"}');
  });

  it('fills in the JSON Schema it is given', async () => {
    const schema = {
      type: 'object',
      properties: { name: { type: 'string' }, age: { type: 'integer' }, tags: { type: 'array', items: { enum: ['a', 'b'] } } },
    };
    const answer = await (await post({ response_format: { type: 'json_schema', json_schema: { name: 'person', schema } } })).json();
    expect(JSON.parse(answer.choices[0].message.content)).toEqual({ name: 'text', age: 1, tags: ['a'] });
  });

  it('sends reasoning before the text and counts it', async () => {
    fake.script({ reasoning: 'let me think', text: 'done' }, { reasoning: 'let me think', text: 'done' });
    expect(await (await post({})).json()).toMatchObject({
      choices: [{ message: { reasoning_content: 'let me think', content: 'done' } }],
      usage: { completion_tokens: 4, completion_tokens_details: { reasoning_tokens: 3 } },
    });
    expect(eventsOf(await streamed())[1].choices[0].delta).toEqual({ reasoning_content: 'let' });
  });

  it('gives log probabilities where they are asked for', async () => {
    const answer = await (await post({ logprobs: true })).json();
    expect(answer.choices[0].logprobs.content).toHaveLength(8);
  });
});

describe('a script', () => {
  it('answers one request a step, then the default again', async () => {
    fake.script(steps.serverError(503), steps.rateLimited({ seconds: 7, ms: 6500 }));
    expect((await post({})).status).toBe(503);
    const limited = await post({});
    expect([limited.status, limited.headers.get('retry-after'), limited.headers.get('retry-after-ms')]).toEqual([429, '7', '6500']);
    expect((await post({})).status).toBe(200);
  });

  it('can be a function of the request', async () => {
    fake.script(({ body }) => (JSON.stringify(body).includes('"model":"bad"') ? steps.refused(400, 'No.') : undefined));
    expect((await post({ model: 'bad' })).status).toBe(400);
    expect((await post({ model: 'good' })).status).toBe(200);
  });

  it.each<[string, Step, object | undefined]>([
    ['missing', steps.usageMissing(), undefined],
    ['zero', steps.usageZero(), { prompt_tokens: 0, completion_tokens: 0 }],
    ['negative', steps.usageNegative(), { prompt_tokens: -5 }],
    ['strings', steps.usageStrings(), { prompt_tokens: '10' }],
    ['absurd', steps.usageAbsurd(), { completion_tokens: 1e308 }],
    [
      'with more cached tokens than prompt tokens',
      steps.usageCachedAbovePrompt(),
      { prompt_tokens: 10, prompt_tokens_details: { cached_tokens: 11 } },
    ],
  ])('makes usage %s', async (_, step, expected) => {
    fake.script(step);
    const { usage } = await (await post({})).json();
    expect(usage).toEqual(expected && expect.objectContaining(expected));
  });

  it('puts usage on the last choice chunk, or on every chunk', async () => {
    fake.script({ usageAt: 'last_choice' }, { usageAt: 'every_chunk' });
    const last = eventsOf(await streamed()).at(-1);
    expect(last).toMatchObject({ choices: [{ finish_reason: 'stop' }], usage: { completion_tokens: 8 } });
    expect(eventsOf(await streamed()).every((event) => event.usage.completion_tokens === 8)).toBe(true);
  });

  it('writes streams with CRLF, comments and without [DONE], composed by spreading', async () => {
    fake.script({ ...steps.crlf(), ...steps.pings(), ...steps.withoutDone() });
    const text = await streamed();
    expect(text.startsWith(': ping\r\n\r\ndata: {')).toBe(true);
    expect(text).not.toContain('[DONE]');
    expect(text.replaceAll('\r\n', '')).not.toMatch(/[\r\n]/);
  });

  it('cuts a body into pieces without changing its bytes', async () => {
    fake.script({ text: 'grüße 👋', ...steps.split(1) }, { text: 'grüße 👋', pieceBytes: [3, 1, 7] }, { text: 'grüße 👋' });
    const bodies = [await streamed(), await streamed(), await streamed()].map((body) => body.replaceAll(/fake-\d+/g, ''));
    expect(bodies[0]).toBe(bodies[2]);
    expect(bodies[1]).toBe(bodies[2]);
  });

  it('puts an error event in place of the rest', async () => {
    fake.script(steps.errorMidStream(3));
    const text = await streamed();
    expect(eventsOf(text)).toHaveLength(4);
    expect(text.trimEnd().split('\n').at(-1)).toContain('"error"');
  });

  it.each<[string, Step]>([
    ['before the head', steps.resetBeforeHead()],
    ['after the head', steps.resetAfterHead()],
    ['by a reset amid the body', steps.cutBody('reset')],
    ['by a close amid the body', steps.cutBody('fin')],
  ])('breaks the connection %s', async (_, step) => {
    fake.script(step);
    const arrival = fake.nextRequest();
    await expect(post({}).then((response) => response.text())).rejects.toThrow();
    expect(await (await arrival).ended).toBe('cut');
  });

  it.each(['fin', 'reset', 'garbage'] as const)('breaks a stream by %s after the events that were let through', async (how) => {
    fake.script(steps.cutStream(3, how));
    const { body } = await post({ stream: true });
    let text = '';
    const read = async (): Promise<void> => {
      for await (const part of body ?? []) text += new TextDecoder().decode(part);
    };
    await expect(read()).rejects.toThrow();
    expect(eventsOf(text)).toHaveLength(3);
  });

  it('sends bodies that are no completion', async () => {
    fake.script(steps.malformedJson(), steps.emptyBody(), steps.html(), steps.hugeBody(100_000));
    await expect((await post({})).json()).rejects.toThrow();
    expect(await (await post({})).text()).toBe('');
    expect((await post({})).headers.get('content-type')).toBe('text/html');
    expect((await (await post({})).text()).length).toBeGreaterThan(100_000);
  });
});

describe('the record', () => {
  it('keeps what arrived', async () => {
    await post({ temperature: 1 });
    expect(fake.requests).toHaveLength(1);
    expect(fake.requests[0]).toMatchObject({ method: 'POST', path: '/v1/chat/completions', body: { temperature: 1 }, aborted: false });
    expect(await fake.requests[0]?.ended).toBe('answered');
  });

  it('reports that the client disconnected from a stalled stream', async () => {
    fake.script(steps.cutStream(2, 'stall'));
    const abort = new AbortController();
    await post({ stream: true }, abort.signal);
    abort.abort();
    expect(await fake.requests[0]?.ended).toBe('aborted');
    expect(fake.requests[0]?.aborted).toBe(true);
  });
});

it('answers in the shapes of OpenAI where nothing is scripted', async () => {
  expect(await (await fetch(`${fake.url}/models`)).json()).toMatchObject({ object: 'list', data: [{ id: 'fake-model' }] });
  const missing = await fetch(`${fake.url}/nothing`);
  expect([missing.status, Object.keys(Object((await missing.json()).error)).sort()]).toEqual([404, ['code', 'message', 'param', 'type']]);
  const malformed = await fetch(`${fake.url}/chat/completions`, { method: 'POST', body: '{' });
  expect(malformed.status).toBe(400);
});

it('runs as a process that prints its address, with prepared answers', async () => {
  const main = fileURLToPath(new URL('main.ts', import.meta.url));
  const child = spawn(process.execPath, ['--conditions=tallygate-source', main, '--chunks', '3', '--gap', '1', '--delay', '1'], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [line] = await once(child.stdout, 'data');
  const { url } = JSON.parse(String(line));
  const ask = (stream: boolean) => fetch(`${url}/chat/completions`, { method: 'POST', body: JSON.stringify({ stream }) });
  expect(await (await ask(false)).json()).toMatchObject({ usage: { completion_tokens: 3 } });
  const text = await (await ask(true)).text();
  expect(eventsOf(text)).toHaveLength(1 + 3 + 1 + 1);
  expect(text.endsWith('data: [DONE]\n\n')).toBe(true);
  child.kill('SIGTERM');
  expect(await once(child, 'exit')).toEqual([0, null]);
});

describe('the bill', () => {
  const settled = async (index = 0) => {
    await fake.requests[index]?.ended;
    return fake.requests[index]?.billed;
  };
  const hangUpAfterOneEvent = async () => {
    const hangUp = new AbortController();
    const reader = (await post({ stream: true }, hangUp.signal)).body?.getReader();
    await reader?.read();
    hangUp.abort();
    await reader?.closed.catch(() => {});
  };

  it('is the usage of the whole answer, whether or not the answer says it', async () => {
    fake.script({}, steps.usageMissing());
    await post({});
    await post({});
    expect([await settled(0), await settled(1)]).toEqual(Array(2).fill({ inputTokens: 10, outputTokens: 8, seconds: 0, searchUnits: 0 }));
  });

  it('is the whole answer for a client that hangs up, hidden reasoning included', async () => {
    fake.script({ tokens: 1000, gapMs: 20, hiddenReasoning: 50 });
    await hangUpAfterOneEvent();
    expect(await settled()).toEqual({ inputTokens: 10, outputTokens: 1050, seconds: 0, searchUnits: 0 });
  });

  it('is what was sent where the provider stops billing', async () => {
    fake.script({ tokens: 1000, gapMs: 20, stopsBilling: true });
    await hangUpAfterOneEvent();
    const bill = await settled();
    expect(bill?.inputTokens).toBe(10);
    expect(bill?.outputTokens).toBeLessThan(100);
  });

  it('is nothing for a refusal, and what was sent for a stream that the provider cuts, or ends with an error', async () => {
    fake.script(steps.serverError(500), steps.cutStream(3, 'fin'), { errorAfter: 3 });
    await post({});
    for (let times = 0; times < 2; times++) await (await post({ stream: true })).text().catch(() => {});
    const sent = { inputTokens: 10, outputTokens: 2, seconds: 0, searchUnits: 0 };
    expect([await settled(0), await settled(1), await settled(2)]).toEqual([
      { inputTokens: 0, outputTokens: 0, seconds: 0, searchUnits: 0 },
      ...[sent, sent],
    ]);
  });
});
