import { createHmac, randomBytes } from 'node:crypto';
import { expect, test } from 'vitest';
import { isSealed, sealOf } from './seal.ts';

test('a seal is the beginning of an HMAC of the digest, under whichever of the keys', () => {
  const [key, other] = [randomBytes(32), randomBytes(32)];
  for (const digest of [randomBytes(32), randomBytes(32)]) {
    const seal = sealOf(key, digest);
    expect(seal).toEqual(createHmac('sha256', key).update(digest).digest().subarray(0, 16));
    expect([isSealed([other, key], digest, seal), isSealed([other], digest, seal)]).toEqual([true, false]);
  }
});
