import { describe, expect, test } from 'vitest';
import { CASES, play, type Scenario, startProvider } from './testing/provider-bills.ts';

startProvider();

const scenario: Omit<Scenario, 'one' | 'steps' | 'stream'> = {
  ...{ ending: 'nobody', afterMs: 0, onCancel: 'keeps_billing', onDisconnect: undefined },
};
const caseOf = (name: string) => {
  const one = CASES.find((each) => each.name === name);
  if (!one) throw new Error(name);
  return one;
};

const TEXT = 'Hello there, caller.';
const TOKENS = { prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 };
const IN_AND_OUT = { input_tokens: 0, output_tokens: 0, total_tokens: 0 };
const completion = { id: 'c', object: 'chat.completion', created: 7, model: 'm' };
const choice = { index: 0, finish_reason: 'stop' };
const chat = { ...completion, choices: [{ ...choice, message: { role: 'assistant', content: TEXT } }] };
const output = [{ type: 'message', id: 'msg_1', role: 'assistant', content: [{ type: 'output_text', text: TEXT, annotations: [] }] }];
const response = { id: 'r', object: 'response', created_at: 7, model: 'm', status: 'completed', output };
const message = {
  id: 'm',
  type: 'message',
  role: 'assistant',
  model: 'm',
  content: [{ type: 'text', text: TEXT }],
  stop_reason: 'end_turn',
};
const candidates = [{ content: { role: 'model', parts: [{ text: TEXT }] }, finishReason: 'STOP', index: 0 }];
const conversed = { output: { message: { role: 'assistant', content: [{ text: TEXT }] } }, stopReason: 'end_turn' };
const googleUsage = { promptTokenCount: 0, candidatesTokenCount: 0, totalTokenCount: 0 };
const embeddings = { object: 'list', model: 'm', data: [{ object: 'embedding', index: 0, embedding: [0.25] }] };
const image = { b64_json: 'AAAA' };

const events = (...all: object[]) => all.map((event) => `data: ${JSON.stringify(event)}\n\n`).join('');
const typed = (...all: { type: string }[]) => all.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join('');
const chunks = [
  { ...completion, object: 'chat.completion.chunk', choices: [{ index: 0, delta: { content: TEXT }, finish_reason: null }] },
  { ...completion, object: 'chat.completion.chunk', choices: [{ ...choice, delta: {} }] },
];
const ended = (members: object = {}) => ({ type: 'response.completed', response: { ...response, ...members } });
const delta = { type: 'response.output_text.delta', delta: TEXT };
const said = { type: 'transcript.text.done', text: TEXT };

/** Answers with content: without usage, and with one that is zero. */
const PLAIN = [
  ['chat, OpenAI', chat, { usage: TOKENS }],
  ['chat, reasoning', chat, { usage: TOKENS }],
  ['chat, Azure', chat, { usage: TOKENS }],
  ['chat, Anthropic', message, { usage: { input_tokens: 0, output_tokens: 0 } }],
  ['chat, Google', { candidates }, { usageMetadata: googleUsage }],
  ['chat, Bedrock', conversed, { usage: { inputTokens: 0, outputTokens: 0, totalTokens: 0 } }],
  ['responses', response, { usage: IN_AND_OUT }],
  ['responses, chat', chat, { usage: TOKENS }],
  ['completions', { ...completion, choices: [{ ...choice, text: TEXT }] }, { usage: TOKENS }],
  ['embeddings', embeddings, { usage: { prompt_tokens: 0, total_tokens: 0 } }],
  ['embeddings, passed on', embeddings, { usage: { prompt_tokens: 0, total_tokens: 0 } }],
  ['images', { created: 7, data: [image] }, { usage: IN_AND_OUT }],
  ['transcription', { text: TEXT }, { usage: { type: 'duration', seconds: 0 } }],
  ['translation', { text: TEXT }, { usage: { type: 'duration', seconds: 0 } }],
  ['transcription by tokens', { text: TEXT }, { usage: { type: 'tokens', ...IN_AND_OUT } }],
] as const;

const STREAMS = [
  ['chat, OpenAI', events(...chunks), events(...chunks, { ...completion, choices: [], usage: TOKENS })],
  ['responses, chat', events(...chunks), events(...chunks, { ...completion, choices: [], usage: TOKENS })],
  ['responses', typed(delta, ended()), typed(delta, ended({ usage: IN_AND_OUT }))],
  ['responses', typed(ended()), typed(ended({ usage: IN_AND_OUT }))],
  [
    'images',
    typed({ type: 'image_generation.completed', ...image } as never),
    typed({ type: 'image_generation.completed', ...image, usage: IN_AND_OUT } as never),
  ],
  ['transcription by tokens', typed(said), typed({ ...said, usage: IN_AND_OUT } as never)],
] as const;

