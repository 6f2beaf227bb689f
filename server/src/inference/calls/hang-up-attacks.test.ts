import { describe, expect, test } from 'vitest';
import { newReceiptId } from '../../kernel/ids.ts';
import { Deployments } from './deployments.ts';
import { completeCall, streamCall } from './serve.ts';
import { callOf, NOW, openInference, ScriptedProvider } from './testing/inference.ts';
import { CASES, compatible, fake, play, startProvider } from './testing/provider-bills.ts';

startProvider();

/** Which of the chunks of an answer of two tokens has the finish reason. */
const FINISHED_AT = 4;

describe('attacks', () => {
  const [chat, reasoning] = CASES;
  if (!chat || !reasoning) throw new Error('There are cases');

  test('twenty calls bounded at 16,000 tokens and hung up at once cost all that the provider bills', async () => {
    const opened = openInference({ balance: 1_000_000_000_000n });
    const upstream = compatible();
    fake.reset();
    fake.script(() => ({ tokens: 16_000, delayMs: 500 }));
    const deployment = { name: 'fake#1', provider: 'fake', upstream, upstreamModel: chat.model, countsLikeMaker: true, weight: 1 };
    const deps = {
      ...opened.deps,
      deployments: new Deployments(new Map([[chat.model, [{ ...deployment, onCancel: 'keeps_billing' }]]]), new ScriptedProvider()),
    };
    const hangUp = new AbortController();
    const calls = Array.from({ length: 20 }, (_, index) => {
      const call = callOf({ model: chat.model, max_tokens: 16_000, stream: index === 0 }, { livemode: true, signal: hangUp.signal });
      const own = { ...call, requestId: `req_${index}`, receiptId: newReceiptId(NOW) };
      return own.work.isStream ? streamCall(own, opened.openClient().res, deps) : completeCall(own, deps);
    });
    await expect.poll(() => fake.requests.length, { interval: 5, timeout: 60_000 }).toBe(20);
    hangUp.abort();
    await Promise.all(calls);
    const settled = await opened.settled();
    expect(fake.requests.reduce((sum, { billed }) => sum + billed.outputTokens, 0)).toBe(320_000);
    expect(settled.reduce((sum, { record }) => sum + record.usage.output_tokens, 0)).toBe(320_000);
    opened.close();
    await upstream.close();
  });

  test('a reasoning stream closed behind its visible answer costs its reasoning', async () => {
    const { billed, settled, record } = await play({
      ...{ one: reasoning, stream: true, ending: 'client', afterMs: 15, onDisconnect: 'cancel', onCancel: 'keeps_billing' },
      steps: [{ tokens: 2, gapMs: 5, hiddenReasoning: 390 }],
    });
    expect(record.usage.output_tokens).toBe(392);
    expect(settled).toBe(billed);
  });

  test.each([
    ['its client left and its usage never comes', 'client', 'keeps_billing'],
    ['its client left and cancelled it', 'client', 'stops_billing'],
    ['the gateway stops', 'shutdown', 'keeps_billing'],
  ] as const)(
    'a reasoning stream that says that it has finished, but not what it used, costs its bound where %s',
    async (_, ending, onCancel) => {
      const { record } = await play({
        ...{ one: reasoning, stream: true, ending, afterMs: 40, onDisconnect: 'cancel', onCancel, readOnMs: 20 },
        // Behind the chunk with the finish reason.
        steps: [{ tokens: 2, hiddenReasoning: 390, cut: { at: FINISHED_AT, how: 'stall' } }],
      });
      expect(record.usage.output_tokens).toBe(400);
    },
  );

  test.each([
    ['what was held, where its client left before', 'client', 400, 400],
    ['our count, where its client stayed', 'nobody', 5, 40],
  ] as const)('a stream that its provider breaks off costs %s', async (_, ending, least, most) => {
    const { record } = await play({
      ...{ one: chat, stream: true, ending, afterMs: 40, onDisconnect: undefined, onCancel: 'keeps_billing' },
      steps: [{ tokens: 60, gapMs: 20, cut: { at: 10, how: 'fin' } }],
    });
    expect(record.estimated).toBe(true);
    expect(record.usage.output_tokens).toBeLessThanOrEqual(most);
    expect(record.usage.output_tokens).toBeGreaterThanOrEqual(least);
  });
});
