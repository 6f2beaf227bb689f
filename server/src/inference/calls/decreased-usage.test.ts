import { bedrockSteps, type Step } from '@tallygate/fake-upstream';
import { expect, test } from 'vitest';
import { CASES, play, startProvider } from './testing/provider-bills.ts';

/** A provider that says less of its usage than it had said before contradicts itself: the larger is charged, and the request tells of it. */

startProvider();

const event = (value: object, name?: string) => `${name === undefined ? '' : `event: ${name}\n`}data: ${JSON.stringify(value)}\n\n`;
const stream = (...events: string[]): Step => ({ body: events.join(''), headers: { 'content-type': 'text/event-stream' } });
const chunk = (members: object) => event({ id: 'c', object: 'chat.completion.chunk', created: 7, model: 'm', choices: [], ...members });
const text = chunk({ choices: [{ index: 0, delta: { content: 'Hello there.' }, finish_reason: null }] });
const stop = chunk({ choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] });
const DONE = 'data: [DONE]\n\n';
type Counts = readonly [input: number, output: number];
const chat = ([input, output]: Counts) => ({ prompt_tokens: input, completion_tokens: output, total_tokens: input + output });
const tokens = ([input, output]: Counts) => ({ input_tokens: input, output_tokens: output, total_tokens: input + output });

const ofChat = (one: Counts, other: Counts) => stream(text, stop, chunk({ usage: chat(one) }), chunk({ usage: chat(other) }), DONE);
const behindDone = (one: Counts, other: Counts) => stream(text, stop, chunk({ usage: chat(one) }), DONE, chunk({ usage: chat(other) }));
const response = (status: string, counts: Counts) => ({
  ...{ id: 'r', object: 'response', status, usage: tokens(counts) },
  output: [{ type: 'message', id: 'm', role: 'assistant', content: [{ type: 'output_text', text: 'Hello there.', annotations: [] }] }],
});
const ofResponses = (one: Counts, other: Counts) =>
  stream(
    event({ type: 'response.in_progress', sequence_number: 1, response: response('in_progress', one) }, 'response.in_progress'),
    event({ type: 'response.completed', sequence_number: 2, response: response('completed', other) }, 'response.completed'),
  );
const messageStart = ([input]: Counts) =>
  event({ type: 'message_start', message: { id: 'm', model: 'c', role: 'assistant', content: [], usage: tokens([input, 1]) } });
const delta = (counts: Counts) => event({ type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: tokens(counts) });
const ofAnthropic = (one: Counts, other: Counts) =>
  stream(
    messageStart(one),
    event({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'Hello there.' } }),
    ...[delta(one), delta(other), event({ type: 'message_stop' })],
  );
const ofGoogle = (one: Counts, other: Counts) =>
  stream(
    ...[one, other].map(([promptTokenCount, candidatesTokenCount], at) =>
      event({
        candidates: [{ content: { role: 'model', parts: [{ text: 'Hello.' }] }, index: 0, ...(at === 1 && { finishReason: 'STOP' }) }],
        usageMetadata: { promptTokenCount, candidatesTokenCount },
      }),
    ),
  );

const bedrockMetadata = ([inputTokens, outputTokens]: Counts) =>
  bedrockSteps.frame('metadata', { usage: { inputTokens, outputTokens, totalTokens: inputTokens + outputTokens } });
const ofBedrock = (one: Counts, other: Counts) =>
  bedrockSteps.stream(
    bedrockSteps.frame('messageStart', { role: 'assistant' }),
    bedrockSteps.frame('contentBlockDelta', { contentBlockIndex: 0, delta: { text: 'Hello there.' } }),
    bedrockSteps.frame('messageStop', { stopReason: 'end_turn' }),
    ...[one, other].map(bedrockMetadata),
  );

/** Anthropic's events in AWS's framing. */
const ofClaudeOfBedrock = (one: Counts, other: Counts) => {
  const { body } = ofAnthropic(one, other);
  const events = String(body).split('\n\n').filter(Boolean);
  return bedrockSteps.stream(...events.map((said) => bedrockSteps.chunkFrame(said.slice(said.indexOf('{')))));
};

const STREAMS = [
  ['chat, OpenAI', ofChat],
  ['chat, OpenAI', behindDone],
  ['chat, Azure', ofChat],
  ['completions', ofChat],
  ['responses, chat', ofChat],
  ['responses', ofResponses],
  ['chat, Anthropic', ofAnthropic],
  ['chat, Google', ofGoogle],
  ['chat, Bedrock', ofBedrock],
  ['chat, Bedrock, Claude', ofClaudeOfBedrock],
  ['messages, Bedrock', ofClaudeOfBedrock],
] as const;
const LESS: readonly (readonly [one: Counts, other: Counts])[] = [
  [
    [50, 30],
    [50, 0],
  ],
  [
    [50, 30],
    [0, 0],
  ],
  [
    [50, 30],
    [20, 30],
  ],
  [
    [50, 10],
    [20, 30],
  ],
];
const played = (name: string, step: Step) => {
  const one = CASES.find((each) => each.name === name);
  if (!one) throw new Error(name);
  const nobody = { ending: 'nobody', afterMs: 0, onCancel: 'keeps_billing', onDisconnect: undefined } as const;
  return play({ ...nobody, one, stream: true, steps: [step] });
};

test.each(STREAMS.flatMap(([name, streamOf]) => LESS.map(([one, other]) => ({ name, streamOf, one, other }))))(
  '$name, which says $one and then $other, is charged the larger of both sides and marked',
  async ({ name, streamOf, one, other }) => {
    const { record } = await played(name, streamOf(one, other));
    const usage = { input_tokens: 50, output_tokens: 30 };
    // Of a response, what was said in its middle is no final word: where its last is zero, our count would be charged, were it more.
    const estimated = name === 'responses' && other[1] === 0;
    expect(record).toMatchObject({ outcome: 'completed', estimated, usage, attempts: [{ usage_decreased: true }] });
  },
);

test.each(STREAMS)('%s, whose usage grows, is not marked', async (name, streamOf) => {
  const { record } = await played(name, streamOf([50, 2], [50, 30]));
  expect(record).toMatchObject({ outcome: 'completed', estimated: false, usage: { input_tokens: 50, output_tokens: 30 } });
  expect(record.attempts[0]).not.toHaveProperty('usage_decreased');
});

test.each([
  ['responses, chat', ofChat],
  ['responses', ofResponses],
] as const)('%s shows the client what it is charged', async (name, streamOf) => {
  const { sent } = await played(name, streamOf([50, 10], [20, 30]));
  expect(sent.body.toString()).toMatch(/"type":"response.completed".*"input_tokens":50,.*"output_tokens":30,/);
});
