import { verify } from 'node:crypto';
import { verifyPromise } from '@tallygate/receipts';
import { expect, test } from 'vitest';
import { newReceiptId } from '../../kernel/ids.ts';
import { newSigningSeed, promiseKeyOf, publicKeyOf, signingKeyFromSeed } from '../signing-keys.ts';
import { NonceSupply } from './nonce-supply.ts';
import { type NonceThread, startNonceThread } from './nonce-thread.ts';
import { NonceMaker, type NonceOrder, type Nonces, ORDER } from './nonces.ts';
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
const order = (count: number): NonceOrder => ({ count, mixed: new Uint8Array() });
const maker = new NonceMaker();
const ahead = new NonceSupply(() => {});
ahead.add(maker.make(order(10)));

/** Hex of each r. */
const scalarsOf = ({ scalars }: Nonces): string[] =>
  Array.from({ length: scalars.length / 32 }, (_, at) => Buffer.from(scalars.subarray(at * 32, at * 32 + 32)).toString('hex'));

const signer = (nonces: Pick<NonceThread, 'take'>) => new ReceiptPromises({ key, nonces, clock: { now: () => NOW } });

const promised = (wish: object = {}) => {
  const receiptId = newReceiptId();
  const head = { 'x-receipt-id': receiptId, 'x-request-id': 'req_1', 'x-model-served': 'm', 'x-overhead-ms': '1.000' };
  return { receiptId, requestSha256: 'a'.repeat(64), model: 'm', worstCost: 12_345n, isSettled: true, head, ...wish };
};

test('a promise signed with a nonce made ahead is an ordinary JWS by Ed25519, and verifies as one', () => {
  const promises = signer(ahead);
  for (const model of ['m', 'model "of" 日本', '%']) {
    const wish = promised({ model });
    const jws = promises.of(wish);
    const [header, payload, signature = ''] = jws.split('.');
    // RFC 8032, section 5.1.7: S is below the order of the group.
    expect(BigInt(`0x${Buffer.from(signature, 'base64url').subarray(32).reverse().toString('hex')}`)).toBeLessThan(ORDER);
    expect(verify(null, Buffer.from(`${header}.${payload}`), publicKeyOf(key.x), Buffer.from(signature, 'base64url'))).toBe(true);
    expect(verifyPromise(jws, keySet, { headers: Object.entries(wish.head), now: NOW })).toMatchObject({
      valid: true,
      state: 'pending',
      promise: { receipt_id: wish.receiptId, model, worst_cost_nano_usd: '12345', iat: 1_795_255_200, logged_by: 1_795_255_500 },
    });
  }
});

test('where no nonce is at hand, the promise has an ordinary signature', () => {
  expect(verifyPromise(signer({ take: () => false }).of(promised()), keySet, { now: NOW })).toMatchObject({ valid: true });
});

test('what is still under way is promised for the longest that an answer may take', () => {
  const found = verifyPromise(signer(ahead).of(promised({ isSettled: false })), keySet, { now: NOW });
  expect(found).toMatchObject({ promise: { logged_by: 1_795_255_200 + 86_400 + 300 } });
});

test('nonces differ, also between two makers, and none is given twice by the thread that makes them ahead', async () => {
  const scalars = [
    ...scalarsOf(maker.make(order(50))),
    ...scalarsOf(maker.make(order(50))),
    ...scalarsOf(new NonceMaker().make(order(50))),
  ];
  expect(new Set(scalars).size).toBe(150);
  const thread = startNonceThread();
  const [point, scalar] = [Buffer.alloc(32), Buffer.alloc(32)];
  const given: string[] = [];
  const takeMany = (): number => {
    for (let wanted = 0; wanted < 100; wanted += 1) {
      if (thread.take(point, scalar)) given.push(`${scalar.toString('hex')} ${point.toString('hex')}`);
    }
    return given.length;
  };
  try {
    await expect.poll(takeMany, { timeout: 30_000, interval: 10 }).toBeGreaterThan(300);
    expect(new Set(given).size).toBe(given.length);
    expect(new Set(given.map((one) => one.split(' ')[1])).size).toBe(given.length);
  } finally {
    await thread.close();
  }
});

/** A supply whose clocks stay where the test sets them, and that is asked for nonces until it orders some. */
function supplied() {
  const clocks = { elapsed: 0, timeOfDay: NOW };
  const orders: NonceOrder[] = [];
  const supply = new NonceSupply((one) => orders.push(one), { elapsed: () => clocks.elapsed, timeOfDay: () => clocks.timeOfDay });
  const take = (text = '') => supply.take(Buffer.from(text.padEnd(32)), Buffer.alloc(32));
  return { clocks, orders, supply, take };
}

test('nonces that waited two seconds by either clock are thrown away, as in a snapshot that is restored later', () => {
  for (const clock of ['elapsed', 'timeOfDay'] as const) {
    const { clocks, supply, take } = supplied();
    supply.add(maker.make(order(3)));
    expect(take()).toBe(true);
    clocks[clock] += 2_001;
    expect(take()).toBe(false);
  }
});

test('two processes that go on from one snapshot have other nonces than each other from the next order on', () => {
  const made = ['a promise', 'another promise'].map((text) => {
    const { orders, take } = supplied();
    for (let asked = 0; orders.length === 0 && asked < 100; asked += 1) take(text);
    return orders.map(({ mixed }) => Buffer.from(mixed).toString('latin1'));
  });
  expect(made[0]).not.toEqual(made[1]);
  expect(new Set(made.flat()).size).toBe(2);
});

test('few promises are signed without nonces made ahead, and many have as many ordered as half a second needs', () => {
  const { clocks, orders, take } = supplied();
  for (let second = 0; second < 20; second += 1) {
    clocks.elapsed += 1_000;
    take();
  }
  expect(orders).toEqual([]);
  for (let asked = 0; asked < 600; asked += 1) {
    clocks.elapsed += 1;
    take();
  }
  expect(orders.map(({ count }) => count)).toEqual([16]);
});

test('what is mixed into an order changes the nonces even where random bytes and time repeat', () => {
  const restored = (mixed: string) => scalarsOf(new NonceMaker(() => Buffer.alloc(32, 7)).make({ count: 1, mixed: Buffer.from(mixed) }));
  expect(restored('a')).toEqual(restored('a'));
  expect(restored('a')).not.toEqual(restored('b'));
});
