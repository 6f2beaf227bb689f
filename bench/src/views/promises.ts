import { sign } from 'node:crypto';
import { restoreFastStringMethods } from '../../../server/src/kernel/fast-string-methods.ts';
import { NonceMaker, type Nonces } from '../../../server/src/receipts/promises/nonces.ts';
import { ReceiptPromises } from '../../../server/src/receipts/promises/receipt-promises.ts';
import { newSigningSeed, promiseKeyOf, signingKeyFromSeed } from '../../../server/src/receipts/signing-keys.ts';

/** Promises of one round, short enough that other programs leave some rounds alone. */
const AT_ONCE = 100;
const ROUNDS = 5_000;
const WARM_UP = 50_000;
const NONCES = 512;
const NONCE_BYTES = 32;

/** Microseconds: the best of many rounds. */
export interface PromiseFindings {
  /** What a request pays on the main thread, with a nonce made ahead. */
  readonly promise: number;
  /** What it would pay with an ordinary signature. */
  readonly ordinarySignature: number;
  /** Of the worker thread. */
  readonly nonce: number;
  /** Characters of `X-Receipt-Promise`. */
  readonly characters: number;
}

/** Nothing but promises, in this process: nonces are used again, which nobody who is promised anything would see. */
export function promiseCost(): PromiseFindings {
  // As the gateway does, whose libraries the bench has loaded.
  restoreFastStringMethods();
  const key = promiseKeyOf(signingKeyFromSeed(newSigningSeed()));
  const maker = new NonceMaker();
  const nonces = repeated(maker.make({ count: NONCES, mixed: new Uint8Array() }));
  const promises = new ReceiptPromises({ key, nonces, clock: { now: () => Date.now() } });
  const first = promisedOf(0);
  const wishes = Array.from({ length: AT_ONCE }, (_, at) => promisedOf(at));
  const text = Buffer.alloc(540, 'x');
  return {
    promise: best((at) => promises.of(wishes[at] ?? first)),
    ordinarySignature: best(() => sign(null, text, key.privateKey), 20),
    nonce: best(() => maker.make({ count: NONCES, mixed: new Uint8Array() }), 1_250) / NONCES,
    characters: promises.of(first).length,
  };
}

function promisedOf(at: number) {
  const receiptId = `019a0000-0000-7000-8000-${String(at).padStart(12, '0')}`;
  const head = {
    ...{ 'x-request-id': `req_019a00000000${String(at).padStart(12, '0')}`, 'x-receipt-id': receiptId, 'x-model-served': 'gpt-4o-mini' },
    ...{ 'x-provider': 'openai', 'x-fallback': 'none', 'content-type': 'application/json' },
  };
  return { receiptId, requestSha256: 'a'.repeat(64), model: 'gpt-4o-mini', worstCost: BigInt(10_000 + at), isSettled: true, head };
}

function repeated({ points, scalars }: Nonces) {
  let used = 0;
  return {
    take: (point: Uint8Array, scalar: Uint8Array): boolean => {
      used = (used + NONCE_BYTES) % points.length;
      for (let at = 0; at < NONCE_BYTES; at += 1) {
        point[at] = points[used + at] ?? 0;
        scalar[at] = scalars[used + at] ?? 0;
      }
      return true;
    },
  };
}

function best(work: (at: number) => unknown, times = 1): number {
  let least = Number.POSITIVE_INFINITY;
  for (let at = 0; at < WARM_UP / times; at += 1) work(at % AT_ONCE);
  for (let round = 0; round < ROUNDS / times; round += 1) {
    const startedAt = process.hrtime.bigint();
    for (let at = 0; at < AT_ONCE; at += 1) work(at);
    least = Math.min(least, Number(process.hrtime.bigint() - startedAt) / 1000 / AT_ONCE);
  }
  return least;
}
