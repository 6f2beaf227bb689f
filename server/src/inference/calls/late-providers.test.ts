import type { Step } from '@tallygate/fake-upstream';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { CASES, type Ending, fake, orRefused, play, startProvider } from './testing/provider-bills.ts';

startProvider();

describe('a provider that is late', () => {
  const TIMEOUT_MS = 12;
  /** A first byte in time, one that is late, and one that comes when nobody reads on. */
  const delays = fc.constantFrom(0, 0, 20, 20, 90);
  const gaps = fc.constantFrom(0, 0, 0, 20);
  // A reset may overtake what was sent before it: then nobody can count that.
  const breaks = fc.oneof(
    { weight: 3, arbitrary: fc.constant({}) },
    { weight: 1, arbitrary: fc.constantFrom<Step>({ status: 503, body: {} }, { cut: { at: 'before_head', how: 'stall' } }) },
    {
      weight: 2,
      arbitrary: fc.record({ at: fc.nat({ max: 5 }), how: fc.constantFrom('fin' as const, 'stall' as const) }).map((cut) => ({ cut })),
    },
  );
  const step = fc
    .record({ delayMs: delays, firstByteDelayMs: delays, gapMs: gaps, tokens: fc.nat({ max: 4 }), broken: breaks })
    .map(({ broken, tokens, ...slow }): Step => ({ ...slow, tokens: tokens + 1, ...broken }));

  test('is paid what it bills, by usage or at its hold, whichever other answers, however often', async () => {
    const late = fc
      .record({
        one: fc.constantFrom(...CASES),
        stream: fc.boolean(),
        ending: fc.constantFrom<Ending>('nobody', 'nobody', 'nobody', 'client', 'run', 'shutdown'),
        afterMs: fc.nat({ max: 40 }),
        steps: fc.tuple(step, step, step),
        many: fc.integer({ min: 1, max: 3 }),
        monthlyCap: fc.constantFrom(undefined, undefined, 300_000n, 3_000_000n),
      })
      .map(({ steps, many, monthlyCap, stream, ...said }) => ({
        ...{ ...said, stream: stream && said.one.canStream, onCancel: 'keeps_billing' as const, onDisconnect: undefined },
        ...{ timeoutMs: TIMEOUT_MS, readOnMs: 60, ...(monthlyCap !== undefined && { monthlyCap }) },
        steps: [steps[0], ...steps.slice(1, many)] as const,
      }));
    await fc.assert(
      fc.asyncProperty(late, async (scenario) => {
        const { billed, settled, held, stillHeld, records, begunAs } = await play(scenario).catch(orRefused('budget_exceeded'));
        expect({ billed: billed <= settled, settled: settled <= held, stillHeld }).toEqual({ billed: true, settled: true, stillHeld: 0n });
        expect(new Set(records.map(({ attempt }) => attempt)).size).toBe(records.length);
        expect(records.map(({ attempt }) => attempt)).toEqual(begunAs);
      }),
      { numRuns: 120 },
    );
  });

  const [chat] = CASES;
  if (!chat) throw new Error('There are cases');
  const nobodyLeaves = { one: chat, ending: 'nobody', afterMs: 0, onCancel: 'keeps_billing', onDisconnect: undefined } as const;
  const waiting = { ...nobodyLeaves, timeoutMs: 100, readOnMs: 5_000 };
  /** Leaves the provider that is asked next some time, on a busy machine too. */
  const answering = { ...waiting, timeoutMs: 250 };
  /** Comes after the time-out, and before nobody reads on. */
  const SLOW: Step = { delayMs: 400, tokens: 5 };

  test('is named beside the one asked next in what settles the call should the process die', async () => {
    const { begun } = await play({ ...answering, stream: false, steps: [SLOW, { tokens: 3 }], providers: ['first', 'second'] });
    expect(begun).toMatchObject({ provider: 'second', attempt: 2, fallback: 'deployment' });
    expect(begun?.attempts).toMatchObject([{ deployment: 'fake#1', provider: 'first', outcome: 'timeout' }]);
  });

  test.each([[false], [true]])(
    'is paid beside the one that answers in its place, with a receipt of its own (stream: %s)',
    async (stream) => {
      const { billed, settled, records, record, sent, reply } = await play({ ...answering, stream, steps: [SLOW, { tokens: 3 }] });
      expect(reply ? reply.body.toString() : sent.body.toString()).toContain('tok2');
      expect(reply ? reply.body.toString() : sent.body.toString()).not.toContain('tok3');
      expect(record).toMatchObject({ outcome: 'completed', attempt: 2, attempts: [{ outcome: 'timeout' }, { outcome: 'answered' }] });
      const left = records.find(({ attempt }) => attempt === 1);
      expect(left).toMatchObject({
        outcome: 'abandoned',
        estimated: false,
        usage: { output_tokens: 5 },
        attempts: [{ outcome: 'timeout' }],
      });
      expect(left?.receiptId).not.toBe(record.receiptId);
      expect(settled).toBe(billed);
    },
  );

  test.each([[false], [true]])('is not replaced where what both may bill does not fit, but paid (stream: %s)', async (stream) => {
    const enough = await play({ ...waiting, stream, steps: [{ tokens: 3 }] });
    const { billed, settled, records, reply, sent } = await play({
      ...{ ...waiting, stream, steps: [SLOW, { tokens: 3 }] },
      monthlyCap: (enough.held * 3n) / 2n,
    });
    expect(fake.requests).toHaveLength(1);
    expect(reply ? reply.status : Number(sent.head.split(' ')[1])).toBe(504);
    expect(JSON.parse((reply?.body ?? sent.body).toString())).toMatchObject({ code: 'upstream_timeout' });
    expect(records).toMatchObject([{ outcome: 'abandoned', estimated: false, attempt: 1, usage: { output_tokens: 5 } }]);
    expect(settled).toBe(billed);
  });

  test('in the middle of a stream ends it with an error at once, and is paid to its end', async () => {
    const { billed, settled, record, sent } = await play({ ...waiting, stream: true, steps: [{ tokens: 5, gapMs: 150 }] });
    expect(sent.body.toString()).toContain('upstream_timeout');
    expect(sent.body.toString()).not.toContain('tok4');
    expect(record).toMatchObject({ outcome: 'abandoned', estimated: false, usage: { output_tokens: 5 } });
    expect(settled).toBe(billed);
  });

  test.each([[false], [true]])('and never says what it bills is paid what was held (stream: %s)', async (stream) => {
    const silent: Step = { cut: { at: 'before_head', how: 'stall' } };
    const { records, stillHeld } = await play({ ...waiting, timeoutMs: 20, readOnMs: 40, stream, steps: [silent, silent] });
    expect(records.map(({ attempt, outcome, cost, held }) => ({ attempt, outcome, isAll: cost === held }))).toEqual([
      { attempt: 1, outcome: 'abandoned', isAll: true },
      { attempt: 2, outcome: 'abandoned', isAll: true },
    ]);
    expect(stillHeld).toBe(0n);
  });

  test('and whose connection ends before its answer began is paid what was held', async () => {
    const { records, stillHeld } = await play({
      ...{ ...answering, stream: false, steps: [{ delayMs: 400, cut: { at: 'before_head', how: 'reset' } }, { tokens: 3 }] },
    });
    expect(records.map(({ attempt, outcome, cost, held }) => ({ attempt, outcome, isAll: cost === held }))).toEqual(
      expect.arrayContaining([
        { attempt: 1, outcome: 'abandoned', isAll: true },
        { attempt: 2, outcome: 'completed', isAll: false },
      ]),
    );
    expect(stillHeld).toBe(0n);
  });

  test('and breaks off in the end is paid nothing for a plain answer', async () => {
    const { records } = await play({ ...waiting, stream: false, steps: [{ ...SLOW, status: 503, body: {} }, { tokens: 3 }] });
    expect(records).toMatchObject([{ outcome: 'completed', attempt: 2 }]);
  });
});
