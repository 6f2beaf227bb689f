import { bedrockSteps, type Step } from '@tallygate/fake-upstream';
import { describe, expect, test } from 'vitest';
import { CASES, play, type Scenario, startProvider } from './testing/provider-bills.ts';

/** Wherever a provider tells of its usage, and however it writes its events down, that is what is charged. */

startProvider();

const scenario: Omit<Scenario, 'one' | 'steps' | 'stream'> = {
  ...{ ending: 'nobody', afterMs: 0, onCancel: 'keeps_billing', onDisconnect: undefined },
};
const caseOf = (name: string) => {
  const one = CASES.find((each) => each.name === name);
  if (!one) throw new Error(name);
  return one;
};
const INPUT = 3_000;
const OUTPUT = 300;
const usage = { prompt_tokens: INPUT, completion_tokens: OUTPUT, total_tokens: INPUT + OUTPUT };
const tokens = { input_tokens: INPUT, output_tokens: OUTPUT };
const event = (value: object, name?: string) => `${name === undefined ? '' : `event: ${name}\n`}data: ${JSON.stringify(value)}\n\n`;
const chunk = (members: object) => event({ id: 'c', object: 'chat.completion.chunk', created: 7, model: 'm', choices: [], ...members });
const delta = { content: 'Hello there.' };
const text = chunk({ choices: [{ index: 0, delta, finish_reason: null }] });
const last = { index: 0, delta: {}, finish_reason: 'stop' };
const stop = chunk({ choices: [last] });
const DONE = 'data: [DONE]\n\n';
const message = { role: 'assistant', content: 'Hello there.' };
const whole = (members: object, choice = {}) => ({
  ...{ id: 'c', object: 'chat.completion', created: 7, model: 'm' },
  choices: [{ index: 0, message, finish_reason: 'stop', ...choice }],
  ...members,
});
const stream = (...events: string[]): Step => ({ body: events.join(''), headers: { 'content-type': 'text/event-stream' } });
const each = { prompt_tokens: INPUT, completion_tokens: OUTPUT / 2 };
const two = [0, 1].map((index) => ({ index, finish_reason: 'stop', usage: each }));

const TOLD: readonly (readonly [place: string, stream: boolean, step: Step])[] = [
  ['x_groq', true, stream(text, chunk({ choices: [last], x_groq: { id: 'r', usage } }), DONE)],
  ['x_groq', false, { body: whole({ x_groq: { usage } }) }],
  ['a choice', true, stream(text, chunk({ choices: [{ ...last, usage }] }), DONE)],
  ['a choice', false, { body: whole({}, { usage }) }],
  ['two choices', true, stream(text, ...two.map((choice) => chunk({ choices: [{ delta, ...choice }] })), DONE)],
  ['two choices', false, { body: whole({ choices: two.map((choice) => ({ message, ...choice })) }) }],
  ['what a choice says', true, stream(text, chunk({ choices: [{ ...last, delta: { usage } }] }), DONE)],
  ['what a choice says', false, { body: whole({ choices: [{ index: 0, message: { ...message, usage }, finish_reason: 'stop' }] }) }],
  ['an event that is called usage', true, stream(text, stop, event(usage, 'usage'), DONE)],
  ['a total', true, stream(text, stop, chunk({ usage: { prompt_tokens: INPUT, total_tokens: INPUT + OUTPUT } }), DONE)],
  ['a total', false, { body: whole({ usage: { prompt_tokens: INPUT, total_tokens: INPUT + OUTPUT } }) }],
  ['counts with the names of newer endpoints', true, stream(text, stop, chunk({ usage: tokens }), DONE)],
  ['counts with the names of newer endpoints', false, { body: whole({ usage: tokens }) }],
  ['an event behind the end', true, stream(text, stop, DONE, chunk({ usage }))],
  [
    'an event well behind the end',
    true,
    { ...stream(text, stop, DONE, chunk({ usage })), pieceBytes: (text + stop + DONE).length, gapMs: 20 },
  ],
];

describe.each(['chat, OpenAI', 'responses, chat', 'completions'])('%s', (name) => {
  test.each(TOLD)('is charged by a usage that stands in %s (stream: %s)', async (_, isStream, step) => {
    const { record } = await play({ ...scenario, one: caseOf(name), stream: isStream, steps: [step] });
    expect(record).toMatchObject({ outcome: 'completed', estimated: false, usage: { input_tokens: INPUT, output_tokens: OUTPUT } });
  });
});

