import { Worker } from 'node:worker_threads';
import { NonceSupply } from './nonce-supply.ts';
import type { NonceOrder, Nonces } from './nonces.ts';

/** Nonces made ahead on a thread of their own. */
export interface NonceThread {
  /**
   * One that nobody has used: writes R to the beginning of `into`.
   * @param into behind R, what the last promise hashed to: the next nonces are made from it too
   * @returns r; undefined where none is at hand
   */
  take(into: Uint8Array): bigint | undefined;
  close(): Promise<void>;
}

export function startNonceThread(): NonceThread {
  const worker = new Worker(new URL('./nonce-worker.ts', import.meta.url));
  worker.unref();
  const supply = new NonceSupply((order: NonceOrder) => worker.postMessage(order));
  worker.on('message', (made: Nonces) => supply.add(made));
  // Without it every promise gets an ordinary signature: slower, and as valid.
  worker.on('error', () => {});
  return {
    take: (into) => supply.take(into),
    close: async () => {
      await worker.terminate();
    },
  };
}
