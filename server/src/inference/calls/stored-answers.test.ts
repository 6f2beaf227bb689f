import { afterEach, expect, test } from 'vitest';
import { admit } from './admission.ts';
import { relayPlain } from './plain-relay.ts';
import { relayStream } from './stream-relay.ts';
import { callOf, openInference, ScriptedAnswer, ScriptedProvider } from './testing/inference.ts';
import type { Work } from './work.ts';

const usage = { prompt_tokens: 10, completion_tokens: 20, total_tokens: 30 };
/** Nano-USD, at 0.15 and 0.60 USD per million tokens. */
const COST = '13500';
const PLAIN = [JSON.stringify({ id: 'c', choices: [{ index: 0, message: { role: 'assistant', content: 'Hello.' } }], usage })];
const STREAM = [
  ...[{ choices: [{ index: 0, delta: { content: 'Hello.' }, finish_reason: 'stop' }] }, { choices: [], usage }].map(
    (event) => `data: ${JSON.stringify({ id: 'c', ...event })}\n\n`,
  ),
  'data: [DONE]\n\n',
];

let world: ReturnType<typeof openInference> | undefined;
afterEach(() => {
  world?.close();
  world = undefined;
});

/** A call with a whole answer, as far as the moment at which it is being stored. */
async function storing(name: 'keep' | 'keepStream', stream: boolean, store: () => Promise<void>) {
  const opened = openInference({ live: { 'gpt-4o-mini': [new ScriptedProvider(new ScriptedAnswer(stream ? STREAM : PLAIN))] } });
  world = opened;
  const reached = Promise.withResolvers<void>();
  const call = callOf({ stream }, { livemode: true });
  const work: Work = {
    ...call.work,
    [name]: () => {
      reached.resolve();
      return store();
    },
  };
  const admission = await admit({ ...call, work }, opened.deps);
  const running = opened.deps.running.begin(admission.call);
  const relayed = stream
    ? relayStream(admission, running, opened.openClient().res, opened.deps)
    : relayPlain(admission, running, opened.deps, () => {});
  await reached.promise;
  return { ...opened, call, relayed };
}

const FORMS = [
  ['keep', false],
  ['keep', true],
  ['keepStream', true],
] as const;

test.each(FORMS)('a gateway that dies while an answer is stored is charged what it came to (%s, stream: %s)', async (name, stream) => {
  const { lanes, call, settled } = await storing(name, stream, () => new Promise(() => {}));
  lanes.abandon(call.receiptId);
  const [entry, ...more] = await settled();
  expect(more).toEqual([]);
  expect(entry).toMatchObject({ record: { outcome: 'abandoned', cost: COST, estimated: false, usage: { output_tokens: 20 } } });
});

test.each(FORMS)('an answer that was stored is settled as completed, once (%s, stream: %s)', async (name, stream) => {
  const { lanes, call, settled, relayed } = await storing(name, stream, async () => {});
  await relayed;
  expect(lanes.abandon(call.receiptId)).toBe(false);
  expect(await settled()).toMatchObject([{ record: { outcome: 'completed', cost: COST } }]);
});
