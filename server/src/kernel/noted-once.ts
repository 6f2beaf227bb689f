import type { Log } from './log.ts';

/** Past this many it starts afresh: what is written must bear being written twice. */
const MAX_NOTED = 50_000;

/**
 * Writes things down behind the back of the request that found them, each once in this process. A look into a set is all that the request
 * waits for. What could not be written is tried again when it is noted the next time.
 */
export class NotedOnce {
  readonly #log: Log;
  readonly #failed: string;
  readonly #noted = new Set<string>();
  readonly #running = new Set<Promise<void>>();

  /** @param failed what the log says where it could not be written */
  constructor(log: Log, failed: string) {
    this.#log = log;
    this.#failed = failed;
  }

  /** @param name of two notes with one name only the first is written */
  note(name: string, write: () => Promise<unknown>): void {
    if (this.#noted.has(name)) return;
    if (this.#noted.size >= MAX_NOTED) this.#noted.clear();
    this.#noted.add(name);
    const writing = this.#write(name, write).finally(() => this.#running.delete(writing));
    this.#running.add(writing);
  }

  /** Resolves when everything noted so far is written, or could not be. */
  async settled(): Promise<void> {
    await Promise.all(this.#running);
  }

  async #write(name: string, write: () => Promise<unknown>): Promise<void> {
    try {
      await write();
    } catch (error) {
      this.#noted.delete(name);
      this.#log.error({ err: error, noted: name }, this.#failed);
    }
  }
}
