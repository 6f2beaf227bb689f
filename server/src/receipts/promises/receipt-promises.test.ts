import { verify } from 'node:crypto';
import { verifyPromise } from '@tallygate/receipts';
import { expect, test } from 'vitest';
import { newReceiptId } from '../../kernel/ids.ts';
import { newSigningSeed, promiseKeyOf, publicKeyOf, signingKeyFromSeed } from '../signing-keys.ts';
import { type NonceThread, nonceTaker, startNonceThread } from './nonce-thread.ts';
import { NonceMaker } from './nonces.ts';
import { ReceiptPromises } from './receipt-promises.ts';

const NOW = Date.parse('2026-11-21T10:00:00.500Z');
const key = promiseKeyOf(signingKeyFromSeed(newSigningSeed()));
const keySet = {
  keys: [
    {
      ...{ kty: 'OKP', crv: 'Ed25519', x: key.x, kid: key.kid, use: 'sig', alg: 'EdDSA', purpose: 'promise' },
      ...{ not_before: '2026-01-01T00:00:00.000Z', not_after: null },
    },
  ],
};
const maker = new NonceMaker();
const ahead = nonceTaker();
ahead.add(maker.make(10));

const signer = (nonces: Pick<NonceThread, 'take'>) => new ReceiptPromises({ key, nonces, clock: { now: () => NOW } });

const promised = (wish: object = {}) => {
  const receiptId = newReceiptId();
  const head = { 'x-receipt-id': receiptId, 'x-request-id': 'req_1', 'x-model-served': 'm', 'x-overhead-ms': '1.000' };
  return { receiptId, requestSha256: 'a'.repeat(64), model: 'm', maxCost: 12_345n, isSettled: true, head, ...wish };
};

test('a promise signed with a nonce made ahead is an ordinary JWS by Ed25519, and verifies as one', () => {
  const promises = signer(ahead);
  for (const model of ['m', 'model "of" 日本', '%']) {
    const wish = promised({ model });
    const jws = promises.of(wish);
    const [header, payload, signature = ''] = jws.split('.');
    expect(verify(null, Buffer.from(`${header}.${payload}`), publicKeyOf(key.x), Buffer.from(signature, 'base64url'))).toBe(true);
    expect(verifyPromise(jws, keySet, { headers: Object.entries(wish.head), now: NOW })).toMatchObject({
      valid: true,
      state: 'pending',
      promise: { receipt_id: wish.receiptId, model, max_cost_nano_usd: '12345', iat: 1_795_255_200, logged_by: 1_795_255_500 },
    });
  }
});

test('where no nonce is at hand, it is signed as any other text', () => {
  expect(verifyPromise(signer({ take: () => undefined }).of(promised()), keySet, { now: NOW })).toMatchObject({ valid: true });
});

test('what is still under way is promised for the longest that an answer may take', () => {
  const found = verifyPromise(signer(ahead).of(promised({ isSettled: false })), keySet, { now: NOW });
  expect(found).toMatchObject({ promise: { logged_by: 1_795_255_200 + 86_400 + 300 } });
});

test('nonces differ, also between two makers, and none is given twice by the thread that makes them ahead', async () => {
  const scalars = [...maker.make(50).scalars, ...new NonceMaker().make(50).scalars];
  expect(new Set(scalars).size).toBe(100);
  const thread = startNonceThread();
  const into = new Uint8Array(32);
  const given: string[] = [];
  const takeAll = (): number => {
    for (let r = thread.take(into); r !== undefined; r = thread.take(into)) given.push(`${r} ${Buffer.from(into).toString('hex')}`);
    return given.length;
  };
  try {
    await expect.poll(takeAll, { timeout: 30_000, interval: 10 }).toBeGreaterThan(2_048);
    expect(new Set(given).size).toBe(given.length);
    expect(new Set(given.map((one) => one.split(' ')[1])).size).toBe(given.length);
  } finally {
    await thread.close();
  }
});
