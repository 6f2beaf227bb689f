import { createPrivateKey, createPublicKey, type KeyObject, sign, verify } from 'node:crypto';
import fc from 'fast-check';
import nacl from 'tweetnacl';
import { describe, expect, test } from 'vitest';
import { isWeakPublicKey, verifyEd25519 } from './ed25519.ts';
import { fromBase64url, fromHex, toBase64url } from './encoding.ts';

const bytes = (length: number) => fc.uint8Array({ minLength: length, maxLength: length });

function keysFrom(seed: Uint8Array): { nacl: nacl.SignKeyPair; privateKey: KeyObject; publicKey: KeyObject } {
  const pair = nacl.sign.keyPair.fromSeed(seed);
  const jwk = { kty: 'OKP', crv: 'Ed25519', x: toBase64url(pair.publicKey), d: toBase64url(seed) };
  return {
    nacl: pair,
    privateKey: createPrivateKey({ key: jwk, format: 'jwk' }),
    publicKey: createPublicKey({ key: { kty: jwk.kty, crv: jwk.crv, x: jwk.x }, format: 'jwk' }),
  };
}

const flipped = (original: Uint8Array, bit: number): Uint8Array =>
  original.map((byte, at) => (at === (bit >> 3) % original.length ? byte ^ (1 << (bit & 7)) : byte));

describe('node:crypto and tweetnacl', () => {
  test('sign byte for byte the same, and each accepts what the other signed', () => {
    fc.assert(
      fc.property(bytes(32), fc.uint8Array({ maxLength: 200 }), (seed, message) => {
        const keys = keysFrom(seed);
        const byNode = Uint8Array.from(sign(null, message, keys.privateKey));
        const byNacl = nacl.sign.detached(message, keys.nacl.secretKey);
        expect(byNode).toEqual(byNacl);
        expect(verify(null, message, keys.publicKey, byNacl)).toBe(true);
        expect(verifyEd25519(message, byNode, keys.nacl.publicKey)).toBe(true);
      }),
      { numRuns: 40 },
    );
  });

  test('agree that a signature, a message or a key with one bit changed does not verify', () => {
    fc.assert(
      fc.property(
        bytes(32),
        bytes(32),
        fc.nat({ max: 511 }),
        fc.constantFrom('signature', 'message', 'key'),
        (seed, message, bit, part) => {
          const keys = keysFrom(seed);
          const signed = nacl.sign.detached(message, keys.nacl.secretKey);
          const signature = part === 'signature' ? flipped(signed, bit) : signed;
          const text = part === 'message' ? flipped(message, bit) : message;
          const x = part === 'key' ? flipped(keys.nacl.publicKey, bit) : keys.nacl.publicKey;
          const publicKey = createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x: toBase64url(x) }, format: 'jwk' });
          expect(verifyEd25519(text, signature, x)).toBe(false);
          expect(verify(null, text, publicKey, signature)).toBe(false);
        },
      ),
      { numRuns: 60 },
    );
  });
});

test('verifies test 3 of RFC 8032, section 7.1', () => {
  const publicKey = fromHex('fc51cd8e6218a1a38da47ed00230f0580816ed13ba3303ac5deb911548908025', 32) ?? new Uint8Array();
  const signature =
    fromHex(
      '6291d657deec24024827e69c3abe01a30ce548a284743a445e3680d7db5ac3ac18ff9b538d16f290ae67f760984dc6594a7c15e9716ed28dc027beceea1ec40a',
      64,
    ) ?? new Uint8Array();
  expect(verifyEd25519(Uint8Array.of(0xaf, 0x82), signature, publicKey)).toBe(true);
});

const L = 2n ** 252n + 27742317777372353535851937790883648493n;
const P = 2n ** 255n - 19n;

const littleEndian = (value: bigint): Uint8Array => Uint8Array.from({ length: 32 }, (_, at) => Number((value >> BigInt(8 * at)) & 255n));
const numberOf = (encoded: Uint8Array): bigint => encoded.reduceRight((value, byte) => value * 256n + BigInt(byte), 0n);

