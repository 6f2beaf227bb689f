import fc from 'fast-check';
import { expect, test } from 'vitest';
import { CASES, type Ending, play, type Scenario, startProvider } from './testing/provider-bills.ts';

startProvider();

const scenarios: fc.Arbitrary<Scenario> = fc
  .record({
    one: fc.constantFrom(...CASES),
    stream: fc.boolean(),
    ending: fc.constantFrom<Ending>('nobody', 'nobody', 'client', 'run'),
    tokens: fc.integer({ min: 1, max: 60 }),
    exceedsBound: fc.boolean(),
    usageTimes: fc.constantFrom(1, 2, 10, 1_000, 50_000),
    covered: fc.constantFrom(0n, 30n, 1_000_000n),
  })
  .map(({ one, stream, ending, covered, ...said }) => ({
    ...{ one, ending, afterMs: 0, onDisconnect: undefined, onCancel: 'keeps_billing' as const },
    stream: stream && one.canStream,
    ...{ steps: [said] as const, quotaLeft: covered },
  }));

/** As every promise says: the worst cost is what was held. */
test('whatever a provider bills, nobody pays more than was promised, and the whole bill is on record', async () => {
  await fc.assert(
    fc.asyncProperty(scenarios, async (scenario) => {
      const { entries, billed, settled } = await play(scenario);
      expect(billed <= settled, `${billed} of ${settled}`).toBe(true);
      for (const { record, charged, debt, waived = 0n } of entries) {
        const [bill, held] = [BigInt(record.cost), BigInt(record.held)];
        expect({ waived, debt: debt > held }).toEqual({ waived: bill > held ? bill - held : 0n, debt: false });
        expect(charged <= bill - waived && bill - waived <= held, `${charged} of ${held}`).toBe(true);
      }
    }),
    { numRuns: 80 },
  );
});

test.each(CASES.filter(({ isFree }) => !isFree))('$name, billed 50,000 times over, costs what was held for it', async (one) => {
  const step = { tokens: 20, exceedsBound: true, usageTimes: 50_000 };
  const scenario = { one, stream: false, ending: 'nobody', afterMs: 0, onDisconnect: undefined, onCancel: 'keeps_billing' } as const;
  const { entries } = await play({ ...scenario, steps: [step], quotaLeft: 0n });
  const [{ record, charged, waived = 0n } = { record: undefined, charged: 0n }] = entries;
  // What is billed by the request alone is known before it is sent.
  if (one.name.startsWith('speech') && one.model === 'tts-1') return expect(waived).toBe(0n);
  expect({ charged, waived }).toEqual({ charged: BigInt(record?.held ?? 0), waived: BigInt(record?.cost ?? 0) - charged });
  return expect(waived).toBeGreaterThan(0n);
});
