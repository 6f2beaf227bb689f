import { describe, expect, test } from 'vitest';
import { isPublicKey, verifyEd25519 } from './ed25519.ts';
import { fromBase64url, toBase64url, utf8 } from './encoding.ts';
import { readSignatureInput, sha256OfContentDigest, signatureBase } from './message-signature.ts';

/** RFC 9421, B.1.4 (test-key-ed25519) and B.2.6, which signs the request of B.2. */
const RFC_PUBLIC_KEY = 'JrQLj5P_89iXES9-vFgrIy29clF9CC_oPPsw3c5D0bs';
const RFC_INPUT = '("date" "@method" "@path" "@authority" "content-type" "content-length");created=1618884473;keyid="test-key-ed25519"';
const RFC_SIGNATURE = 'wqcAqbmYJ2ji2glfAMaRy4gruYYnx2nEFN2HN6jrnDnQCK1u02Gb04v9EDgwUPiu4A0w6vuQv5lIp5WPpBKRCw==';
const RFC_REQUEST: Record<string, string> = {
  date: 'Tue, 20 Apr 2021 02:07:55 GMT',
  '@method': 'POST',
  '@path': '/foo',
  '@authority': 'example.com',
  'content-type': 'application/json',
  'content-length': '18',
};
const rfcPublicKey = fromBase64url(RFC_PUBLIC_KEY, 32) ?? new Uint8Array();
const rfcSignature = Uint8Array.from(Buffer.from(RFC_SIGNATURE, 'base64'));

describe('RFC 9421, B.2.6', () => {
  const signed = (request: Record<string, string>) => signatureBase(readSignatureInput(RFC_INPUT), (name) => request[name]);

  test('has the signature base of the RFC', () => {
    expect(signed(RFC_REQUEST)).toEqual({
      base: `"date": Tue, 20 Apr 2021 02:07:55 GMT
"@method": POST
"@path": /foo
"@authority": example.com
"content-type": application/json
"content-length": 18
"@signature-params": ("date" "@method" "@path" "@authority" "content-type" "content-length");created=1618884473;keyid="test-key-ed25519"`,
    });
  });

  test('verifies, and no longer once any covered component differs', () => {
    const verifies = (request: Record<string, string>) => {
      const result = signed(request);
      return 'base' in result && verifyEd25519(utf8(result.base), rfcSignature, rfcPublicKey);
    };
    expect(verifies(RFC_REQUEST)).toBe(true);
    for (const name of Object.keys(RFC_REQUEST)) expect(verifies({ ...RFC_REQUEST, [name]: 'other' }), name).toBe(false);
  });

  test('names the component whose value is not known', () => {
    const { date: _gone, ...rest } = RFC_REQUEST;
    expect(signed(rest)).toEqual({ missing: 'date' });
  });
});

test('the digest of RFC 9530, B.1 is read, beside digests of other algorithms', () => {
  const sha512 = 'sha-512=:YMAam51Jz/jOATT6/zvHrLVgOYTGFy1d6GJiOHTohq4yP+pgk4vf2aCsyRZOtw8MjkM7iw7yZ/WkppmM44T3qg==:';
  const sha256 = 'sha-256=:X48E9qOokqqrvdts8nOJRJN3OWDUoyWxBf7kbu9DBPE=:';
  expect(sha256OfContentDigest(`${sha512}, ${sha256}`)).toBe('5f8f04f6a3a892aaabbddb6cf273894493773960d4a325b105fee46eef4304f1');
  for (const bad of [sha512, 'sha-256=:AQ==:', 'sha-256="x"', 'sha-256', '', 'sha-256=X48E9qOokqqrvdts8nOJRJN3OWDUoyWxBf7kbu9DBPE='])
    expect(() => sha256OfContentDigest(bad), bad).toThrow('Content-Digest has no sha-256');
});

describe('a signature input is refused', () => {
  test.each([
    ['"a"', 'not a list'],
    ['(a)', 'must be the name'],
    ['("Date")', 'must be the name'],
    ['("date";sf)', 'parameters, which are not supported'],
    ['("@query-param";name="x")', 'parameters, which are not supported'],
    ['("date" "date")', 'covered twice'],
    ['("date");created="1"', '"created" is not an integer'],
    ['("date");nonce=1', '"nonce" is not a string'],
    ['("date");alg="hmac-sha256"', '"alg" is not "ed25519"'],
  ])('%s: %s', (text, why) => {
    expect(() => readSignatureInput(text)).toThrow(why);
  });

  test('when a value has a line break, which could pass for another component', () => {
    const input = readSignatureInput('("x")');
    expect(() => signatureBase(input, () => 'a\n"@method": GET')).toThrow('line break');
  });
});

describe('a public key to register', () => {
  test('is a point of the curve that is not of small order', () => {
    expect(isPublicKey(rfcPublicKey)).toBe(true);
    const usable = Array.from({ length: 32 }, (_, seed) => isPublicKey(Uint8Array.of(seed + 2, ...new Uint8Array(31))));
    // About half of all y have a point.
    expect(usable.filter(Boolean).length).toBeGreaterThan(8);
    expect(usable.filter((found) => !found).length).toBeGreaterThan(8);
    expect(isPublicKey(Uint8Array.of(1, ...new Uint8Array(31)))).toBe(false);
    expect(isPublicKey(new Uint8Array(32).fill(255))).toBe(false);
    expect(isPublicKey(rfcPublicKey.subarray(1))).toBe(false);
    expect(toBase64url(rfcPublicKey)).toBe(RFC_PUBLIC_KEY);
  });
});
