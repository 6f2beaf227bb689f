import type { LaneCorrection, LoadedLane } from '../port.ts';
import { BOOKS, CORRECT, COUNTS } from './books-scripts.ts';
import type { PartitionScripts } from './partition-scripts.ts';
import { ALL_PARTITIONS } from './partitions.ts';
import { exactAmount, readAmounts } from './wire.ts';

const PAGE = 200;

/** What is not in the ledger yet, and may come there. */
export interface OnTheWay {
  /** Settlements and ceilings in the streams. */
  readonly inStreams: number;
  /** Holds of gateways that live. */
  readonly held: number;
  /** Holds whose gateway gave no sign of life lately. */
  readonly inDoubt: number;
}

/** The lanes in Redis as they stand, for whoever compares them with the ledger. */
export class RedisBooks {
  readonly #scripts: PartitionScripts;

  constructor(scripts: PartitionScripts) {
    this.#scripts = scripts;
  }

  /** Page by page: each takes a command. */
  async *lanes(): AsyncIterable<LoadedLane> {
    for (const partition of ALL_PARTITIONS) {
      for (let from = 0, size = 1; from < size; from += PAGE) {
        const [total, page] = (await this.#scripts.run(BOOKS, partition, [from, PAGE])) as [number, string[][]];
        size = total;
        for (const [kind, id = '', written, counters = ''] of page)
          yield { id, counts: kind === 'money' ? { nano_usd: BigInt(counters) } : readAmounts(counters), isWritten: written === '1' };
      }
    }
  }

  /** Every partition is asked: which one has the lane is not known. */
  async correct({ laneId, meter, from, to }: LaneCorrection): Promise<boolean> {
    const args = [laneId, meter ?? '', exactAmount(from), exactAmount(to)];
    const answers = await Promise.all(ALL_PARTITIONS.map((partition) => this.#scripts.run(CORRECT, partition, args)));
    return answers.includes(1);
  }

  async onTheWay(): Promise<OnTheWay> {
    const counts = (await Promise.all(ALL_PARTITIONS.map((partition) => this.#scripts.run(COUNTS, partition, [])))) as number[][];
    const sum = (index: number) => counts.reduce((total, count) => total + (count[index] ?? 0), 0);
    return { inStreams: sum(0), held: sum(1), inDoubt: sum(2) };
  }
}
