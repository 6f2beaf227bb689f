import type { ReceiptUsage } from '@tallygate/contract';
import { recomputeCost } from '@tallygate/receipts';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { loadCatalog, type Price, type UnitPrices } from './catalog.ts';
import { costBound, costOf } from './cost.ts';

const NOW = Date.parse('2026-11-21T10:00:00Z');
const catalogPrices = loadCatalog().models.flatMap((model) => model.priceAt(NOW) ?? []);

const priceOf = (unit: UnitPrices, tiers: Price['tiers'] = []): Price => ({
  version: 'v',
  effectiveFrom: '2026-01-01',
  unit,
  tiers,
  batchFactor: '0.5',
});
const usageOf = (parts: Partial<ReceiptUsage>): ReceiptUsage => ({
  input_tokens: 0,
  cached_input_tokens: 0,
  cache_write_tokens: 0,
  output_tokens: 0,
  reasoning_tokens: 0,
  ...parts,
});

const pico = fc.bigInt({ min: 0n, max: 10n ** 9n });
/** Some meters without a price of their own, some cheaper beyond the tier than below it. */
const unitPrices: fc.Arbitrary<UnitPrices> = fc.record(
  { input_tokens: pico, cached_input_tokens: pico, cache_write_tokens: pico, output_tokens: pico },
  { requiredKeys: ['input_tokens'] },
);
const anyPrice = fc.oneof(
  fc.constantFrom(...catalogPrices),
  fc
    .tuple(
      unitPrices,
      fc.uniqueArray(fc.record({ aboveInputTokens: fc.integer({ min: 1, max: 2_000 }), unit: unitPrices }), {
        maxLength: 3,
        selector: (tier) => tier.aboveInputTokens,
      }),
    )
    .map(([unit, tiers]) =>
      priceOf(
        unit,
        tiers.toSorted((a, b) => a.aboveInputTokens - b.aboveInputTokens),
      ),
    ),
);
/** Bounds near the tiers' edges as well as anywhere. */
const anyBound = fc.oneof(fc.nat({ max: 3_000 }), fc.integer({ min: 199_990, max: 200_010 }), fc.integer({ min: 271_990, max: 272_010 }));
const within = (input: number, output: number): fc.Arbitrary<ReceiptUsage> =>
  fc.nat({ max: input }).chain((used) =>
    fc.tuple(fc.nat({ max: used }), fc.nat({ max: output })).chain(([cached, out]) =>
      fc.record({
        input_tokens: fc.constant(used),
        cached_input_tokens: fc.constant(cached),
        cache_write_tokens: fc.nat({ max: used - cached }),
        output_tokens: fc.constant(out),
        reasoning_tokens: fc.nat({ max: out }),
      }),
    ),
  );

describe('the bound on a cost', () => {
  test('is never below the cost of any usage within it, whatever tier, cache or reasoning the provider counts', () => {
    const cases = fc
      .tuple(anyPrice, anyBound, fc.nat({ max: 3_000 }))
      .chain(([price, input, output]) =>
        fc.record({ price: fc.constant(price), input: fc.constant(input), output: fc.constant(output), usage: within(input, output) }),
      );
    fc.assert(
      fc.property(cases, ({ price, input, output, usage }) => {
        const { fixed, perOutputToken } = costBound(price, input);
        expect(costOf(price, usage).nanoUsd * 1_000n <= fixed + BigInt(output) * perOutputToken + 999n).toBe(true);
      }),
      { numRuns: 1_000 },
    );
  });

  test('takes the dearer tier only where the input can reach it', () => {
    const price = priceOf({ input_tokens: 10n, output_tokens: 5n }, [
      { aboveInputTokens: 100, unit: { input_tokens: 20n, output_tokens: 7n } },
    ]);
    expect(costBound(price, 100)).toEqual({ fixed: 1_000n, perOutputToken: 5n });
    expect(costBound(price, 101)).toEqual({ fixed: 2_020n, perOutputToken: 7n });
  });

  test('keeps the dearer price below a tier that is cheaper: the input may turn out shorter', () => {
    const price = priceOf({ input_tokens: 10n, output_tokens: 9n }, [
      { aboveInputTokens: 100, unit: { input_tokens: 1n, output_tokens: 1n } },
    ]);
    expect(costBound(price, 200)).toEqual({ fixed: 2_000n, perOutputToken: 9n });
  });
});

describe('a cost', () => {
  test('is priced as a whole by the tier that the input is above, and not by the one that it reaches', () => {
    const tiers = [
      { aboveInputTokens: 100, unit: { input_tokens: 2_000n, output_tokens: 20_000n } },
      { aboveInputTokens: 200, unit: { input_tokens: 3_000n, output_tokens: 30_000n } },
    ];
    const price = priceOf({ input_tokens: 1_000n, output_tokens: 10_000n }, tiers);
    const cost = (input_tokens: number) => {
      const { nanoUsd, tierAboveInputTokens } = costOf(price, usageOf({ input_tokens, output_tokens: 1 }));
      return [nanoUsd, tierAboveInputTokens];
    };
    expect(cost(100)).toEqual([110n, null]);
    expect(cost(101)).toEqual([222n, 100]);
    expect(cost(200)).toEqual([420n, 100]);
    expect(cost(201)).toEqual([633n, 200]);
  });

  test('counts cached and cache-write tokens as parts of the input, at the input price where they have none', () => {
    const usage = usageOf({ input_tokens: 10, cached_input_tokens: 4, cache_write_tokens: 2 });
    const prices = { input_tokens: 10_000n, cached_input_tokens: 1_000n, cache_write_tokens: 12_500n };
    expect(costOf(priceOf(prices), usage).nanoUsd).toBe(40n + 4n + 25n);
    expect(costOf(priceOf({ input_tokens: 10_000n }), usage).nanoUsd).toBe(100n);
  });

  test('is rounded up once, on the sum', () => {
    const price = priceOf({ input_tokens: 500n, output_tokens: 500n });
    expect(costOf(price, usageOf({ input_tokens: 1, output_tokens: 1 })).nanoUsd).toBe(1n);
    expect(costOf(price, usageOf({ input_tokens: 1, output_tokens: 2 })).nanoUsd).toBe(2n);
    expect(costOf(price, usageOf({})).nanoUsd).toBe(0n);
  });

  test('is what a verifier recomputes from the unit prices that were applied', () => {
    const cases = fc
      .tuple(anyPrice, anyBound)
      .chain(([price, input]) => fc.record({ price: fc.constant(price), usage: within(input, 3_000) }));
    fc.assert(
      fc.property(cases, ({ price, usage: counted }) => {
        const usage = price.unit.output_tokens === undefined ? { ...counted, output_tokens: 0, reasoning_tokens: 0 } : counted;
        const { nanoUsd, unit } = costOf(price, usage);
        if (unit.input_tokens === undefined || (unit.output_tokens === undefined && usage.output_tokens > 0)) return;
        const unit_prices_pico_usd = Object.fromEntries(Object.entries(unit).map(([meter, each]) => [meter, each.toString()]));
        expect(recomputeCost({ usage, unit_prices_pico_usd })).toBe(nanoUsd);
      }),
      { numRuns: 500 },
    );
  });
});
