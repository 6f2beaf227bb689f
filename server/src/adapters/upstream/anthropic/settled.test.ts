import { anthropicSteps, type FakeUpstream, type Step, startFakeUpstream, steps } from '@tallygate/fake-upstream';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type Deployment, Deployments } from '../../../inference/calls/deployments.ts';
import { completeCall, streamCall } from '../../../inference/calls/serve.ts';
import { callOf, openInference, ScriptedProvider } from '../../../inference/calls/testing/inference.ts';
import { chunksOf } from '../conformance-calls.ts';
import { anthropic } from './anthropic.ts';

const MODEL = 'claude-sonnet-4-6';
/** Nano-USD a token: 3, 15, 0.30, 3.75 and 6 USD per million. */
const PRICE = { input: 3000n, output: 15_000n, cached: 300n, written: 3750n, writtenForAnHour: 6000n };
/** What the scripted provider counts for a prompt and for its eight words. */
const EIGHT_WORDS = 10n * PRICE.input + 8n * PRICE.output;
const CALLS = [
  { name: 'look', arguments: '{"city":"Köln"}' },
  { name: 'look', arguments: '{"city":"Bonn"}' },
];
const LOOK = { type: 'function', function: { name: 'look', parameters: { type: 'object', properties: { city: { type: 'string' } } } } };
const SCHEMA = { type: 'object', properties: { stars: { type: 'integer' } }, required: ['stars'], additionalProperties: false };
const IMAGE = { type: 'image_url', image_url: { url: 'data:image/gif;base64,R0lGODlhAQABAAAAACH5BAEKAAEALAAAAAABAAEAAAICTAEAOw==' } };

let fake: FakeUpstream;
let world: ReturnType<typeof openInference>;
beforeAll(async () => {
  fake = await startFakeUpstream();
});
afterAll(() => fake.close());
beforeEach(() => {
  fake.reset();
  world = openInference({ balance: 1_000_000_000_000n });
});
const open: { close(): Promise<void> }[] = [];
afterEach(async () => {
  world.close();
  await Promise.all(open.splice(0).map((provider) => provider.close()));
});

/** The gateway with so many deployments of the model at the provider. */
function gateway(count = 1) {
  const deployments = Array.from({ length: count }, (_, index): Deployment => {
    const upstream = anthropic({ name: 'fake', baseUrl: fake.url, apiKey: 'sk-ant-0123456789' });
    open.push(upstream);
    return {
      ...{ name: `anthropic#${index}`, provider: 'anthropic', upstream, upstreamModel: MODEL },
      ...{ countsLikeMaker: true, onCancel: 'keeps_billing', weight: 1 },
    };
  });
  return { ...world.deps, deployments: new Deployments(new Map([[MODEL, deployments]]), new ScriptedProvider(), () => 0.5) };
}

async function settled(body: object, isStreamed: boolean, deps = gateway()) {
  const call = callOf({ model: MODEL, stream: isStreamed, stream_options: { include_usage: true }, ...body }, { livemode: true });
  const { res, socket } = world.openClient();
  const text = isStreamed
    ? await streamCall(call, res, deps).then(() => socket.body.toString())
    : String((await completeCall(call, deps)).body);
  return { text, record: (await world.settled()).at(-1)?.record };
}

describe.each([false, true])('an answer (streamed: %s) is settled to the nano-dollar', (isStreamed) => {
  it.each<[string, object, Step, bigint]>([
    ['in words', {}, {}, EIGHT_WORDS],
    ['cut at the bound', { max_tokens: 3 }, {}, 10n * PRICE.input + 3n * PRICE.output],
    // A token for a call's name, one for eight characters of its arguments.
    ['with a tool call', { tools: [LOOK], tool_choice: 'required' }, {}, 10n * PRICE.input + 3n * PRICE.output],
    ['with parallel tool calls', { tools: [LOOK] }, { text: '', toolCalls: CALLS }, 10n * PRICE.input + 6n * PRICE.output],
    ['to a picture', { messages: [{ role: 'user', content: [{ type: 'text', text: 'What?' }, IMAGE] }] }, {}, EIGHT_WORDS],
    [
      'in a given shape',
      { response_format: { type: 'json_schema', json_schema: { name: 'x', schema: SCHEMA } } },
      {},
      10n * PRICE.input + 1n * PRICE.output,
    ],
    ['that was thought about', { reasoning_effort: 'low' }, {}, EIGHT_WORDS + 3n * PRICE.output],
    ['that refuses', {}, anthropicSteps.refusal('No.'), EIGHT_WORDS],
    [
      'with a prompt that was read from the cache and written to it',
      {},
      anthropicSteps.cached({ read: 3000, write5m: 500, write1h: 200 }),
      EIGHT_WORDS + 3000n * PRICE.cached + 500n * PRICE.written + 200n * PRICE.writtenForAnHour,
    ],
  ])('%s', async (_, body, step, cost) => {
    fake.script(step);
    const { record } = await settled(body, isStreamed);
    expect(record).toMatchObject({ outcome: 'completed', estimated: false, modelServed: MODEL, provider: 'anthropic', cost: `${cost}` });
  });

  it('by the deployment that answers, behind one at its limit and one that is overloaded', async () => {
    fake.script(anthropicSteps.rateLimited(2), anthropicSteps.overloaded());
    const { record } = await settled({}, isStreamed, gateway(3));
    expect(record).toMatchObject({ outcome: 'completed', fallback: 'deployment', cost: `${EIGHT_WORDS}` });
    expect(record?.attempts.map(({ outcome }) => outcome)).toEqual(['rate_limited', 'failed', 'answered']);
  });

  it('at nothing where it is refused as a request', async () => {
    const { text, record } = await settled({ tools: [LOOK], n: 2 }, isStreamed);
    expect(JSON.parse(text)).toMatchObject({ code: 'upstream_rejected' });
    expect(record).toMatchObject({ outcome: 'failed', cost: '0' });
  });
});

it('tells a client who asked for usage of all of it, with the cost', async () => {
  fake.script(anthropicSteps.cached({ read: 3000, write5m: 500, write1h: 200 }));
  const { text } = await settled({}, true);
  expect(chunksOf(text).at(-1)?.usage).toMatchObject({
    prompt_tokens: 3710,
    completion_tokens: 8,
    prompt_tokens_details: { cached_tokens: 3000, cache_write_tokens: 500, cache_write_1h_tokens: 200 },
    cost: 0.004125,
  });
});

it('leaves an overloaded provider for another while the client has seen nothing, though its stream had begun', async () => {
  fake.script(steps.errorMidStream(1));
  const { record } = await settled({}, true, gateway(2));
  expect(record).toMatchObject({ outcome: 'completed', fallback: 'deployment', cost: `${EIGHT_WORDS}` });
});

it('ends a stream that breaks off with an error, and settles the prompt as it was counted and what was delivered of the answer', async () => {
  fake.script({ ...anthropicSteps.cached({ read: 3000 }), ...steps.errorMidStream(6) });
  const { text, record } = await settled({}, true);
  expect(text).toContain('"code":"overloaded_error"');
  expect(text).not.toContain('[DONE]');
  expect(record).toMatchObject({ outcome: 'cut', estimated: true, usage: { input_tokens: 3010, cached_input_tokens: 3000 } });
  const { output_tokens: output = 0 } = record?.usage ?? {};
  expect(output).toBeGreaterThan(0);
  expect(record?.cost).toBe(`${10n * PRICE.input + 3000n * PRICE.cached + BigInt(output) * PRICE.output}`);
});
