import { describe, expect, test } from 'vitest';
import { CASES, fake, play, type Scenario, startProvider } from './testing/provider-bills.ts';

startProvider();

const scenario: Omit<Scenario, 'one' | 'steps'> = {
  ...{ stream: true, ending: 'nobody', afterMs: 0, onCancel: 'keeps_billing', onDisconnect: undefined },
  ...{ timeoutMs: 20_000, readOnMs: 20_000 },
};
const caseOf = (name: string) => {
  const one = CASES.find((each) => each.name === name);
  if (!one) throw new Error(name);
  return one;
};
const event = (value: object, name?: string) => `${name === undefined ? '' : `event: ${name}\n`}data: ${JSON.stringify(value)}\n\n`;

/** What a provider says in the middle of a stream: far more than its text shows, and of the prompt that a part was read from its cache. */
const PROMPT = 3_010;
const CACHED = 3_000;
const OUTPUT = 150;
const chatUsage = {
  prompt_tokens: PROMPT,
  completion_tokens: OUTPUT,
  total_tokens: PROMPT + OUTPUT,
  prompt_tokens_details: { cached_tokens: CACHED },
  completion_tokens_details: { reasoning_tokens: 140 },
};
const chunk = (members: object) => event({ id: 'c', object: 'chat.completion.chunk', created: 7, model: 'm', choices: [], ...members });
const choices = [{ index: 0, delta: { content: 'x' }, finish_reason: null }];
const responseUsage = {
  input_tokens: PROMPT,
  input_tokens_details: { cached_tokens: CACHED },
  output_tokens: OUTPUT,
  output_tokens_details: { reasoning_tokens: 140 },
  total_tokens: PROMPT + OUTPUT,
};
const inProgress = {
  type: 'response.in_progress',
  sequence_number: 2,
  response: { id: 'r', object: 'response', status: 'in_progress', output: [], usage: responseUsage },
};
const anthropicUsage = { input_tokens: PROMPT - CACHED, cache_read_input_tokens: CACHED, output_tokens: OUTPUT };
const googleUsage = {
  promptTokenCount: PROMPT,
  cachedContentTokenCount: CACHED,
  candidatesTokenCount: 10,
  thoughtsTokenCount: OUTPUT - 10,
  totalTokenCount: PROMPT + OUTPUT,
};
const googleEvent = event({ candidates: [{ content: { role: 'model', parts: [{ text: 'x' }] }, index: 0 }], usageMetadata: googleUsage });

/** In the words of each API. */
const SAID = [
  ['chat, OpenAI', 'in a chunk with text', chunk({ choices, usage: chatUsage })],
  ['chat, OpenAI', 'in a chunk of its own', chunk({ usage: chatUsage })],
  ['chat, reasoning', 'in a chunk of its own', chunk({ usage: chatUsage })],
  ['chat, Azure', 'in a chunk with text', chunk({ choices, usage: chatUsage })],
  ['completions', 'in a chunk of its own', chunk({ object: 'text_completion', usage: chatUsage })],
  ['chat, Anthropic', 'in a delta of the message', event({ type: 'message_delta', delta: {}, usage: anthropicUsage }, 'message_delta')],
  ['chat, Google', 'in an event', googleEvent],
  ['responses', 'in the response so far', event(inProgress, 'response.in_progress')],
  ['responses', 'in an event of another kind', event({ type: 'response.usage', usage: responseUsage }, 'response.usage')],
] as const;

