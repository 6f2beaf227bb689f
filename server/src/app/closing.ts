import type { Log } from '../kernel/log.ts';

/** What hangs longer, on a database or a Redis that is gone, must not keep the process from ending: nothing it could lose is in memory only. */
const LONGEST_STEP_MS = 15_000;

/** What was opened, to be closed in the opposite order, each even if others fail. */
export class Closing {
  readonly #steps: { name: string; close: () => Promise<void>; mostMs: number }[] = [];
  readonly #log: Log;
  #closed: Promise<void> | undefined;

  constructor(log: Log) {
    this.#log = log;
  }

  add(name: string, close: () => Promise<void>, mostMs = LONGEST_STEP_MS): void {
    this.#steps.push({ name, close, mostMs });
  }

  /** Repeats `work` until closing, one run at a time; a failure is logged and the next run tries again. */
  every(intervalMs: number, name: string, work: () => Promise<void>): void {
    let running: Promise<void> | undefined;
    const timer = setInterval(() => {
      running ??= work()
        .catch((error: unknown) => this.#log.error({ err: error }, `${name} failed`))
        .finally(() => {
          running = undefined;
        });
    }, intervalMs).unref();
    this.add(name, async () => {
      clearInterval(timer);
      await running;
    });
  }

  /** Calling it again waits for the same end. */
  close(): Promise<void> {
    this.#closed ??= this.#closeAll();
    return this.#closed;
  }

  async #closeAll(): Promise<void> {
    for (const { name, close, mostMs } of this.#steps.toReversed()) {
      try {
        await within(mostMs, close());
      } catch (error) {
        this.#log.error({ err: error }, `closing failed: ${name}`);
      }
    }
  }
}

function within(mostMs: number, closed: Promise<void>): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const timer = setTimeout(() => reject(new Error(`It took longer than ${mostMs} ms`)), mostMs);
  closed.then(resolve, reject).finally(() => clearTimeout(timer));
  return promise;
}
