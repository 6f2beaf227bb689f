import { PriceMeter, type ReceiptUsage } from '@tallygate/contract';
import { recomputeCost } from '@tallygate/receipts';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { picoToNano } from '../../kernel/money.ts';
import { loadCatalog } from './catalog.ts';
import { costBound, costOf, type UsageBound, usageBound } from './cost.ts';
import type { Price, UnitPrices } from './price.ts';

const NOW = Date.parse('2026-11-21T10:00:00Z');
const catalogPrices = loadCatalog().models.flatMap((model) => model.priceAt(NOW) ?? []);

const priceOf = (unit: UnitPrices, tiers: Price['tiers'] = []): Price => ({
  version: 'v',
  effectiveFrom: Date.parse('2026-01-01'),
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
  Object.fromEntries(PriceMeter.options.map((meter) => [meter, pico])) as Record<PriceMeter, typeof pico>,
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
const anyFactor = fc.constantFrom('1', '0.5', '0.333', '2');
/** Bounds near the tiers' edges as well as anywhere. */
const anyInput = fc.oneof(fc.nat({ max: 3_000 }), fc.integer({ min: 199_990, max: 200_010 }), fc.integer({ min: 271_990, max: 272_010 }));
const some = fc.nat({ max: 3_000 });
const anyBound: fc.Arbitrary<UsageBound> = fc.record(
  {
    inputTokens: anyInput,
    fixedOutputTokens: some,
    imageOutputTokens: some,
    inputCharacters: some,
    audioSeconds: some,
    videoSeconds: some,
    rereads: fc.integer({ min: 1, max: 9 }),
  },
  { requiredKeys: ['inputTokens'] },
);

/** Any usage within the bound, `output` being the bound on tokens out: what the whole leaves, each part takes its share of. */
const within = (bound: UsageBound, output: number): fc.Arbitrary<ReceiptUsage> => {
  const upTo = (most: number | undefined) => fc.nat({ max: most ?? 0 });
  const share = fc.double({ min: 0, max: 1, noNaN: true });
  return fc
    .record({
      prompt: upTo(bound.inputTokens),
      reread: fc.double({ min: 0, max: bound.rereads ?? 0, noNaN: true }),
      text: upTo(output + (bound.fixedOutputTokens ?? 0)),
      image: upTo(bound.imageOutputTokens),
      areImagesToldApart: fc.boolean(),
      shares: fc.array(share, { minLength: 8, maxLength: 8 }),
      input_characters: upTo(bound.inputCharacters),
      audio_seconds: upTo(bound.audioSeconds),
      video_seconds: upTo(bound.videoSeconds),
    })
    .map(({ prompt, reread, text, image, areImagesToldApart, shares, ...others }) => {
      const input = prompt + Math.floor(text * reread);
      let left = input;
      const part = (index: number, of = left) => Math.floor(of * (shares[index] ?? 0));
      const next = (index: number) => {
        const taken = part(index);
        left -= taken;
        return taken;
      };
      const [cached, write, hourly, audio, images] = [next(0), next(1), next(2), next(3), next(4)];
      return usageOf({
        input_tokens: input,
        cached_input_tokens: cached,
        cache_write_tokens: write,
        cache_write_1h_tokens: hourly,
        audio_input_tokens: audio,
        cached_audio_input_tokens: part(7, audio),
        image_input_tokens: images,
        cached_image_input_tokens: part(5, images),
        output_tokens: text + image,
        reasoning_tokens: part(6, text),
        image_output_tokens: areImagesToldApart ? image : 0,
        ...others,
      });
    });
};

const cases = fc
  .record({ price: anyPrice, factor: anyFactor, bound: anyBound, output: some })
  .chain((one) => within(one.bound, one.output).map((usage) => ({ ...one, usage })));

describe('the bound on a cost', () => {
  test('is never below the cost of any usage within it, for every tier, meter and factor', () => {
    fc.assert(
      fc.property(cases, ({ price, factor, bound, output, usage }) => {
        const { fixed, perOutputToken } = costBound(price, bound, factor);
        expect(costOf(price, usage, factor).nanoUsd <= picoToNano(fixed + BigInt(output) * perOutputToken)).toBe(true);
      }),
      { numRuns: 2_000 },
    );
  });

  test('is reached by the dearest usage, which no other usage within it exceeds', () => {
    fc.assert(
      fc.property(cases, ({ price, factor, bound, output, usage }) => {
        const { fixed, perOutputToken } = costBound(price, bound, factor);
        const dearest = costOf(price, usageBound(price, bound, output), factor).nanoUsd;
        expect(dearest <= picoToNano(fixed + BigInt(output) * perOutputToken)).toBe(true);
        expect(dearest).toBeGreaterThanOrEqual(costOf(price, usage, factor).nanoUsd);
      }),
      { numRuns: 2_000 },
    );
  });

  test('takes the dearer tier only where the input can reach it', () => {
    const price = priceOf({ input_tokens: 10n, output_tokens: 5n }, [
      { aboveInputTokens: 100, unit: { input_tokens: 20n, output_tokens: 7n } },
    ]);
    expect(costBound(price, { inputTokens: 100 })).toEqual({ fixed: 1_000n, perOutputToken: 5n });
    expect(costBound(price, { inputTokens: 101 })).toEqual({ fixed: 2_020n, perOutputToken: 7n });
  });

  test('keeps the dearer price below a tier that is cheaper: the input may turn out shorter', () => {
    const price = priceOf({ input_tokens: 10n, output_tokens: 9n }, [
      { aboveInputTokens: 100, unit: { input_tokens: 1n, output_tokens: 1n } },
    ]);
    expect(costBound(price, { inputTokens: 200 })).toEqual({ fixed: 2_000n, perOutputToken: 9n });
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

  test('of a part without a price of its own is that of the nearest whole which has one', () => {
    const usage = usageOf({
      input_tokens: 100,
      cache_write_1h_tokens: 10,
      audio_input_tokens: 20,
      cached_audio_input_tokens: 15,
      image_input_tokens: 30,
      cached_image_input_tokens: 5,
      output_tokens: 50,
      image_output_tokens: 40,
    });
    const cost = (unit: UnitPrices) => costOf(priceOf(unit), usage).nanoUsd;
    const [input_tokens, output_tokens] = [1_000n, 2_000n];
    expect(cost({ input_tokens, output_tokens })).toBe(100n + 100n);
    expect(cost({ input_tokens, output_tokens, cache_write_tokens: 3_000n })).toBe(90n + 30n + 100n);
    expect(cost({ input_tokens, output_tokens, cache_write_tokens: 3_000n, cache_write_1h_tokens: 9_000n })).toBe(90n + 90n + 100n);
    expect(cost({ input_tokens, output_tokens, audio_input_tokens: 5_000n })).toBe(80n + 100n + 100n);
    expect(cost({ input_tokens, output_tokens, audio_input_tokens: 5_000n, cached_audio_input_tokens: 400n })).toBe(80n + 25n + 6n + 100n);
    expect(cost({ input_tokens, output_tokens, image_input_tokens: 4_000n })).toBe(70n + 120n + 100n);
    expect(cost({ input_tokens, output_tokens, image_input_tokens: 4_000n, cached_image_input_tokens: 0n })).toBe(70n + 100n + 100n);
    expect(cost({ input_tokens, output_tokens, image_output_tokens: 8_000n })).toBe(100n + 20n + 320n);
    expect(cost({ input_tokens, image_output_tokens: 8_000n })).toBe(100n + 400n);
  });

  test('has characters and seconds in it, and counts images without charging them', () => {
    const unit = { input_characters: 15_000n, audio_seconds: 100_000n, video_seconds: 100_000_000n };
    const usage = usageOf({ input_characters: 2, audio_seconds: 3, video_seconds: 4, images: 9 });
    expect(costOf(priceOf(unit), usage).nanoUsd).toBe(30n + 300n + 400_000n);
  });

  test('is nothing at a price of zero', () => {
    expect(costOf(priceOf({ input_tokens: 0n }), usageOf({ input_tokens: 9 })).nanoUsd).toBe(0n);
  });

  test('is multiplied by the factor before it is rounded up, once', () => {
    const price = priceOf({ input_tokens: 3_001n });
    expect(costOf(price, usageOf({ input_tokens: 2 }), price.batchFactor).nanoUsd).toBe(4n);
    expect(costOf(priceOf({ input_tokens: 1n }), usageOf({ input_tokens: 2_000 }), '0.5').nanoUsd).toBe(1n);
  });

  test.each(['', '-1', '1e3', '.5', '0,5', ' 1'])('is not made with %j, which is no factor', (factor) => {
    expect(() => costOf(priceOf({}), usageOf({}), factor)).toThrow('no factor');
  });

  test('is what a verifier recomputes from the unit prices that were applied', () => {
    fc.assert(
      fc.property(cases, ({ price, usage }) => {
        const { nanoUsd, unit } = costOf(price, usage);
        const unit_prices_pico_usd = Object.fromEntries(Object.entries(unit).map(([meter, each]) => [meter, each.toString()]));
        expect(recomputeCost({ usage, unit_prices_pico_usd })).toBe(nanoUsd);
      }),
      { numRuns: 1_000 },
    );
  });
});