describe('what a provider says of its usage in a stream', () => {
  const said = (usage: unknown) => chunk({ usage });
  const text = (content: string) => chunk({ choices: [{ index: 0, delta: { content }, finish_reason: null }] });
  const finish = chunk({ choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] });
  const LONG = 'word '.repeat(400);
  const chat = caseOf('chat, OpenAI');
  const headers = { 'content-type': 'text/event-stream' };
  const ending = (...events: string[]) => ({ body: events.join(''), headers });
  const started = { prompt_tokens: 10, completion_tokens: 1, total_tokens: 11 };

  test.each([
    ['an empty object', {}],
    ['words', { prompt_tokens: 'many', completion_tokens: 'more' }],
    ['fractions below zero', { prompt_tokens: 1.5, completion_tokens: -2.5, total_tokens: 1 }],
    ['less than nothing', { prompt_tokens: 10, completion_tokens: -1, total_tokens: 9 }],
  ])('at its end as %s leaves nothing said before as the last word', async (_, nonsense) => {
    const { record } = await play({
      ...scenario,
      one: chat,
      steps: [ending(said(started), text(LONG), finish, said(nonsense), 'data: [DONE]\n\n')],
    });
    expect(record).toMatchObject({ outcome: 'completed', estimated: true });
    expect(record.usage.output_tokens).toBeGreaterThan(300);
  });

  test.each([
    ['what came out alone', { completion_tokens: 900 }, { output_tokens: 900 }],
    ['what came out, and nothing for the prompt', { prompt_tokens: null, completion_tokens: 900 }, { output_tokens: 900 }],
    ['the prompt alone', { prompt_tokens: 700 }, { input_tokens: 700 }],
  ])('is the least that is charged where it tells of %s', async (_, half, least) => {
    const stream = ending(text(LONG), finish, said(half), 'data: [DONE]\n\n');
    const whole = {
      id: 'c',
      object: 'chat.completion',
      choices: [{ index: 0, message: { role: 'assistant', content: LONG } }],
      usage: half,
    };
    for (const [isStream, step] of [
      [true, stream],
      [false, { body: whole }],
    ] as const) {
      const { record } = await play({ ...scenario, one: chat, stream: isStream, steps: [step] });
      expect(record).toMatchObject({ outcome: 'completed', estimated: true, usage: least });
      expect(record.usage.input_tokens).toBeGreaterThan(0);
      expect(record.usage.output_tokens).toBeGreaterThan(300);
    }
  });

  test.each([
    [
      'embeddings',
      { object: 'list', data: [{ index: 0, embedding: [0] }], usage: { prompt_tokens: 5, total_tokens: 500 } },
      { input_tokens: 500 },
    ],
    ['embeddings', { object: 'list', data: [{ index: 0, embedding: [0] }], usage: { total_tokens: 500 } }, { input_tokens: 500 }],
    [
      'images',
      { created: 7, data: [{ b64_json: 'AAAA' }], usage: { input_tokens: 10, output_tokens: 5, total_tokens: 5_000 } },
      { output_tokens: 4_990 },
    ],
  ] as const)('is its total where that is more than its parts: %s', async (name, body, usage) => {
    const { record } = await play({ ...scenario, one: caseOf(name), stream: false, steps: [{ body }] });
    expect(record).toMatchObject({ estimated: false, usage });
  });

  test('in seconds is none for a model that is priced by tokens', async () => {
    const answer = { body: { text: 'Hello there.', usage: { type: 'duration', seconds: 60 } } };
    const { record } = await play({ ...scenario, one: caseOf('transcription by tokens'), stream: false, steps: [answer] });
    expect(record).toMatchObject({ outcome: 'completed', estimated: true });
    expect(Number(record.cost)).toBeGreaterThan(0);
  });

  test('is the largest where the last is smaller', async () => {
    const grown = { prompt_tokens: 10, completion_tokens: 30, total_tokens: 40 };
    const { record } = await play({
      ...scenario,
      one: chat,
      steps: [ending(text('x'), finish, said(grown), said(started), 'data: [DONE]\n\n')],
    });
    expect(record.usage).toMatchObject({ input_tokens: 10, output_tokens: 30 });
  });

  const failure = 'data: {"error":{"message":"overloaded","type":"server_error"}}\n\n';
  const failed = event(
    { type: 'response.failed', response: { ...inProgress.response, status: 'failed', error: { message: 'x' } } },
    'response.failed',
  );
  test.each([
    ['chat, OpenAI', 'behind text', [text('x'), failure, said(chatUsage)]],
    ['chat, OpenAI', 'before any text', [failure, said(chatUsage)]],
    ['responses', 'in the response that failed', [event({ type: 'error', message: 'x' }, 'error'), failed]],
  ] as const)('behind an error is charged: %s, %s', async (name, _, events) => {
    const { record, asked } = await play({ ...scenario, one: caseOf(name), steps: [ending(...events), ending(text('not asked'))] });
    expect(record).toMatchObject({ outcome: 'cut', usage: { input_tokens: PROMPT, output_tokens: OUTPUT } });
    expect(asked).toBe(1);
  });
});

describe('an answer that is too complex to be read', () => {
  const choices = '"choices":[{"index":0,"message":{"role":"assistant","content":"x"},"finish_reason":"stop"}]';
  const keys = Array.from({ length: 100_000 }, (_, at) => `"k${at}":0`).join();
  test.each([
    ['nested', `"x":${'['.repeat(500_000)}${']'.repeat(500_000)}`],
    ['of many names', `"x":{${keys}}`],
  ])('is charged by its usage and told so: %s', async (_, member) => {
    const body = `{"id":"c","object":"chat.completion",${choices},${member},"usage":${JSON.stringify(chatUsage)}}`;
    const headers = { 'content-type': 'application/json' };
    const { record, reply, asked } = await play({
      ...scenario,
      one: caseOf('chat, OpenAI'),
      stream: false,
      steps: [{ body, headers }, { body: '{}' }],
    });
    expect(record).toMatchObject({ outcome: 'abandoned', usage: { input_tokens: PROMPT, output_tokens: OUTPUT } });
    expect(String(Object(reply).body)).toContain('answer_too_large');
    expect(asked).toBe(1);
  });
});

