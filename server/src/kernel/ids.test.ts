import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { base62, isWellFormedRequestId, newId, newReceiptId, newRequestId, randomBase62 } from './ids.ts';

const UUID_V7 = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
const many = <T>(count: number, make: () => T): T[] => Array.from({ length: count }, make);

test('an id is a UUIDv7, and sorts in the order in which it was made', () => {
  const ids = many(5_000, newId);
  for (const id of ids) expect(id).toMatch(UUID_V7);
  expect(ids.toSorted()).toEqual(ids);
  expect(new Set(ids).size).toBe(ids.length);
});

test('a request id is one that may be echoed', () => {
  const id = newRequestId();
  expect(id).toMatch(/^req_[0-9a-f]{32}$/);
  expect(isWellFormedRequestId(id)).toBe(true);
});

describe('a receipt id', () => {
  test('is a UUIDv7 of its time', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 2 ** 48 - 1 }), (now) => {
        const id = newReceiptId(now);
        expect(id).toMatch(UUID_V7);
        expect(Number.parseInt(id.replaceAll('-', '').slice(0, 12), 16)).toBe(now);
      }),
    );
  });

  test('has 74 fresh bits: neighbours of one millisecond have nothing in common', () => {
    const ids = many(2_000, () => BigInt(`0x${newReceiptId(0).replaceAll('-', '')}`));
    const fixed = 128 - 74;
    const varying = many(128, () => 0);
    for (const id of ids)
      varying.forEach((ones, bit) => {
        varying[bit] = ones + Number((id >> BigInt(bit)) & 1n);
      });
    expect(varying.filter((ones) => ones === 0 || ones === ids.length)).toHaveLength(fixed);
    // Each random bit is set in about half of them: 2,000 throws stray 300 from the middle once in 10⁴⁰.
    for (const ones of varying) if (ones !== 0 && ones !== ids.length) expect(Math.abs(ones - 1_000)).toBeLessThan(300);
  });
});

describe('a request id from a caller', () => {
  test.each(['12345678', 'req_abc-DEF.1:2', 'a'.repeat(128)])('%s may be echoed', (id) => {
    expect(isWellFormedRequestId(id)).toBe(true);
  });

  test.each([
    '',
    '1234567',
    'a'.repeat(129),
    '-abcdefgh',
    'abcd efgh',
    'abcdefgh\r\nset-cookie: a',
    'abcdefgh\n',
    'abcdéfgh',
    '<script>a',
    '"abcdefgh',
  ])('%j may not', (id) => {
    expect(isWellFormedRequestId(id)).toBe(false);
  });
});

describe('base62', () => {
  test('at random has the requested length, and uniformly distributed characters', () => {
    const text = randomBase62(62_000);
    expect(text).toMatch(/^[0-9A-Za-z]{62000}$/);
    const counts = Map.groupBy(text, (letter) => letter);
    expect(counts.size).toBe(62);
    for (const found of counts.values()) expect(Math.abs(found.length - 1_000)).toBeLessThan(250);
  });

  test.each([0, 1, 43])('at random of %d characters', (length) => {
    expect(randomBase62(length)).toHaveLength(length);
  });

  test('of a number is padded and unique', () => {
    expect([base62(0, 6), base62(61, 6), base62(62, 6), base62(2 ** 32 - 1, 6)]).toEqual(['000000', '00000z', '000010', '4gfFC3']);
  });
});