const error = { message: 'The model failed.', type: 'server_error' };
const metadata = { promptTokenCount: INPUT, candidatesTokenCount: OUTPUT };
const candidates = [{ content: { role: 'model', parts: [{ text: 'Hello there.' }] }, index: 0 }];
const begun = event({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'Hello there.' } });
const counts = { inputTokens: INPUT, outputTokens: OUTPUT, totalTokens: INPUT + OUTPUT };
const said = [
  bedrockSteps.frame('messageStart', { role: 'assistant' }),
  bedrockSteps.frame('contentBlockDelta', { contentBlockIndex: 0, delta: { text: 'Hello there.' } }),
];
const FAILED: readonly (readonly [name: string, place: string, stream: boolean, step: Step])[] = [
  ['chat, OpenAI', 'the error', true, stream(text, chunk({ error: { ...error, usage } }))],
  ['chat, OpenAI', 'the error', false, { status: 500, body: { error: { ...error, usage } } }],
  ['chat, OpenAI', 'the error of a 200', false, { body: { error: { ...error, usage } } }],
  ['chat, OpenAI', 'the detail', false, { status: 400, body: { detail: { message: error.message, usage } } }],
  ['chat, OpenAI', 'an event that is called an error', true, stream(text, event({ message: error.message, usage }, 'error'))],
  ['chat, OpenAI', 'an event that is called an error, the first', true, stream(event({ message: error.message, usage }, 'error'))],
  ['chat, OpenAI', 'x_groq beside the error', true, stream(text, event({ error, x_groq: { usage } }))],
  ['responses', 'the error', true, stream(event({ type: 'error', error: { ...error, usage: tokens } }, 'error'))],
  ['chat, Anthropic', 'an event of an error', true, stream(begun, event({ type: 'error', error, usage: tokens }, 'error'))],
  ['chat, Anthropic', 'the error', true, stream(begun, event({ type: 'error', error: { ...error, usage: tokens } }, 'error'))],
  ['chat, Google', 'an event of an error', true, stream(event({ candidates }), event({ error, usageMetadata: metadata }))],
  ['chat, Google', 'the error', true, stream(event({ candidates }), event({ error: { ...error, usageMetadata: metadata } }))],
  [
    'chat, Bedrock',
    'an exception',
    true,
    bedrockSteps.stream(...said, bedrockSteps.exceptionFrame('modelStreamErrorException', { usage: counts })),
  ],
  ['chat, Bedrock', 'the error', false, { status: 500, body: { message: 'The model failed.', usage: counts } }],
  ['chat, Google', 'the error', false, { status: 500, body: { error: { ...error, usageMetadata: metadata } } }],
];

test.each(FAILED)('%s, which fails, is charged by a usage that stands in %s (stream: %s)', async (name, _, isStream, step) => {
  const { record, asked } = await play({ ...scenario, one: caseOf(name), stream: isStream, steps: [step, { tokens: 3 }] });
  expect(record).toMatchObject({ outcome: 'cut', estimated: false, usage: { input_tokens: INPUT, output_tokens: OUTPUT } });
  expect(asked).toBe(1);
});

const OTHERWISE: readonly (readonly [string, Step])[] = [
  ['a list', { body: [whole({ usage })] }],
  ['an answer inside of another object', { body: { result: whole({ usage }) } }],
  ['a stream where none was asked for', stream(text, stop, chunk({ usage }), DONE)],
];

test.each(OTHERWISE)('%s in place of an answer is charged at no less than the usage in it', async (_, step) => {
  const { record } = await play({ ...scenario, one: caseOf('chat, OpenAI'), stream: false, steps: [step] });
  expect(record).toMatchObject({ outcome: 'cut', usage: { input_tokens: INPUT, output_tokens: OUTPUT } });
});

test('a usage in the last event of a stream of Anthropic is charged', async () => {
  const start = { type: 'message_start', message: { id: 'm', usage: { input_tokens: INPUT, output_tokens: 1 } } };
  const delta = { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 2 } };
  const step = stream(event(start), begun, event(delta), event({ type: 'message_stop', usage: tokens }));
  const { record } = await play({ ...scenario, one: caseOf('chat, Anthropic'), stream: true, steps: [step] });
  expect(record).toMatchObject({ outcome: 'completed', estimated: false, usage: { input_tokens: INPUT, output_tokens: OUTPUT } });
});