describe('a body that is no answer and tells of its usage', () => {
  const whole = {
    id: 'c',
    object: 'chat.completion',
    choices: [{ index: 0, message: { role: 'assistant', content: 'x' } }],
    usage: chatUsage,
  };
  test.each([
    ['one whole answer where a stream was asked for', true, whole],
    ['JSON without choices', false, { ...whole, choices: null }],
    ['JSON of something else', false, { result: 'x', usage: chatUsage }],
  ])('is charged, and no other provider is asked: %s', async (_, stream, body) => {
    const { record, asked } = await play({ ...scenario, one: caseOf('chat, OpenAI'), stream, steps: [{ body }, { body: whole }] });
    expect(record.usage).toMatchObject({ input_tokens: PROMPT, output_tokens: OUTPUT });
    expect(asked).toBe(1);
  });
});

describe.each(SAID)('%s, which tells of its usage %s', (name, _, said) => {
  const one = caseOf(name);
  const broken = { tokens: 40, inserted: { at: 8, event: said } };

  test.each([['reset'], ['fin']] as const)('costs no less than that where the provider breaks off later (%s)', async (how) => {
    const { record } = await play({ ...scenario, one, steps: [{ ...broken, cut: { at: 14, how } }] });
    expect(record).toMatchObject({ outcome: 'cut', estimated: true });
    expect(record.usage).toMatchObject({ input_tokens: PROMPT, cached_input_tokens: CACHED, output_tokens: OUTPUT });
  });

  test('costs no less than that where it is cut from our side', async () => {
    const { record } = await play({
      ...{ ...scenario, one, ending: 'client', afterMs: 80, onCancel: 'stops_billing', onDisconnect: 'cancel' },
      steps: [{ ...broken, cut: { at: 14, how: 'stall' } }],
    });
    expect(record).toMatchObject({ outcome: 'cancelled', estimated: true });
    expect(record.usage.input_tokens).toBeGreaterThanOrEqual(PROMPT);
    expect(record.usage.output_tokens).toBeGreaterThanOrEqual(OUTPUT);
  });

  test('costs its whole bound where its client had left and it breaks off', async () => {
    const { record } = await play({
      ...{ ...scenario, one, ending: 'client', afterMs: 40 },
      steps: [{ ...broken, gapMs: 10, cut: { at: 14, how: 'reset' } }],
    });
    expect(record).toMatchObject({ outcome: 'cancelled', estimated: true, usage: { output_tokens: 400 } });
    expect(record.usage.input_tokens).toBeGreaterThanOrEqual(PROMPT);
  });
});

const error = { message: 'The model failed.', code: 'server_error' };
const failed = {
  type: 'response.failed',
  sequence_number: 9,
  response: { id: 'r', object: 'response', status: 'failed', error, output: [], usage: responseUsage },
};
/** The error that ends a stream, with the usage of all of it. */
const FAILED = [
  ['chat, OpenAI', chunk({ error, usage: chatUsage })],
  ['chat, reasoning', event({ error, usage: chatUsage })],
  ['chat, Azure', chunk({ error, usage: chatUsage })],
  ['completions', event({ error, usage: chatUsage })],
  ['responses', event(failed, 'response.failed')],
  ['responses', event({ type: 'error', ...error, usage: responseUsage }, 'error')],
] as const;

describe.each(FAILED)('%s, which fails and says what it has used', (name, said) => {
  const one = caseOf(name);
  const usage = { input_tokens: PROMPT, cached_input_tokens: CACHED, output_tokens: OUTPUT, reasoning_tokens: 140 };

  test('costs that, by its own count', async () => {
    const { record, sent } = await play({ ...scenario, one, steps: [{ tokens: 40, inserted: { at: 8, event: said } }] });
    expect(sent.body.toString()).toContain('The model failed.');
    expect(record).toMatchObject({ outcome: 'cut', estimated: false, usage });
  });

  test('costs that where its client had left', async () => {
    const { record } = await play({
      ...{ ...scenario, one, ending: 'client', afterMs: 30 },
      steps: [{ tokens: 40, gapMs: 10, inserted: { at: 8, event: said } }],
    });
    expect(record).toMatchObject({ outcome: 'cancelled', estimated: false, usage });
  });

  test('is paid before its first byte too, and no other provider is asked', async () => {
    const { record } = await play({ ...scenario, one, steps: [{ inserted: { at: 0, event: said } }, { tokens: 3 }] });
    expect(fake.requests).toHaveLength(1);
    expect(record).toMatchObject({ outcome: 'cut', estimated: false, usage });
  });
});

const failedResponse = { ...failed.response, created_at: 7, model: 'm' };

