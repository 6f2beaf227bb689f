import type { Step } from '@tallygate/fake-upstream';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { CASES, play, startProvider } from './testing/provider-bills.ts';

/** The same usage in every dialect, at a random place, under random names, in random forms of a number. */

startProvider();

const TEXT = 'Hello there.';
type Usage = Readonly<Record<string, unknown>>;
type Place = (usage: Usage) => object;

const event = (value: object, name?: string) => `${name === undefined ? '' : `event: ${name}\n`}data: ${JSON.stringify(value)}\n\n`;
const stream = (...events: string[]): Step => ({ body: events.join(''), headers: { 'content-type': 'text/event-stream' } });

const MEMBERS: readonly Place[] = [
  (usage) => ({ usage }),
  (usage) => ({ usage: [usage] }),
  (usage) => ({ usage: { ...usage, iterations: [usage] } }),
  (usage) => ({ x_groq: { id: 'r', usage } }),
  (usage) => ({ meta: { billed_units: usage } }),
  (usage) => ({ metadata: { usage } }),
  (usage) => ({ usageMetadata: usage }),
  (usage) => ({ usage_metadata: usage }),
  (usage) => ({ token_usage: usage }),
];
const CHOICE: readonly Place[] = [
  (usage) => ({ usage }),
  (usage) => ({ delta: { usage }, message: { role: 'assistant', content: TEXT, usage } }),
];

const chunk = (members: object) => event({ id: 'c', object: 'chat.completion.chunk', created: 7, model: 'm', choices: [], ...members });
const message = { role: 'assistant', content: TEXT };
const last = { index: 0, delta: {}, finish_reason: 'stop' };
const text = chunk({ choices: [{ index: 0, delta: message, finish_reason: null }] });

const chatStep = (isStream: boolean, members: object, choice: object = {}): Step =>
  isStream
    ? stream(text, chunk({ choices: [{ ...last, ...choice }], ...members }), 'data: [DONE]\n\n')
    : { body: { id: 'c', object: 'chat.completion', created: 7, model: 'm', choices: [{ index: 0, message, ...choice }], ...members } };

const response = (members: object) => ({
  ...{ id: 'r', object: 'response', created_at: 7, model: 'm', status: 'completed' },
  output: [{ type: 'message', id: 'msg_1', role: 'assistant', content: [{ type: 'output_text', text: TEXT, annotations: [] }] }],
  ...members,
});
const responseStep = (isStream: boolean, members: object): Step =>
  isStream
    ? stream(event({ type: 'response.completed', sequence_number: 1, response: response(members) }, 'response.completed'))
    : { body: response(members) };

const anthropicStep = (isStream: boolean, members: object): Step => {
  const content = [{ type: 'text', text: TEXT }];
  const begun = { id: 'm', type: 'message', role: 'assistant', model: 'm', content: [] };
  return isStream
    ? stream(
        event({ type: 'message_start', message: { ...begun, usage: { input_tokens: 1, output_tokens: 1 } } }),
        event({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: TEXT } }),
        event({ type: 'message_delta', delta: { stop_reason: 'end_turn' }, ...members }),
        event({ type: 'message_stop' }),
      )
    : { body: { ...begun, content, stop_reason: 'end_turn', ...members } };
};

const googleStep = (isStream: boolean, members: object): Step => {
  const answer = { candidates: [{ content: { role: 'model', parts: [{ text: TEXT }] }, finishReason: 'STOP', index: 0 }], ...members };
  return isStream ? stream(event(answer)) : { body: answer };
};

const OPENAI = [
  ['prompt_tokens', 'completion_tokens'],
  ['input_tokens', 'output_tokens'],
  ['prompt_token_count', 'candidates_token_count'],
] as const;
const wholes = (step: (isStream: boolean, members: object) => Step) =>
  MEMBERS.map((place) => (isStream: boolean, usage: Usage) => step(isStream, place(usage)));

const DIALECTS = [
  {
    cases: ['chat, OpenAI', 'responses, chat'],
    names: OPENAI,
    steps: [
      ...wholes(chatStep),
      ...CHOICE.map((place) => (isStream: boolean, usage: Usage) => chatStep(isStream, {}, { finish_reason: 'stop', ...place(usage) })),
    ],
  },
  { cases: ['responses'], names: OPENAI, steps: wholes(responseStep) },
  { cases: ['chat, Anthropic', 'responses, Anthropic'], names: OPENAI.slice(0, 2), steps: wholes(anthropicStep) },
  { cases: ['chat, Google', 'responses, Google'], names: OPENAI, steps: wholes(googleStep) },
];

const inCamelCase = (name: string) => name.replaceAll(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
const SPELLINGS = [(name: string) => name, inCamelCase, (name: string) => name.replaceAll('_', '-')];
const FORMS = [(count: number) => count, String, (count: number) => count - 0.25, (count: number) => `${count / 10}e1`];

const told = fc.constantFrom(...DIALECTS).chain(({ cases, names, steps }) =>
  fc.record({
    name: fc.constantFrom(...cases),
    names: fc.constantFrom(...names),
    step: fc.constantFrom(...steps),
    isStream: fc.boolean(),
    spelling: fc.constantFrom(...SPELLINGS),
    form: fc.constantFrom(...FORMS),
    input: fc.integer({ min: 2000, max: 9000 }),
    output: fc.integer({ min: 50, max: 390 }),
  }),
);

test('however and wherever a provider tells of its usage, no less is charged', async () => {
  await fc.assert(
    fc.asyncProperty(told, async ({ name, names, step, isStream, spelling, form, input, output }) => {
      const one = CASES.find((each) => each.name === name);
      if (!one) throw new Error(name);
      const usage = { [spelling(names[0])]: form(input), [spelling(names[1])]: form(output) };
      const { record } = await play({
        ...{ one, stream: isStream, steps: [step(isStream, usage)], ending: 'nobody', afterMs: 0 },
        ...{ onCancel: 'keeps_billing', onDisconnect: undefined },
      });
      expect(record.outcome).toBe('completed');
      expect(record.usage.input_tokens).toBeGreaterThanOrEqual(input);
      expect(record.usage.output_tokens).toBeGreaterThanOrEqual(output);
    }),
    { numRuns: 80 },
  );
});
