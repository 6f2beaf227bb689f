import { type Step, steps } from '@tallygate/fake-upstream';
import { describe, expect, test } from 'vitest';
import { createSandboxProvider } from '../../adapters/upstream/sandbox/index.ts';
import type { Call } from './call.ts';
import { Deployments } from './deployments.ts';
import { streamCall } from './serve.ts';
import { callOf, openInference } from './testing/inference.ts';
import { CASES, fake, play, type Scenario, startProvider, stateless } from './testing/provider-bills.ts';

startProvider();

const MIB = 1024 * 1024;
/** A document may have 64 MiB, an event of a stream 32. */
const TOO_LARGE = 65 * MIB;
/** Most documents are too large for a gateway that gives no larger ones: each of 65 MiB takes a second. */
const SMALL = { mostAnswerBytes: MIB };
const TOO_LARGE_FOR_SMALL = 2 * MIB;
const TOO_LARGE_EVENT = 33 * MIB;

const scenario: Omit<Scenario, 'one' | 'steps'> = {
  ...{ stream: false, ending: 'nobody', afterMs: 0, onCancel: 'keeps_billing', onDisconnect: undefined },
  ...{ timeoutMs: 20_000, readOnMs: 20_000 },
};
/** Asked after the first, it would be billed too. */
const FALLBACK: Step = { tokens: 3 };

const PASSED_ON = 'embeddings, passed on';
/** Vertex says the tokens of each text with its vector, and nowhere else. */
const DOCUMENTS = CASES.filter(({ name }) => !name.startsWith('speech') && name !== 'embeddings, Vertex');
const STREAMS = CASES.filter(({ canStream, name }) => canStream && name !== PASSED_ON);

describe.each(DOCUMENTS)('$name', (one) => {
  test('costs what the provider bills of an answer that is too large, and no other provider is asked', async () => {
    const { billed, settled, record, records, reply } = await play({
      ...{ ...scenario, ...SMALL, one },
      steps: [{ tokens: 20, padding: TOO_LARGE_FOR_SMALL }, FALLBACK],
    });
    expect(fake.requests).toHaveLength(1);
    expect(JSON.parse(String(reply?.body))).toMatchObject({ status: 400, code: 'answer_too_large' });
    expect(record).toMatchObject({ outcome: 'abandoned', estimated: false, attempt: 1 });
    expect(records).toHaveLength(1);
    expect(billed > 0n).toBe(!one.isFree);
    expect(settled).toBe(billed);
  });
});

describe.each(STREAMS)('$name', (one) => {
  test('costs what the provider bills of a stream whose event is too large', async () => {
    const { billed, settled, record, sent } = await play({
      ...scenario,
      one,
      stream: true,
      steps: [{ tokens: 20, padding: TOO_LARGE_EVENT }, FALLBACK],
    });
    expect(fake.requests).toHaveLength(1);
    expect(JSON.parse(sent.body.toString())).toMatchObject({ status: 400, code: 'answer_too_large' });
    expect(record).toMatchObject({ outcome: 'abandoned', estimated: false });
    expect(billed > 0n).toBe(true);
    expect(settled).toBe(billed);
  });
});

test('embeddings are passed on, however large', async () => {
  const one = CASES.find(({ name }) => name === PASSED_ON);
  if (!one) throw new Error('There is such a case');
  const { billed, settled, record, sent } = await play({ ...scenario, one, stream: true, steps: [{ padding: TOO_LARGE }] });
  const { data, usage } = JSON.parse(sent.body.toString());
  expect(data).toHaveLength(200);
  expect(usage.cost).toBeGreaterThan(0);
  expect(record).toMatchObject({ outcome: 'completed', estimated: false, stream: false });
  expect(billed > 0n).toBe(true);
  expect(settled).toBe(billed);
});

const [chat] = CASES;
if (!chat) throw new Error('There are cases');

test('an answer that is too large and never ends costs what was held', async () => {
  const endless: Step = { padding: TOO_LARGE, pieceBytes: MIB, cut: { at: 65, how: 'stall' } };
  const { record, records, reply } = await play({ ...scenario, one: chat, timeoutMs: 10_000, readOnMs: 300, steps: [endless, FALLBACK] });
  expect(JSON.parse(String(reply?.body))).toMatchObject({ code: 'answer_too_large' });
  expect(record).toMatchObject({ outcome: 'abandoned', estimated: true });
  expect(record.cost).toBe(record.held);
  expect(records).toHaveLength(1);
});

test.each([
  ['says nothing of its usage', false, steps.usageMissing()],
  ['says nothing of its usage', true, steps.usageMissing()],
  ['says that it took no tokens', false, steps.usageZero()],
  ['says that it took no tokens', true, steps.usageZero()],
] as const)('an answer that is too large and %s costs what was held (stream: %s)', async (_, stream, usage) => {
  const { record } = await play({
    ...{ ...scenario, ...SMALL, one: chat, stream },
    steps: [{ padding: stream ? TOO_LARGE_EVENT : TOO_LARGE_FOR_SMALL, ...usage }, FALLBACK],
  });
  expect(record).toMatchObject({ outcome: 'abandoned', estimated: true });
  expect(record.cost).toBe(record.held);
});

test('a stream that has begun says that an event was too large, and costs what the provider bills', async () => {
  const steps = [{ tokens: 20, padding: TOO_LARGE_EVENT, paddingAt: 3 }, FALLBACK] as const;
  const { billed, settled, record, sent } = await play({ ...scenario, one: chat, stream: true, steps });
  expect(sent.body.toString()).toContain('tok0');
  expect(sent.body.toString()).toContain('answer_too_large');
  expect(sent.body.toString()).not.toContain('tok9');
  expect(record).toMatchObject({ outcome: 'abandoned', estimated: false });
  expect(settled).toBe(billed);
});

test('a small request for many embeddings keeps little of its answer at once, however slowly it is read', async () => {
  const input = Array.from({ length: 2_048 }, () => 'a');
  const upstream = createSandboxProvider();
  const opened = openInference();
  try {
    const deps = { ...opened.deps, deployments: new Deployments(new Map(), upstream) };
    const call: Call = {
      ...callOf({}),
      work: await stateless('/v1/embeddings', { model: 'text-embedding-3-large', input, encoding_format: 'base64' }),
    };
    expect(call.work.isPassedOn).toBe(true);
    const { res, socket } = opened.openClient();
    socket.isStalled = true;
    const served = streamCall(call, res, deps);
    await expect.poll(() => socket.body.length, { interval: 1 }).toBeGreaterThan(0);
    for (let turn = 0; turn < 200; turn += 1) await new Promise(setImmediate);
    expect(socket.body.length + res.writableLength + socket.writableLength).toBeLessThan(MIB);
    socket.readOn();
    await served;
    expect(JSON.parse(socket.body.toString()).data).toHaveLength(input.length);
    expect(await opened.settled()).toMatchObject([{ record: { outcome: 'completed', estimated: false } }]);
  } finally {
    opened.close();
    await upstream.close();
  }
});