test('refuses S + L, which tweetnacl alone accepts', () => {
  fc.assert(
    fc.property(bytes(32), bytes(32), (seed, message) => {
      const { publicKey, secretKey } = nacl.sign.keyPair.fromSeed(seed);
      const signature = nacl.sign.detached(message, secretKey);
      const twin = Uint8Array.of(...signature.subarray(0, 32), ...littleEndian(numberOf(signature.subarray(32)) + L));
      expect(nacl.sign.detached.verify(message, twin, publicKey)).toBe(true);
      expect(verifyEd25519(message, twin, publicKey)).toBe(false);
    }),
    { numRuns: 20 },
  );
});

describe('a public key of small order', () => {
  for (const { name, encoded } of smallOrderEncodings()) {
    test(`${name} is weak`, () => {
      expect(isWeakPublicKey(encoded)).toBe(true);
    });
  }

  test('would verify one signature for any message, had it not been refused', () => {
    const neutral = littleEndian(1n);
    const forged = Uint8Array.of(...neutral, ...new Uint8Array(32));
    const message = fromBase64url('AAAA') ?? new Uint8Array();
    expect(nacl.sign.detached.verify(message, forged, neutral)).toBe(true);
    expect(verifyEd25519(message, forged, neutral)).toBe(false);
  });
});

test('a y that is not reduced is weak, the largest reduced ones of honest keys are not', () => {
  expect(isWeakPublicKey(littleEndian(P + 2n))).toBe(true);
  expect(isWeakPublicKey(littleEndian(P - 2n))).toBe(false);
  fc.assert(
    fc.property(bytes(32), (seed) => !isWeakPublicKey(nacl.sign.keyPair.fromSeed(seed).publicKey)),
    { numRuns: 20 },
  );
});

/** The points of order 1, 2, 4 and 8, derived from the curve −x² + y² = 1 + d·x²·y² instead of copied from a list. */
function smallOrderEncodings(): { name: string; encoded: Uint8Array }[] {
  const mod = (value: bigint) => ((value % P) + P) % P;
  const power = (base: bigint, exponent: bigint): bigint => {
    let result = 1n;
    for (let square = mod(base), rest = exponent; rest > 0n; rest >>= 1n, square = mod(square * square))
      if (rest & 1n) result = mod(result * square);
    return result;
  };
  const invert = (value: bigint) => power(value, P - 2n);
  const rootOfMinusOne = power(2n, (P - 1n) / 4n);
  const rootOf = (value: bigint): bigint | undefined => {
    const candidate = power(value, (P + 3n) / 8n);
    return [candidate, mod(candidate * rootOfMinusOne)].find((root) => mod(root * root) === mod(value));
  };
  const d = mod(-121665n * invert(121666n));

  // Doubling gives y' = (y² + x²) / (2 + x² − y²), so a point of order 8, whose double has y' = 0, has y² = −x²; put into
  // the equation of the curve, with u = y², this is d·u² + 2u − 1 = 0.
  const rootOfDiscriminant = rootOf(mod(4n + 4n * d)) ?? 0n;
  const eights = [rootOfDiscriminant, P - rootOfDiscriminant]
    .map((root) => rootOf(mod((root - 2n) * invert(2n * d))))
    .filter((y) => y !== undefined)
    .flatMap((y) => [y, P - y]);
  expect(eights).toHaveLength(2);

  const ys = [
    { name: 'of order 1', y: 1n },
    { name: 'of order 2', y: P - 1n },
    { name: 'of order 4', y: 0n },
    ...eights.map((y) => ({ name: 'of order 8', y })),
  ];
  return ys.flatMap(({ name, y }) => [
    { name: `${name}, y = ${y}`, encoded: littleEndian(y) },
    { name: `${name}, y = ${y}, with the sign bit`, encoded: littleEndian(y + 2n ** 255n) },
  ]);
}
