import { expect, test } from 'vitest';
import { goodVectors } from '../scripts/good-vectors.ts';
import { clientSignature, issue, keySet, payloadWith } from '../scripts/vector-receipts.ts';
import { verifyReceipt } from './verify.ts';

const signed = issue(payloadWith({ client_signature: clientSignature() }));
const signedMore = goodVectors['client-signature-of-more']?.receipt;

test('the caller’s own signature is verified from the receipt alone when it covers no more than method, path and digest', () => {
  expect(verifyReceipt(signed, keySet)).toMatchObject({ valid: true, checks: { client_signature: 'ok' } });
});

test('nothing is said of a signature that is not there', () => {
  const verdict = verifyReceipt(issue(payloadWith()), keySet);
  expect(verdict.valid && 'client_signature' in verdict.checks).toBe(false);
});

test('one that covers more is unchecked until the rest of the request is given, and then holds or does not', () => {
  expect(verifyReceipt(signedMore, keySet)).toMatchObject({ valid: true, checks: { client_signature: 'unchecked' } });
  const given = (authority: string) => verifyReceipt(signedMore, keySet, { requestComponents: { '@authority': authority } });
  expect(given('api.example.com')).toMatchObject({ valid: true, checks: { client_signature: 'ok' } });
  expect(given('evil.example.com')).toMatchObject({ valid: false, code: 'bad_client_signature' });
});

test('what the receipt states cannot be replaced by what is given', () => {
  const requestComponents = { '@path': '/v1/embeddings', '@method': 'GET', 'content-digest': 'sha-256=::' };
  expect(verifyReceipt(signed, keySet, { requestComponents })).toMatchObject({ valid: true, checks: { client_signature: 'ok' } });
});
