import fc from 'fast-check';
import { expect, test } from 'vitest';
import { recomputeCost } from './cost.ts';
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

test.each([
  ['input', { input_tokens: 1 }, { output_tokens: '1' }],
  ['cached input', { input_tokens: 1, cached_input_tokens: 1 }, { output_tokens: '1' }],
  ['output', { output_tokens: 1 }, { input_tokens: '1' }],
])('%s that was charged without a price is refused', (_, parts, stated) => {
  expect(() => cost(parts, stated)).toThrow(expect.objectContaining({ code: 'price_missing' }));
});

test('parts larger than their whole are refused', () => {
  const inconsistent = expect.objectContaining({ code: 'usage_inconsistent' });
  expect(() => cost({ input_tokens: 5, cached_input_tokens: 3, cache_write_tokens: 3 })).toThrow(inconsistent);
  expect(() => cost({ output_tokens: 1, reasoning_tokens: 2 })).toThrow(inconsistent);
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
