import type { Step } from '@tallygate/fake-upstream';
import { describe, expect, test } from 'vitest';
import { CASES, play, type Scenario, startProvider } from './testing/provider-bills.ts';

/** Of a usage whose answer breaks off in its middle each count that came whole is the least that is charged. */

startProvider();

const scenario: Omit<Scenario, 'one' | 'steps' | 'stream'> = {
  ...{ ending: 'nobody', afterMs: 0, onCancel: 'keeps_billing', onDisconnect: undefined },
};
const TEXT = 'Hello there.';
const INPUT = 3_000;
const OUTPUT = 300;
const chatUsage = { prompt_tokens: INPUT, completion_tokens: OUTPUT, prompt_tokens_details: { cached_tokens: 0 } };
const tokens = { input_tokens: INPUT, output_tokens: OUTPUT, output_tokens_details: { reasoning_tokens: 0 } };
const metadata = { promptTokenCount: INPUT, candidatesTokenCount: OUTPUT, totalTokenCount: INPUT + OUTPUT };
const event = (value: object, name?: string) => `${name === undefined ? '' : `event: ${name}\n`}data: ${JSON.stringify(value)}\n\n`;
const chunk = (members: object) => event({ id: 'c', object: 'chat.completion.chunk', created: 7, model: 'm', ...members });
const output = [{ type: 'message', id: 'msg_1', role: 'assistant', content: [{ type: 'output_text', text: TEXT, annotations: [] }] }];
const response = { id: 'r', object: 'response', created_at: 7, model: 'm', status: 'completed', output, usage: tokens };
const candidates = [{ content: { role: 'model', parts: [{ text: TEXT }] }, finishReason: 'STOP', index: 0 }];
const choices = [{ index: 0, finish_reason: 'stop', message: { role: 'assistant', content: TEXT } }];
const chat = JSON.stringify({ id: 'c', object: 'chat.completion', created: 7, model: 'm', choices, usage: chatUsage });
const message = { id: 'm', type: 'message', role: 'assistant', model: 'm', content: [{ type: 'text', text: TEXT }] };
const messageStream = [
  event({ type: 'message_start', message: { id: 'm', model: 'm', usage: { input_tokens: INPUT, output_tokens: 1 } } }),
  event({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: TEXT } }),
  event({ type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { ...tokens, server_tool_use: {} } }),
].join('');
const chunks =
  chunk({ choices: [{ index: 0, delta: { content: TEXT }, finish_reason: 'stop' }] }) + chunk({ choices: [], usage: chatUsage });
const vectors = { object: 'list', data: [{ index: 0, embedding: [0] }], usage: { prompt_tokens: INPUT, total_tokens: INPUT } };

const conversed = {
  output: { message: { role: 'assistant', content: [{ text: TEXT }] } },
  usage: { inputTokens: INPUT, outputTokens: OUTPUT, totalTokens: INPUT + OUTPUT },
};

/** Each body, up to the name behind the count that came last. */
const CUT: readonly (readonly [name: string, stream: boolean, body: string, upTo: string, input: number, output: number])[] = [
  ['chat, OpenAI', false, chat, 'prompt_tokens_details', INPUT, OUTPUT],
  ['chat, OpenAI', false, chat, 'completion_tokens', INPUT, 1],
  ['chat, OpenAI', true, chunks, 'prompt_tokens_details', INPUT, OUTPUT],
  ['chat, OpenAI', true, chunks, 'completion_tokens', INPUT, 1],
  ['completions', false, chat.replace('chat.completion', 'text_completion'), 'prompt_tokens_details', INPUT, OUTPUT],
  ['responses', false, JSON.stringify(response), 'output_tokens_details', INPUT, OUTPUT],
  ['responses', true, event({ type: 'response.completed', response }, 'response.completed'), 'output_tokens_details', INPUT, OUTPUT],
  ['responses, chat', false, chat, 'prompt_tokens_details', INPUT, OUTPUT],
  ['responses, chat', true, chunks, 'prompt_tokens_details', INPUT, OUTPUT],
  ['chat, Anthropic', false, JSON.stringify({ ...message, usage: tokens }), 'output_tokens_details', INPUT, OUTPUT],
  ['chat, Anthropic', true, messageStream, 'server_tool_use', INPUT, OUTPUT],
  ['chat, Google', false, JSON.stringify({ candidates, usageMetadata: metadata }), 'totalTokenCount', INPUT, OUTPUT],
  ['chat, Bedrock', false, JSON.stringify(conversed), 'totalTokens', INPUT, OUTPUT],
  ['chat, Google', true, event({ candidates, usageMetadata: metadata }), 'totalTokenCount', INPUT, OUTPUT],
  ['embeddings', false, JSON.stringify(vectors), 'total_tokens', INPUT, 0],
  ['embeddings, passed on', true, JSON.stringify(vectors), 'total_tokens', INPUT, 0],
  [
    'transcription by tokens',
    false,
    JSON.stringify({ text: TEXT, usage: { type: 'tokens', ...tokens } }),
    'output_tokens_details',
    INPUT,
    OUTPUT,
  ],
];
const ENDS: readonly (readonly [string, (bytes: number) => Step])[] = [
  ['a reset', (bytes) => ({ pieceBytes: bytes, cut: { at: 1, how: 'reset' } })],
  ['an early close', (bytes) => ({ pieceBytes: bytes, cut: { at: 1, how: 'fin' } })],
  ['what looks like its end', () => ({})],
];

describe.each(CUT)('%s (stream: %s), %#', (name, stream, body, upTo, input, out) => {
  test.each(ENDS)('costs at least the counts that came whole before %s', async (how, step) => {
    const one = CASES.find((each) => each.name === name);
    if (!one) throw new Error(name);
    const bytes = body.lastIndexOf(`"${upTo}"`) + upTo.length + 4;
    const headers = { 'content-type': stream && name !== 'embeddings, passed on' ? 'text/event-stream' : 'application/json' };
    const sent = how === 'what looks like its end' ? body.slice(0, bytes) : body;
    const { record } = await play({ ...scenario, one, stream, steps: [{ ...step(bytes), headers, body: sent }] });
    expect(record).toMatchObject({ outcome: 'cut', estimated: true });
    expect(record.usage.input_tokens).toBeGreaterThanOrEqual(input);
    expect(record.usage.output_tokens).toBeGreaterThanOrEqual(out);
  });
});
