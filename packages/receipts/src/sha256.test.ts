import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { toHex, utf8 } from './encoding.ts';
import { sha256 } from './sha256.ts';

test('gives the examples of FIPS 180-4', () => {
  expect(toHex(sha256(utf8('')))).toBe('e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855');
  expect(toHex(sha256(utf8('abc')))).toBe('ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad');
  expect(toHex(sha256(utf8('abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq')))).toBe(
    '248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1',
  );
});

test('gives what node:crypto gives at every length around the edges of a block', () => {
  for (let length = 0; length <= 260; length++) {
    const message = new Uint8Array(length).fill(length);
    expect(toHex(sha256(message)), `${length} bytes`).toBe(createHash('sha256').update(message).digest('hex'));
  }
});

test('gives what node:crypto gives for any bytes', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 2000 }), (message) => {
      expect(toHex(sha256(message))).toBe(createHash('sha256').update(message).digest('hex'));
    }),
  );
});

test('hashes the view and not the buffer under it', () => {
  const buffer = utf8('__abc__');
  expect(sha256(buffer.subarray(2, 5))).toEqual(sha256(utf8('abc')));
});
