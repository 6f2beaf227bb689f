import type { Step } from '@tallygate/fake-upstream';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { CASES, type Ending, play, type Scenario, startProvider } from './testing/provider-bills.ts';

startProvider();

const cuts = fc.constantFrom<Step>(
  ...[{}, {}, {}, {}],
  ...(
    [
      { at: 3, how: 'reset' },
      { at: 'after_head', how: 'fin' },
      { at: 'before_head', how: 'reset' },
    ] as const
  ).map((cut) => ({ cut })),
  ...(
    [
      { at: 9, how: 'garbage' },
      { at: 12, how: 'fin' },
    ] as const
  ).map((cut) => ({ cut })),
  ...[{ errorAfter: 1 }, { errorAfter: 9 }],
);
const scenarios: fc.Arbitrary<Scenario> = fc
  .record({
    one: fc.constantFrom(...CASES),
    stream: fc.boolean(),
    ending: fc.constantFrom<Ending>('nobody', 'client', 'client', 'run', 'shutdown', 'deadline'),
    afterMs: fc.nat({ max: 12 }),
    tokens: fc.nat({ max: 60 }),
    hiddenReasoning: fc.constantFrom(0, 0, 200, 390),
    gapMs: fc.constantFrom(0, 0, 1),
    delayMs: fc.constantFrom(0, 0, 8),
    cut: cuts,
    stopsBilling: fc.boolean(),
    onDisconnect: fc.constantFrom(undefined, 'cancel' as const, 'finish' as const),
  })
  .map(({ one, stream, ending, afterMs, onDisconnect, stopsBilling, cut, hiddenReasoning, ...said }) => ({
    ...{ one, ending, afterMs, onDisconnect },
    stream: stream && one.canStream,
    onCancel: stopsBilling ? ('stops_billing' as const) : ('keeps_billing' as const),
    steps: [
      {
        // A provider that stops billing generates at the pace of a model: what it sends at once is generated already.
        ...{ tokens: said.tokens + 1, gapMs: stopsBilling ? 1 : said.gapMs, delayMs: said.delayMs, stopsBilling, ...cut },
        ...(one.model === 'o4-mini' && { hiddenReasoning }),
      },
    ] as const,
  }));

test('whoever hangs up, whatever breaks: no provider bills more than was settled, and no more is settled than was held', async () => {
  await fc.assert(
    fc.asyncProperty(scenarios, async (scenario) => {
      const { billed, settled, held } = await play(scenario);
      expect({ billed: billed <= settled, settled: settled <= held }).toEqual({ billed: true, settled: true });
    }),
    { numRuns: 80 },
  );
});

describe.each(CASES)('$name', (one) => {
  const scenario: Scenario = {
    ...{ one, stream: one.canStream, ending: 'client', afterMs: 0, onDisconnect: undefined, onCancel: 'keeps_billing' },
    steps: [{ tokens: 60, gapMs: 1, delayMs: 50 }],
  };

  test.each([[false], [true]])('costs what the provider bills after a hang-up (stream: %s)', async (stream) => {
    const { billed, settled, record } = await play({ ...scenario, stream: stream && one.canStream });
    expect(record).toMatchObject({ outcome: 'cancelled', estimated: false });
    expect(billed > 0n).toBe(!one.isFree);
    expect(settled).toBe(billed);
  });

  test('costs what was held when the gateway stops', async () => {
    // Not answered before the gateway stops, however busy the machine is.
    const { billed, settled, record } = await play({ ...scenario, ending: 'shutdown', steps: [{ tokens: 60, delayMs: 5_000 }] });
    expect(record).toMatchObject({ outcome: 'abandoned', estimated: true });
    expect(settled).toBeGreaterThanOrEqual(billed);
  });
});
