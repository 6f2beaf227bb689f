import { describe, expect, test } from 'vitest';
import { promise, promiseVectors, signedPromise } from '../scripts/promise-vectors.ts';
import { entryAt, INDEX, leavesAround } from '../scripts/vector-log.ts';
import { current, issue, keySet, payloadWith } from '../scripts/vector-receipts.ts';
import { canonicalJson } from './canonical.ts';
import { toBase64url, utf8 } from './encoding.ts';
import { promisedHead, verifyPromise } from './promise.ts';
import { verifyReceipt } from './verify.ts';

const headers: [string, string][] = [
  ['X-Receipt-Id', payloadWith().receipt_id],
  ['X-Request-Id', 'req_1'],
  ['Date', 'today'],
];
const IN_TIME = 1_795_248_300_000;
const TOO_LATE = IN_TIME + 1;

const pending = verifyReceipt(issue(payloadWith()), keySet);
const logged = verifyReceipt(issue(payloadWith(), current, entryAt(leavesAround(), INDEX)), keySet);

describe('a promise', () => {
  test.each(Object.entries(promiseVectors))('is what the vector %s says, beside each receipt', (_, { jws, keys, now, states }) => {
    for (const [receipt, state] of [[logged, states.logged] as const, [pending, states.plain] as const])
      expect(verifyPromise(jws, keys, { receipt, now: now * 1000 })).toMatchObject({ valid: true, state });
  });

  test('is kept by its receipt once that stands in the log, however late it is looked at', () => {
    expect(verifyPromise(signedPromise(), keySet, { receipt: logged, now: TOO_LATE })).toEqual({ valid: true, promise, state: 'kept' });
  });

  test('is pending until its time, with a receipt that is not in the log yet or with none', () => {
    for (const receipt of [pending, undefined])
      expect(verifyPromise(signedPromise(), keySet, { ...(receipt && { receipt }), now: IN_TIME })).toMatchObject({ state: 'pending' });
  });

  test('is broken after its time where the receipt is still pending, or there is none', () => {
    for (const receipt of [pending, undefined])
      expect(verifyPromise(signedPromise(), keySet, { ...(receipt && { receipt }), now: TOO_LATE })).toMatchObject({
        state: 'broken',
        reason: expect.stringContaining('was promised to be in the log by 2026-11-21T08:05:00.000Z'),
      });
  });

  test.each([
    ['the receipt costs more', { worst_cost_nano_usd: '383999' }, 'to cost at most 383999 nano-USD, and cost 384000'],
    ['the receipt is of another request', { request_sha256: 'b'.repeat(64) }, 'the receipt'],
  ])('is broken where %s', (_, changes, reason) => {
    expect(verifyPromise(signedPromise(changes), keySet, { receipt: logged, now: IN_TIME })).toMatchObject({
      state: 'broken',
      reason: expect.stringContaining(reason),
    });
  });

  test('is of one answer and one request', () => {
    const requestBody = utf8('{"model":"gpt-4o-mini"}');
    expect(verifyPromise(signedPromise(), keySet, { headers, requestBody, now: IN_TIME })).toMatchObject({ valid: true });
    const others = headers.map(([name, value]): [string, string] => [name, name === 'X-Request-Id' ? 'req_2' : value]);
    expect(verifyPromise(signedPromise(), keySet, { headers: others, now: IN_TIME })).toMatchObject({ code: 'promise_mismatch' });
    expect(verifyPromise(signedPromise(), keySet, { requestBody: utf8('{}'), now: IN_TIME })).toMatchObject({ code: 'promise_mismatch' });
    expect(promisedHead(headers)).not.toContain('date');
  });

  test.each([
    ['another receipt', { receipt_id: '6a1d2b63-8e4c-4f1a-8b97-3c2a7d4e5f61' }, 'promise_mismatch'],
    ['a field more', { discount: 1 }, 'unknown_field'],
    ['no time', { logged_by: 'soon' }, 'malformed_promise'],
  ])('with %s is refused', (_, changes, code) => {
    expect(verifyPromise(signedPromise(changes), keySet, { receipt: logged, now: IN_TIME })).toMatchObject({ valid: false, code });
  });

  test('by a key that signs something else, or changed, is refused', () => {
    expect(verifyPromise(signedPromise({}, current), keySet, { now: IN_TIME })).toMatchObject({ code: 'unknown_key' });
    const [header, , signature] = signedPromise().split('.');
    const payload = toBase64url(utf8(canonicalJson({ ...promise, worst_cost_nano_usd: '1' })));
    expect(verifyPromise(`${header}.${payload}.${signature}`, keySet, { now: IN_TIME })).toMatchObject({ code: 'bad_signature' });
    expect(verifyPromise('promised', keySet, { now: IN_TIME })).toMatchObject({ code: 'malformed_promise' });
  });

  test('with a receipt that does not hold says why that does not', () => {
    const altered = verifyReceipt({ ...issue(payloadWith()), digest: 'a'.repeat(64) }, keySet);
    expect(verifyPromise(signedPromise(), keySet, { receipt: altered, now: TOO_LATE })).toMatchObject({ valid: false, code: 'bad_digest' });
  });
});