test('an error event without usage before the first chunk costs nothing, and the next provider is asked', async () => {
  const failed = stream(event({ message: error.message }, 'error'));
  const { records } = await play({ ...scenario, one: caseOf('chat, OpenAI'), stream: true, steps: [failed, { tokens: 3 }] });
  expect(records).toMatchObject([{ outcome: 'completed', attempt: 1, usage: { output_tokens: 3 } }]);
});

const WRITTEN: readonly (readonly [string, Step])[] = [
  ['begins with a byte order mark', { hasBom: true }],
  ['has lines that end in CR', { lineEnd: '\r' }],
  ['has lines that end in CR, cut anywhere', { lineEnd: '\r', hasBom: true, pieceBytes: [1, 2, 7, 61] }],
];
const STREAMS = CASES.filter(({ canStream, name, unreadable }) => canStream && !unreadable && name !== 'embeddings, passed on');

describe.each(STREAMS)('$name', (one) => {
  test.each(WRITTEN)('costs what its provider bills where the stream %s', async (_, written) => {
    const { billed, settled, record } = await play({ ...scenario, one, stream: true, steps: [{ tokens: 20, ...written }] });
    expect(record).toMatchObject({ outcome: 'completed', estimated: false });
    expect(settled).toBe(billed);
  });
});

/** With `first` and behind it `second` under one name. */
const named = (body: object, first: object, second: object, name = 'usage') =>
  JSON.stringify({ ...body, [name]: 0 }).replace(`"${name}":0`, `"${name}":${JSON.stringify(first)},"${name}":${JSON.stringify(second)}`);
const small = { prompt_tokens: INPUT, completion_tokens: 1, total_tokens: INPUT + 1 };
const smallTokens = { input_tokens: INPUT, output_tokens: 1 };
const response = { id: 'r', object: 'response', status: 'completed', output: [{ type: 'message', content: [{ text: 'Hi.' }] }] };
const inAnthropic = { id: 'm', type: 'message', role: 'assistant', content: [{ type: 'text', text: 'Hi.' }], stop_reason: 'end_turn' };
const inUsageOfTool = {
  ...inAnthropic,
  content: [{ type: 'tool_use', id: 't', name: 'look', input: { usage: { output_tokens: 9_000 } } }],
};
const inGoogle = { candidates: [{ index: 0, content: { role: 'model', parts: [{ text: 'Hi.' }] }, finishReason: 'STOP' }] };
const inConverse = { output: { message: { role: 'assistant', content: [{ text: 'Hi.' }] } }, stopReason: 'end_turn' };
const googleCounts = (output: number) => ({ promptTokenCount: INPUT, candidatesTokenCount: output, totalTokenCount: INPUT + output });
const converseCounts = (output: number) => ({ inputTokens: INPUT, outputTokens: output, totalTokens: INPUT + output });
const anthropicEvents = (...[first, second]: readonly (readonly [object, object])[]) =>
  stream(
    `event: message_start\ndata: {"type":"message_start","message":${named({ ...inAnthropic, content: [] }, ...(first ?? [{}, {}]))}}\n\n`,
    event({ type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } }, 'content_block_start'),
    event({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'Hi.' } }, 'content_block_delta'),
    event({ type: 'content_block_stop', index: 0 }, 'content_block_stop'),
    `event: message_delta\ndata: ${named({ type: 'message_delta', delta: { stop_reason: 'end_turn' } }, ...(second ?? [{}, {}]))}\n\n`,
    event({ type: 'message_stop' }, 'message_stop'),
  );

