import { Worker } from 'node:worker_threads';
import { HALF_BYTES, type Nonces } from './nonces.ts';

/** Nonces that are asked for at a time, and that are at hand when the next are asked for. */
const AT_ONCE = 1_024;

/** Nonces made ahead on a thread of their own. */
export interface NonceThread {
  /**
   * One that nobody has used: writes R to the beginning of `into`.
   * @returns r; undefined where more were used than were made
   */
  take(into: Uint8Array): bigint | undefined;
  close(): Promise<void>;
}

/** Gives each of them once. */
export function nonceTaker(): { add(made: Nonces): void; isShort(): boolean; take: NonceThread['take'] } {
  let [current, next]: (Nonces | undefined)[] = [];
  let used = 0;
  return {
    add(made) {
      if (current) next = made;
      else current = made;
    },
    isShort: () => !next,
    take(into) {
      const scalar = current?.scalars[used];
      if (!current || scalar === undefined) return undefined;
      const from = used * HALF_BYTES;
      for (let at = 0; at < HALF_BYTES; at += 1) into[at] = current.points[from + at] ?? 0;
      used += 1;
      if (used === current.scalars.length) [current, next, used] = [next, undefined, 0];
      return scalar;
    },
  };
}

export function startNonceThread(): NonceThread {
  const taker = nonceTaker();
  let isAsked = false;
  const worker = new Worker(new URL('./nonce-worker.ts', import.meta.url));
  worker.unref();
  const ask = (): void => {
    if (isAsked || !taker.isShort()) return;
    isAsked = true;
    worker.postMessage(AT_ONCE);
  };
  worker.on('message', (made: Nonces) => {
    isAsked = false;
    taker.add(made);
    ask();
  });
  // Without it every promise is signed as any other text: slower, and as good.
  worker.on('error', () => {});
  ask();
  return {
    take(into) {
      const scalar = taker.take(into);
      ask();
      return scalar;
    },
    close: async () => {
      await worker.terminate();
    },
  };
}
