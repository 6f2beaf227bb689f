import fc from 'fast-check';
import { expect, test } from 'vitest';
import { costLines, recomputeCost } from './cost.ts';
import type { ReceiptUsage } from './receipt.ts';

const usage = (parts: Partial<ReceiptUsage>): ReceiptUsage => ({
  input_tokens: 0,
  cached_input_tokens: 0,
  cache_write_tokens: 0,
  output_tokens: 0,
  reasoning_tokens: 0,
  ...parts,
});
const prices = { input_tokens: '1000', cached_input_tokens: '100', cache_write_tokens: '1250', output_tokens: '5000' };
const cost = (parts: Partial<ReceiptUsage>, unit_prices_pico_usd: Record<string, string> = prices) =>
  recomputeCost({ usage: usage(parts), unit_prices_pico_usd });

test('cached and cache-write tokens are parts of the input, each at its own price', () => {
  expect(cost({ input_tokens: 10, cached_input_tokens: 4, cache_write_tokens: 4 })).toBe(8n); // 2,000 + 400 + 5,000 pico, rounded up.
});

test('cached and cache-write tokens without a price of their own cost the input price', () => {
  expect(cost({ input_tokens: 10, cached_input_tokens: 4, cache_write_tokens: 4 }, { input_tokens: '1000' })).toBe(10n);
});

test('a cached price of zero is a price', () => {
  expect(cost({ input_tokens: 10, cached_input_tokens: 10 }, { input_tokens: '1000', cached_input_tokens: '0' })).toBe(0n);
});

test('reasoning is a part of the output', () => {
  expect(cost({ output_tokens: 10, reasoning_tokens: 10 })).toBe(50n);
});

test('rounds up once, on the sum', () => {
  expect(cost({ input_tokens: 1, output_tokens: 1 }, { input_tokens: '500', output_tokens: '500' })).toBe(1n);
  expect(cost({ input_tokens: 1, output_tokens: 1 }, { input_tokens: '500', output_tokens: '501' })).toBe(2n);
});

test('nothing used costs nothing, with or without prices', () => {
  expect(cost({}, {})).toBe(0n);
});

test('what the prices do not name is counted and costs nothing', () => {
  expect(cost({ input_tokens: 7, audio_seconds: 61, images: 1 }, { audio_seconds: '100000' })).toBe(6_100n);
});

test('a part costs what the nearest whole with a price does', () => {
  const parts = {
    input_tokens: 100,
    cache_write_1h_tokens: 10,
    audio_input_tokens: 20,
    image_input_tokens: 30,
    cached_image_input_tokens: 5,
    output_tokens: 50,
    image_output_tokens: 40,
  };
  const [input_tokens, output_tokens] = ['1000', '2000'];
  expect(cost(parts, { input_tokens, output_tokens })).toBe(100n + 100n);
  expect(cost(parts, { input_tokens, output_tokens, cache_write_tokens: '3000' })).toBe(90n + 30n + 100n);
  expect(cost(parts, { input_tokens, output_tokens, audio_input_tokens: '5000' })).toBe(80n + 100n + 100n);
  expect(cost(parts, { input_tokens, output_tokens, image_input_tokens: '4000' })).toBe(70n + 120n + 100n);
  expect(cost(parts, { input_tokens, image_output_tokens: '8000' })).toBe(100n + 400n);
});

test('the factor is multiplied before the one rounding', () => {
  const half = (parts: Partial<ReceiptUsage>) =>
    recomputeCost({ usage: usage(parts), unit_prices_pico_usd: { input_tokens: '3001' }, price_factor: '0.5' });
  expect(half({ input_tokens: 2 })).toBe(4n);
});

test('every unit that was used is in one line of the calculation, with the price that applies', () => {
  const parts = { input_tokens: 10, cached_input_tokens: 4, output_tokens: 3, images: 1 };
  expect(costLines({ usage: usage(parts), unit_prices_pico_usd: { input_tokens: '1000' } })).toEqual([
    { meter: 'fresh_input_tokens', units: 6, price_meter: 'input_tokens', unit_price_pico_usd: '1000', pico_usd: '6000', has_factor: true },
    {
      meter: 'cached_input_tokens',
      units: 4,
      price_meter: 'input_tokens',
      unit_price_pico_usd: '1000',
      pico_usd: '4000',
      has_factor: true,
    },
    { meter: 'text_output_tokens', units: 3, price_meter: null, unit_price_pico_usd: '0', pico_usd: '0', has_factor: true },
  ]);
});

test('the factor is on tokens, and not on what tools of the provider cost', () => {
  const prices = { input_tokens: '1000', web_searches: '3000' };
  const half = { usage: usage({ input_tokens: 10, web_searches: 2 }), unit_prices_pico_usd: prices, price_factor: '0.5' };
  expect(recomputeCost(half)).toBe(11n);
});

test('parts larger than their whole are refused', () => {
  const inconsistent = expect.objectContaining({ code: 'usage_inconsistent' });
  expect(() => cost({ input_tokens: 5, cached_input_tokens: 3, cache_write_tokens: 3 })).toThrow(inconsistent);
  expect(() => cost({ output_tokens: 1, reasoning_tokens: 2 })).toThrow(inconsistent);
  expect(() => cost({ input_tokens: 5, audio_input_tokens: 3, image_input_tokens: 3 })).toThrow(inconsistent);
  expect(() => cost({ input_tokens: 5, cache_write_1h_tokens: 6 })).toThrow(inconsistent);
  expect(() => cost({ input_tokens: 5, image_input_tokens: 3, cached_image_input_tokens: 4 })).toThrow(inconsistent);
  expect(() => cost({ output_tokens: 1, image_output_tokens: 2 })).toThrow(inconsistent);
});

test('is exact and rounds up for any counts and prices', () => {
  const price = fc.bigInt({ min: 0n, max: 10n ** 15n });
  fc.assert(
    fc.property(fc.maxSafeNat(), fc.maxSafeNat(), price, price, (input, output, inputPrice, outputPrice) => {
      const nano = cost({ input_tokens: input, output_tokens: output }, { input_tokens: `${inputPrice}`, output_tokens: `${outputPrice}` });
      const pico = BigInt(input) * inputPrice + BigInt(output) * outputPrice;
      expect(nano * 1000n >= pico && (nano - 1n) * 1000n < pico).toBe(true);
    }),
  );
});