const REPEATED: readonly (readonly [name: string, stream: boolean, step: Step])[] = [
  [
    'chat, OpenAI',
    true,
    stream(text, stop, `data: ${named({ id: 'c', object: 'chat.completion.chunk', choices: [] }, usage, small)}\n\n`, DONE),
  ],
  ...['chat, OpenAI', 'completions', 'messages, chat', 'responses, chat', 'content, chat'].map(
    (name) => [name, false, { body: named(whole({}), usage, small) }] as const,
  ),
  ['responses', false, { body: named(response, tokens, smallTokens) }],
  ['messages', false, { body: named(inAnthropic, tokens, smallTokens) }],
  ...['chat, Anthropic', 'responses, Anthropic', 'content, Anthropic', 'chat, Vertex, Claude', 'chat, Bedrock, Claude'].map(
    (name) => [name, false, { body: named(inAnthropic, tokens, smallTokens) }] as const,
  ),
  [
    'chat, Anthropic',
    true,
    anthropicEvents([{ input_tokens: INPUT }, { input_tokens: 1 }], [{ output_tokens: OUTPUT }, { output_tokens: 1 }]),
  ],
  ...['chat, Google', 'messages, Google', 'chat, Vertex'].flatMap((name) => {
    const body = named(inGoogle, googleCounts(OUTPUT), googleCounts(1), 'usageMetadata');
    return [[name, false, { body }] as const, [name, true, stream(`data: ${body}\n\n`)] as const];
  }),
  ['chat, Bedrock', false, { body: named(inConverse, converseCounts(OUTPUT), converseCounts(1)) }],
];

test.each(REPEATED)('%s: of a usage that is named twice in one object the largest counts (stream: %s)', async (name, isStream, step) => {
  const { record } = await play({ ...scenario, one: caseOf(name), stream: isStream, steps: [step] });
  expect(record).toMatchObject({ outcome: 'completed', usage: { input_tokens: INPUT, output_tokens: OUTPUT } });
});

/** Cohere's rankings, with units that come twice in one object, in two of one name, or as texts. */
const ranked = (...metas: readonly string[]) =>
  `{"id":"r","results":[{"index":0,"relevance_score":0.5}],${metas.map((meta) => `"meta":{${meta}}`).join()}}`;
const units = (count: unknown) => `"billed_units":{"search_units":${JSON.stringify(count)}}`;

test.each([
  ['in one object', ranked(`${units(2)},${units(1)}`)],
  ['in two objects', ranked(units(2), units(1))],
  ['as texts', ranked(`${units('2')},${units('1')}`)],
  ['as the last', ranked(`${units(1)},${units(2)}`)],
])('of units of a search that are named twice the most counts: %s', async (_, body) => {
  const { record } = await play({ ...scenario, one: caseOf('rankings by searches'), stream: false, steps: [{ body }] });
  expect(record).toMatchObject({ outcome: 'completed', usage: { search_units: 2 } });
});

test('a usage that a model wrote for a tool is no usage of the answer', async () => {
  const step = { body: { ...inUsageOfTool, usage: tokens } };
  const { record } = await play({ ...scenario, one: caseOf('messages'), stream: false, steps: [step] });
  expect(record).toMatchObject({ outcome: 'completed', usage: { input_tokens: INPUT, output_tokens: OUTPUT } });
});

test('a body with a byte order mark is read', async () => {
  const body = `\ufeff${JSON.stringify(whole({ usage }))}`;
  const { record } = await play({ ...scenario, one: caseOf('chat, OpenAI'), stream: false, steps: [{ body }] });
  expect(record).toMatchObject({ outcome: 'completed', estimated: false, usage: { output_tokens: OUTPUT } });
});

const ENCODINGS = ['gzip', 'deflate', 'br'] as const;
const ENCODED = CASES.flatMap((one) =>
  [false, ...(one.canStream ? [true] : [])].map((isStream, at) => ({
    ...{ one, isStream, name: one.name },
    encoding: ENCODINGS[(CASES.indexOf(one) + at) % ENCODINGS.length] ?? 'gzip',
  })),
);

test.each(ENCODED)('$name costs what its provider bills where it answers in $encoding unasked (stream: $isStream)', async (asked) => {
  const { one, isStream, encoding } = asked;
  const { billed, settled, record } = await play({ ...scenario, one, stream: isStream, steps: [{ tokens: 20, encoding }] });
  expect(record).toMatchObject({ outcome: 'completed', estimated: false });
  expect(settled).toBe(billed);
});

test('a usage beside an error is charged in whatever encoding it comes', async () => {
  const failed: Step = { status: 500, body: { error: { ...error, usage } }, encoding: 'gzip' };
  const { record } = await play({ ...scenario, one: caseOf('chat, OpenAI'), stream: false, steps: [failed] });
  expect(record).toMatchObject({ outcome: 'cut', estimated: false, usage: { input_tokens: INPUT, output_tokens: OUTPUT } });
});
