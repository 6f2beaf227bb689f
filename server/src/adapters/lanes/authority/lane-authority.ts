import { setTimeout as delay } from 'node:timers/promises';
import type { Log } from '../../../kernel/log.ts';
import type { LaneStore } from '../port.ts';
import { WorkerHolds } from './worker-holds.ts';

interface LaneAuthorityDeps {
  readonly lanes: LaneStore;
  /** Of holds that many draw from, the ones that are still drawn from. */
  readonly neededAmong: (holdIds: readonly string[]) => Promise<ReadonlySet<string>>;
  /** Gives back what a worker had promised to give back, and may not have come to. */
  readonly giveBack: () => Promise<void>;
  readonly log: Log;
  /** How long a transaction of a process that has died may take to be committed or gone. Default: 30 s. */
  readonly settlingMs?: number;
}

const SETTLING_MS = 30_000;
const RETRY_MS = 1_000;

/**
 * The lanes of this process, for the workers that it has started. What they ask is done by the store that is here, and is in its journal before
 * they are answered: a worker has no lanes and no journal, so nothing can be lost with it or be in doubt.
 */
export class LaneAuthority {
  readonly #deps: LaneAuthorityDeps;
  readonly #closing = new AbortController();

  constructor(deps: LaneAuthorityDeps) {
    this.#deps = deps;
  }

  /** The lanes as one worker has them. */
  worker(): WorkerHolds {
    return new WorkerHolds(this.#deps.lanes);
  }

  /** A worker is gone: what it held is settled at its bound where a provider may have been asked, and freed elsewhere. Never rejects. */
  async end(worker: WorkerHolds): Promise<void> {
    const { own, ofMany } = worker.leave();
    let settled = 0;
    for (const holdId of own) if (await this.#insist(() => this.#deps.lanes.abandon(holdId))) settled += 1;
    if (settled > 0) this.#deps.log.warn({ abandoned: settled }, 'calls that were running when a worker died are charged at their holds');
    await this.#insist(this.#deps.giveBack);
    await this.#freeUnneeded(ofMany);
  }

  /** What could not be ended yet stays in the journal for the next start. */
  close(): void {
    this.#closing.abort();
  }

  /** A batch goes on without the worker that took its hold, unless the worker died before the batch was there. */
  async #freeUnneeded(holdIds: readonly string[]): Promise<void> {
    if (holdIds.length === 0) return;
    await delay(this.#deps.settlingMs ?? SETTLING_MS, undefined, { signal: this.#closing.signal }).catch(() => {});
    const needed = await this.#insist(() => this.#deps.neededAmong(holdIds));
    for (const holdId of holdIds) if (needed && !needed.has(holdId)) await this.#insist(() => this.#deps.lanes.release(holdId));
  }

  /** Until it succeeds: a full disk, or a database that is away. Undefined where this process ends before. */
  async #insist<T>(work: () => T | Promise<T>): Promise<T | undefined> {
    while (!this.#closing.signal.aborted) {
      try {
        return await work();
      } catch (error) {
        this.#deps.log.error({ err: error }, 'what a worker that is gone has left cannot be ended yet');
        await delay(RETRY_MS, undefined, { signal: this.#closing.signal }).catch(() => {});
      }
    }
    return undefined;
  }
}
