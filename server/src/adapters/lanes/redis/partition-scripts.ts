import { partitionKey } from './partitions.ts';
import { type RedisConnection, runScript, type Script } from './run-script.ts';

/** Which epoch of the lanes is open, as this gateway knows. */
export interface OpenEpoch {
  /** @throws (or rejects) while nothing may be asked of the lanes */
  current(): string | Promise<string>;
  /** Redis does not have what it had under that epoch. */
  lost(epoch: string, why: string): void;
}

interface PartitionScriptsDeps {
  readonly redis: RedisConnection;
  /** What the names of all keys begin with. */
  readonly prefix: string;
  readonly epochs: OpenEpoch;
  /** For tests: the time in place of Redis's own, epoch milliseconds. */
  readonly now?: (() => number) | undefined;
}

/** What a script says when the partition is not of its epoch. */
const EPOCH_LOST = 'EPOCH';

/**
 * Runs scripts on partitions under the epoch that is open. Each script counts in its partition, and says how far that is: a partition that has
 * counted less than this gateway has seen has lost writes.
 */
export class PartitionScripts {
  readonly #deps: PartitionScriptsDeps;
  readonly #seen = new Map<number, { readonly epoch: string; readonly count: number }>();
  #running = 0;

  constructor(deps: PartitionScriptsDeps) {
    this.#deps = deps;
  }

  /** Scripts that are not answered yet. */
  get running(): number {
    return this.#running;
  }

  /** @throws (or rejects) while nothing may be asked of the lanes */
  openEpoch(): string | Promise<string> {
    return this.#deps.epochs.current();
  }

  /** @param under the epoch that is open, or another one */
  async run(script: Script, partition: number, args: readonly (string | number)[], under?: string): Promise<unknown> {
    const { redis, prefix, epochs, now } = this.#deps;
    const epoch = under ?? (await epochs.current());
    this.#running += 1;
    try {
      const seen = this.#seenOf(partition, epoch);
      const answer = await runScript(redis, script, partitionKey(prefix, partition), [now?.() ?? '', epoch, seen, ...args]);
      const [count, result] = answer as [number, unknown];
      if (count > this.#seenOf(partition, epoch)) this.#seen.set(partition, { epoch, count });
      return result;
    } catch (error) {
      if (error instanceof Error && error.message.startsWith(EPOCH_LOST)) epochs.lost(epoch, error.message);
      throw error;
    } finally {
      this.#running -= 1;
    }
  }

  /** One field of a hold, read past the scripts. */
  async readHold(partition: number, holdId: string, field: 'request' | 'inFlight'): Promise<string | null> {
    const { redis, prefix, epochs } = this.#deps;
    return redis.hget(`${partitionKey(prefix, partition)}:${await epochs.current()}:hold:${holdId}`, field);
  }

  /** Counters of a money lane, read past the scripts. */
  async readMoney(partition: number, laneId: string): Promise<(string | null)[]> {
    const { redis, prefix, epochs } = this.#deps;
    return redis.hmget(`${partitionKey(prefix, partition)}:${await epochs.current()}:money:${laneId}`, 'spent', 'held', 'cap');
  }

  #seenOf(partition: number, epoch: string): number {
    const seen = this.#seen.get(partition);
    return seen?.epoch === epoch ? seen.count : 0;
  }
}
