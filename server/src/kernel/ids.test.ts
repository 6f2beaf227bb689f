import { expect, test } from 'vitest';
import { newReceiptId } from './ids.ts';

test('a receipt id is a UUIDv7 of the given moment', () => {
  expect(newReceiptId(0x0199_aabb_ccdd)).toMatch(/^0199aabb-ccdd-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  expect(newReceiptId(1)).toMatch(/^00000000-0001-7/);
});

test('receipt ids of one moment have nothing in common but the moment', () => {
  const tails = Array.from({ length: 1000 }, () => newReceiptId(0).slice(15));
  expect(new Set(tails).size).toBe(1000);
  // Each of the 74 bits is drawn anew: over a thousand ids every hex digit but the variant's takes all sixteen values.
  const digits = tails[0]?.length ?? 0;
  for (let at = 0; at < digits; at += 1) {
    const seen = new Set(tails.map((tail) => tail[at]));
    if (tails[0]?.[at] !== '-') expect(seen.size).toBe(at === 4 ? 4 : 16);
  }
});