/** A zero usage that counts the prompt, and nothing of what came out; or the other way round. */
const onOneSide = (zero: object, side: 'prompt' | 'output'): object =>
  JSON.parse(JSON.stringify(zero), (name, value) => {
    const isCounted =
      side === 'prompt' ? /^(prompt_tokens|input_tokens|promptTokenCount)$/ : /^(completion_tokens|output_tokens|candidatesTokenCount)$/;
    return isCounted.test(name) || /^total/.test(name) ? 3 : value;
  });
const onOneSideOf = (stream: string, side: 'prompt' | 'output') =>
  stream
    .split('\n')
    .map((line) => (line.startsWith('data: {') ? `data: ${JSON.stringify(onOneSide(JSON.parse(line.slice(6)), side))}` : line))
    .join('\n');
/** Those whose usage has two sides. */
const hasTwoSides = (zero: object | string): boolean => /output_tokens|completion_tokens|candidates/.test(JSON.stringify(zero));
const SIDES = ['prompt', 'output'] as const;

const EVENTS = { headers: { 'content-type': 'text/event-stream' } };
const ANSWERS = [
  ...PLAIN.flatMap(([name, body, zero]) => [
    { name, stream: name === 'embeddings, passed on', usage: 'none', body },
    { name, stream: name === 'embeddings, passed on', usage: 'zero', body: { ...body, ...zero } },
    ...(hasTwoSides(zero)
      ? SIDES.map((side) => ({ name, stream: false, usage: `of the ${side} alone`, body: { ...body, ...onOneSide(zero, side) } }))
      : []),
  ]),
  ...STREAMS.flatMap(([name, none, zero]) => [
    { name, stream: true, usage: 'none', body: name.endsWith('chat') || name.startsWith('chat') ? `${none}data: [DONE]\n\n` : none },
    { name, stream: true, usage: 'zero', body: name.endsWith('chat') || name.startsWith('chat') ? `${zero}data: [DONE]\n\n` : zero },
    ...SIDES.map((side) => {
      const body = onOneSideOf(zero, side);
      const end = name.endsWith('chat') || name.startsWith('chat') ? 'data: [DONE]\n\n' : '';
      return { name, stream: true, usage: `of the ${side} alone`, body: `${body}${end}` };
    }),
  ]),
];

/** Models that are not paid by what comes out. */
const WITHOUT_OUTPUT = new Set(['text-embedding-3-small', 'whisper-1']);

describe.each(ANSWERS)('an answer with content, of $name (stream: $stream), with usage: $usage', ({ name, stream, body }) => {
  const one = caseOf(name);
  const step = { body, ...(typeof body === 'string' && EVENTS) };

  test('costs our own count, and shows it', async () => {
    const { record, reply, sent, settled, held } = await play({ ...scenario, one, stream, steps: [step] });
    expect(record).toMatchObject({ outcome: 'completed', estimated: true });
    expect(settled).toBeGreaterThan(0n);
    expect(settled).toBeLessThanOrEqual(held);
    expect(record.usage.output_tokens > 0).toBe(!WITHOUT_OUTPUT.has(one.model));
    const shown = stream ? sent.body.toString() : String(Object(reply).body);
    expect(shown).not.toMatch(/"(total_tokens|seconds)":0\b/);
  });

  test('costs what was held where its client had left', async () => {
    const { record, settled, held } = await play({ ...scenario, one, stream, ending: 'client', steps: [{ ...step, delayMs: 30 }] });
    expect(record).toMatchObject({ outcome: 'cancelled', estimated: true });
    expect(settled).toBe(held);
  });
});

const NOTHING = [
  ['chat, OpenAI', { ...chat, choices: [{ ...choice, message: { role: 'assistant', content: '' } }], usage: TOKENS }],
  ['responses', { ...response, output: [], usage: IN_AND_OUT }],
  ['transcription by tokens', { text: '', usage: { type: 'tokens', ...IN_AND_OUT } }],
] as const;

test.each(NOTHING)('zero usage of an empty answer costs nothing: %s', async (name, body) => {
  const { record, settled } = await play({ ...scenario, one: caseOf(name), stream: false, steps: [{ body }] });
  expect(record).toMatchObject({ outcome: 'completed', estimated: false });
  expect(settled).toBe(0n);
});
