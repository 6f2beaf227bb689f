import { expect, test } from 'vitest';
import { newRecoveryCodes, recoveryCodeHash } from './recovery-codes.ts';
import { isTotpCode, newTotpSecret, otpauthUri, qrCode, totpStep } from './totp.ts';

/** RFC 6238, appendix B, SHA-1: the secret is the ASCII text 12345678901234567890; of its eight digits the last six are ours. */
const RFC_SECRET = 'GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ';
const VECTORS: readonly [seconds: number, code: string][] = [
  [59, '287082'],
  [1_111_111_109, '081804'],
  [1_111_111_111, '050471'],
  [1_234_567_890, '005924'],
  [2_000_000_000, '279037'],
  [20_000_000_000, '353130'],
];

test.each(VECTORS)('at %i seconds the code is RFC 6238’s %s, of that time step', (seconds, code) => {
  expect(totpStep(RFC_SECRET, code, seconds * 1000)).toBe(Math.floor(seconds / 30));
});

test.each([
  [-30, true],
  [30, true],
  [-60, false],
  [60, false],
])('%i seconds of drift are accepted: %s', (drift, isAccepted) => {
  const at = 1_111_111_110;
  expect(totpStep(RFC_SECRET, '050471', (at + drift) * 1000) !== undefined).toBe(isAccepted);
});

test.each(['', '05047', '0504711', '０５０４７１', 'abcdef', ' 50471'])('“%s” is no code', (text) => {
  expect(isTotpCode(text)).toBe(false);
  expect(totpStep(RFC_SECRET, text, 1_111_111_111_000)).toBeUndefined();
});

test('a secret has 160 bits, and its link says whose it is', () => {
  const secret = newTotpSecret();
  expect(secret).toMatch(/^[A-Z2-7]{32}$/);
  const uri = new URL(otpauthUri('ada+x@example.com', secret));
  expect([uri.protocol, uri.host, decodeURIComponent(uri.pathname)]).toEqual(['otpauth:', 'totp', '/Tallygate:ada+x@example.com']);
  expect(Object.fromEntries(uri.searchParams)).toMatchObject({ secret, issuer: 'Tallygate' });
  expect(qrCode(uri.href)).toMatch(/^data:image\/svg\+xml;base64,[A-Za-z0-9+/]+=*$/);
});

test('recovery codes are ten different ones of 80 bits, recognised however they are typed', () => {
  const codes = newRecoveryCodes();
  expect(new Set(codes).size).toBe(10);
  for (const code of codes) expect(code).toMatch(/^([0-9a-hjkmnp-tv-z]{4}-){3}[0-9a-hjkmnp-tv-z]{4}$/);
  expect(recoveryCodeHash('  ABCD-1O1L efgh jkmn ')).toEqual(recoveryCodeHash('abcd-1011-efgh-jkmn'));
});