test('a failed response is given and costs what it says that it has used, and no other provider is asked', async () => {
  const { record, reply } = await play({
    ...{ ...scenario, one: caseOf('responses'), stream: false },
    steps: [{ body: failedResponse }, { tokens: 3 }],
  });
  expect(fake.requests).toHaveLength(1);
  expect(JSON.parse(String(Object(reply).body))).toMatchObject({ id: 'resp_1', status: 'failed', usage: { output_tokens: OUTPUT } });
  expect(record).toMatchObject({ outcome: 'cut', estimated: false, usage: { input_tokens: PROMPT, output_tokens: OUTPUT } });
});

test('of a failed response that says no usage the next provider is asked', async () => {
  const { record } = await play({
    ...{ ...scenario, one: caseOf('responses'), stream: false },
    steps: [{ body: { ...failedResponse, usage: null } }, { tokens: 3 }],
  });
  expect(fake.requests).toHaveLength(2);
  expect(record).toMatchObject({ outcome: 'completed', fallback: 'deployment', usage: { output_tokens: 3 } });
});

const googleError = { error: { code: 500, message: error.message, status: 'INTERNAL' }, usageMetadata: googleUsage };
const anthropicError = { type: 'error', error: { type: 'api_error', message: error.message }, usage: anthropicUsage };
/** Error answers with the usage of what was generated, in the words of each API. */
const ERRORS = [
  ['chat, OpenAI', { error, usage: chatUsage }],
  ['chat, reasoning', { error, usage: chatUsage }],
  ['chat, Azure', { error, usage: chatUsage }],
  ['chat, Anthropic', anthropicError],
  ['chat, Google', googleError],
  ['responses', { error, usage: responseUsage }],
  ['responses, Anthropic', anthropicError],
  ['responses, chat', { error, usage: chatUsage }],
  ['completions', { error, usage: chatUsage }],
] as const;

describe.each(ERRORS)('%s, which answers with an error and says what it has used', (name, body) => {
  const one = caseOf(name);
  const usage = { input_tokens: PROMPT, cached_input_tokens: CACHED, output_tokens: OUTPUT };

  test.each([
    [false, 500],
    [true, 500],
    [false, 429],
    [false, 400],
  ])('costs that, and no other provider is asked (stream: %s, status %i)', async (stream, status) => {
    const { record, records, reply, sent, stillHeld } = await play({ ...scenario, one, stream, steps: [{ status, body }, { tokens: 3 }] });
    expect(fake.requests).toHaveLength(1);
    expect(records).toHaveLength(1);
    expect(record).toMatchObject({ outcome: 'cut', estimated: false, usage });
    expect(stillHeld).toBe(0n);
    const told = JSON.parse(stream ? sent.body.toString() : String(Object(reply).body));
    if (status === 400) expect(told).toMatchObject({ code: 'upstream_rejected', detail: 'The model failed.' });
    else expect(told).toMatchObject({ code: 'upstream_failed', detail: expect.stringContaining('That is charged') });
  });

  test('costs that where its client had left', async () => {
    const { record } = await play({ ...scenario, one, stream: false, ending: 'client', steps: [{ status: 500, body, delayMs: 30 }] });
    expect(record).toMatchObject({ outcome: 'cancelled', estimated: false, usage });
  });

  test('costs that where it was late and another was asked beside it', async () => {
    // The other one has this time as well, on a busy machine too.
    const timeoutMs = 500;
    const late = { status: 500, body, delayMs: timeoutMs + 300 };
    const { records } = await play({ ...scenario, one, stream: false, timeoutMs, steps: [late, { tokens: 3 }] });
    expect(records).toHaveLength(2);
    expect(records.find(({ attempt }) => attempt === 1)).toMatchObject({ outcome: 'abandoned', estimated: false, usage });
    expect(records.find(({ attempt }) => attempt === 2)).toMatchObject({ outcome: 'completed', usage: { output_tokens: 3 } });
  });
});

const NO_USE = [
  ['chat, OpenAI', 'zero', { error, usage: { prompt_tokens: 0, completion_tokens: 0 } }],
  ['chat, OpenAI', 'not a count', { error, usage: { prompt_tokens: 'many', completion_tokens: -1 } }],
  ['chat, OpenAI', 'beyond the first 16 KiB', { error, padding: 'x'.repeat(20_000), usage: chatUsage }],
  ['speech', 'of what is priced by its request', { error, usage: chatUsage }],
] as const;

test.each(NO_USE)('of an error answer of %s whose usage is %s the next provider is asked', async (name, _, body) => {
  const { record } = await play({ ...scenario, one: caseOf(name), stream: false, steps: [{ status: 500, body }, { tokens: 3 }] });
  expect(fake.requests).toHaveLength(2);
  expect(record).toMatchObject({ outcome: 'completed', fallback: 'deployment' });
});
