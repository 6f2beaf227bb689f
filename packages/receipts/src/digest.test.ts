import { createHash, createPublicKey } from 'node:crypto';
import { expect, test } from 'vitest';
import { accountId, apiKeyId, current, payloadWith } from '../scripts/vector-receipts.ts';
import { accountHash, digestInput, keyHash, keyThumbprint, receiptDigest } from './digest.ts';
import { toHex } from './encoding.ts';

const sha256Hex = (text: string) => createHash('sha256').update(text).digest('hex');

test('node:crypto over the signing input gives the receipt digest, non-ASCII included', () => {
  const payload = payloadWith({ run_id: 'Zürich 😀' });
  expect(toHex(receiptDigest(payload))).toBe(sha256Hex(digestInput(payload)));
});

test('an owner finds their account and key again by nonce and id', () => {
  const { nonce, account_hash, key_hash } = payloadWith();
  expect(accountHash(nonce, accountId)).toBe(account_hash);
  expect(keyHash(nonce, apiKeyId)).toBe(key_hash);
  expect(account_hash).toBe(sha256Hex(`tallygate-account/v1\n${nonce}\n${accountId}`));
  expect(key_hash).toBe(sha256Hex(`tallygate-key/v1\n${nonce}\n${apiKeyId}`));
});

test('one id hashes differently as an account and as a key, and under another nonce', () => {
  const { nonce } = payloadWith();
  const hashes = [accountHash(nonce, accountId), keyHash(nonce, accountId), accountHash('f'.repeat(32), accountId)];
  expect(new Set(hashes).size).toBe(3);
});

test('the thumbprint is that of RFC 8037, appendix A.3', () => {
  expect(keyThumbprint('11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo')).toBe('kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k');
});

test('the x of a vector key is one that node:crypto reads', () => {
  const key = createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x: current.x }, format: 'jwk' });
  expect(key.export({ format: 'jwk' }).x).toBe(current.x);
});

test.each(['', 'AAAA', '11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURp', 'x","y":"'])('no thumbprint of %j, which is not a key', (x) => {
  expect(() => keyThumbprint(x)).toThrow(TypeError);
});
