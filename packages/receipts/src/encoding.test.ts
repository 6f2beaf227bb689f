import { Buffer } from 'node:buffer';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { fromBase64, fromBase64url, fromHex, toBase64, toBase64url, toHex } from './encoding.ts';

test('hex and base64url are those of Node, and read back to the same bytes', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 100 }), (bytes) => {
      expect(toHex(bytes)).toBe(Buffer.from(bytes).toString('hex'));
      expect(toBase64url(bytes)).toBe(Buffer.from(bytes).toString('base64url'));
      expect(toBase64(bytes)).toBe(Buffer.from(bytes).toString('base64'));
      expect(fromBase64(toBase64(bytes))).toEqual(bytes);
      expect(fromHex(toHex(bytes), bytes.length)).toEqual(bytes);
      expect(fromBase64url(toBase64url(bytes), bytes.length)).toEqual(bytes);
    }),
  );
});

test('no two texts read as the same bytes', () => {
  const letters = fc.constantFrom(...'AQgwBRhx-_+/= 09azAZ');
  fc.assert(
    fc.property(fc.string({ unit: letters, maxLength: 12 }), (text) => {
      const bytes = fromBase64url(text);
      if (bytes) expect(toBase64url(bytes)).toBe(text);
    }),
    { numRuns: 2000 },
  );
});

test.each([
  ['padding', 'QQ=='],
  ['the alphabet of plain base64', '+/+/'],
  ['a letter too many', 'QUJDR'],
  ['trailing bits that are not zero', 'QR'],
  ['white space', 'QQ '],
])('base64url refuses %s', (_, text) => {
  expect(fromBase64url(text)).toBeUndefined();
});

test.each([
  ['upper case', 'AB'],
  ['half a byte', 'abc'],
  ['a prefix', '0xab'],
  ['a line break at the end', 'ab\n'],
])('hex refuses %s', (_, text) => {
  expect(fromHex(text)).toBeUndefined();
});

test('a wrong number of bytes is refused', () => {
  expect(fromHex('abcd', 1)).toBeUndefined();
  expect(fromBase64url('QUJD', 2)).toBeUndefined();
});

test.each(['A', 'AA', 'AAA', 'AA=', 'AA==A', 'A===', 'AAAA====', 'AB==', 'AA-_', 'A A=', '='])('base64 refuses %j', (text) => {
  expect(fromBase64(text)).toBeUndefined();
});
