import { describe, expect, test } from 'vitest';
import { CASES, play, type Scenario, startProvider } from './testing/provider-bills.ts';

/** Of a usage that is no whole report each count that can be read is the least that is charged. */

startProvider();

const scenario: Omit<Scenario, 'one' | 'steps' | 'stream'> = {
  ...{ ending: 'nobody', afterMs: 0, onCancel: 'keeps_billing', onDisconnect: undefined },
};
const TEXT = 'Hello there.';
const chat = (usage: object) => ({
  id: 'c',
  object: 'chat.completion',
  created: 7,
  model: 'm',
  choices: [{ index: 0, finish_reason: 'stop', message: { role: 'assistant', content: TEXT } }],
  usage,
});
const output = [{ type: 'message', id: 'msg_1', role: 'assistant', content: [{ type: 'output_text', text: TEXT, annotations: [] }] }];
const response = (usage: object) => ({ id: 'r', object: 'response', created_at: 7, model: 'm', status: 'completed', output, usage });
const message = (usage: object) => ({
  id: 'm',
  type: 'message',
  role: 'assistant',
  model: 'm',
  content: [{ type: 'text', text: TEXT }],
  stop_reason: 'end_turn',
  usage,
});
const candidates = [{ content: { role: 'model', parts: [{ text: TEXT }] }, finishReason: 'STOP', index: 0 }];
const google = (usageMetadata: object) => ({ candidates, usageMetadata });
const transcript = (usage: object) => ({ text: TEXT, usage: { type: 'tokens', ...usage } });
const image = (usage: object) => ({ created: 7, data: [{ b64_json: 'AAAA' }], usage });
const typed = (usage: object) => {
  const event = { type: 'response.completed', sequence_number: 1, response: response(usage) };
  return `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`;
};
const chunks = (usage: object) =>
  [
    { object: 'chat.completion.chunk', choices: [{ index: 0, delta: { content: TEXT }, finish_reason: 'stop' }] },
    { object: 'chat.completion.chunk', choices: [], usage },
  ]
    .map((event) => `data: ${JSON.stringify({ id: 'c', created: 7, model: 'm', ...event })}\n\n`)
    .join('')
    .concat('data: [DONE]\n\n');
const googleEvents = (usage: object) => `data: ${JSON.stringify(google(usage))}\n\n`;

const IN_OUT = [
  [{ output_tokens: 900 }, 0, 900],
  [{ input_tokens: 1000 }, 1000, 0],
  [{ input_tokens: 1e300, output_tokens: 900 }, 0, 900],
  [{ input_tokens: 1000, output_tokens: -500 }, 1000, 0],
] as const;
const THOUGHT = { prompt_tokens: 1000, completion_tokens: 10, completion_tokens_details: { reasoning_tokens: 900 } };
const ANTHROPIC = [
  [{ input_tokens: 1000, output_tokens: 500, cache_read_input_tokens: '900' }, 1000, 500],
  [{ input_tokens: 'many', output_tokens: 900 }, 0, 900],
  [{ input_tokens: 1000, output_tokens: null }, 1000, 0],
] as const;
const GOOGLE = [
  [{ promptTokenCount: 1000, candidatesTokenCount: 500, cachedContentTokenCount: '900' }, 1000, 500],
  [{ promptTokenCount: 1000, candidatesTokenCount: 500, totalTokenCount: '2000' }, 1000, 500],
  [{ promptTokenCount: '1000', candidatesTokenCount: 900 }, 0, 900],
] as const;

const conversed = (usage: object) => ({
  output: { message: { role: 'assistant', content: [{ text: TEXT }] } },
  stopReason: 'end_turn',
  usage,
});
const BEDROCK = [
  [{ inputTokens: 1000, outputTokens: 500, cacheReadInputTokens: 'many' }, 1000, 500],
  [{ inputTokens: 'many', outputTokens: 900 }, 0, 900],
  [{ inputTokens: 1000, outputTokens: null }, 1000, 0],
] as const;

type Row = readonly [name: string, stream: boolean, body: object | string, input: number, output: number];
const ROWS: readonly Row[] = [
  ...IN_OUT.flatMap(([usage, input, out]): Row[] => [
    ['responses', false, response(usage), input, out],
    ['responses', true, typed(usage), input, out],
    ['images', false, image(usage), input, out],
    ['transcription by tokens', false, transcript(usage), input, out],
  ]),
  ...ANTHROPIC.flatMap(([usage, input, out]): Row[] => [
    ['chat, Anthropic', false, message(usage), input, out],
    ['responses, Anthropic', false, message(usage), input, out],
  ]),
  ...GOOGLE.flatMap(([usage, input, out]): Row[] => [
    ['chat, Google', false, google(usage), input, out],
    ['chat, Google', true, googleEvents(usage), input, out],
    ['responses, Google', false, google(usage), input, out],
  ]),
  ...BEDROCK.flatMap(([usage, input, out]): Row[] => [['chat, Bedrock', false, conversed(usage), input, out]]),
  ['chat, OpenAI', false, chat(THOUGHT), 1000, 910],
  ['chat, OpenAI', true, chunks(THOUGHT), 1000, 910],
];

describe.each(ROWS)('%s (stream: %s), %j', (name, stream, body, input, out) => {
  test('costs at least what can be read of its usage', async () => {
    const one = CASES.find((each) => each.name === name);
    if (!one) throw new Error(name);
    const step = { body, ...(stream && { headers: { 'content-type': 'text/event-stream' } }) };
    const { record } = await play({ ...scenario, one, stream, steps: [step] });
    expect(record.outcome).toBe('completed');
    expect(record.usage.input_tokens).toBeGreaterThanOrEqual(Math.max(1, input));
    expect(record.usage.output_tokens).toBeGreaterThanOrEqual(Math.max(1, out));
  });
});
