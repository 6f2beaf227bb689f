import { Worker } from 'node:worker_threads';
import { NonceSupply } from './nonce-supply.ts';
import type { NonceOrder, Nonces } from './nonces.ts';

/** Nonces made ahead on a thread of their own. */
export interface NonceThread {
  /**
   * One that nobody has used.
   * @param point R goes to its beginning. Behind it is what the last promise hashed to: the next nonces are made from it too
   * @param scalar where r goes, little-endian
   * @returns whether one was at hand
   */
  take(point: Uint8Array, scalar: Uint8Array): boolean;
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
    take: (point, scalar) => supply.take(point, scalar),
    close: async () => {
      await worker.terminate();
    },
  };
}
