import { setTimeout as wait } from 'node:timers/promises';

const WITHIN_MS = 3_000;
const RETRY_MS = 100;

/** For what may be said twice: repeats it for a while when it fails, since its answer may have been lost on its way. */
export async function insist<T>(run: () => Promise<T>): Promise<T> {
  const until = performance.now() + WITHIN_MS;
  for (;;) {
    try {
      return await run();
    } catch (error) {
      if (performance.now() >= until) throw error;
      await wait(RETRY_MS);
    }
  }
}
