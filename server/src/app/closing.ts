import type { Log } from '../kernel/log.ts';

/** What was opened, to be closed in the opposite order, each whatever became of the others. */
export class Closing {
  readonly #steps: { name: string; close: () => Promise<void> }[] = [];
  readonly #log: Log;
  #closed: Promise<void> | undefined;

  constructor(log: Log) {
    this.#log = log;
  }

  add(name: string, close: () => Promise<void>): void {
    this.#steps.push({ name, close });
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
    for (const { name, close } of this.#steps.toReversed()) {
      try {
        await close();
      } catch (error) {
        this.#log.error({ err: error }, `closing failed: ${name}`);
      }
    }
  }
}
