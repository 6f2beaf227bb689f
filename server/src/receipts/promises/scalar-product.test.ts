import { randomBytes } from 'node:crypto';
import { expect, test } from 'vitest';
import { ORDER } from './nonces.ts';
import { ScalarProduct } from './scalar-product.ts';

const littleEndian = (bytes: Uint8Array): bigint => BigInt(`0x${Buffer.from(bytes).reverse().toString('hex')}`);
const bytesOf = (value: bigint, length: number): Buffer => Buffer.from(value.toString(16).padStart(2 * length, '0'), 'hex').reverse();

const HASHES = [0n, 1n, 2n ** 504n, ORDER, ORDER - 1n, 2n ** 512n - 1n, littleEndian(randomBytes(64)), littleEndian(randomBytes(64))];
const SCALARS = [2n ** 254n, 2n ** 255n - 8n, littleEndian(randomBytes(32)) % 2n ** 254n];
const NONCES = [0n, 1n, ORDER - 1n, littleEndian(randomBytes(32)) % ORDER];

test('the half of a signature that depends on the message is the one that big integers come to, at every bound', () => {
  const signature = Buffer.alloc(64, 255);
  for (const s of SCALARS) {
    const product = new ScalarProduct(s);
    for (const h of HASHES)
      for (const r of NONCES) {
        product.write(bytesOf(r, 32), bytesOf(h, 64).toString('latin1'), signature);
        expect(littleEndian(signature.subarray(32)), `${r} + ${h} × ${s}`).toBe((r + h * s) % ORDER);
      }
  }
  expect(signature.subarray(0, 32)).toEqual(Buffer.alloc(32, 255));
});
