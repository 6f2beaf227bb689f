import { steadyMs } from '../../../kernel/clock.ts';
import type { LaneCorrection, LoadedLane } from '../port.ts';
import { BOOKS, CORRECT, COUNTS } from './books-scripts.ts';
import type { PartitionScripts } from './partition-scripts.ts';
import { ALL_PARTITIONS } from './partitions.ts';
import { exactAmount, readAmounts } from './wire.ts';

const PAGE = 200;
/** A process that sweeps does it every half minute. */
const BELIEVED_MS = 40_000;

/** What is not in the ledger yet, and may come there. */
export interface OnTheWay {
  /** Settlements and ceilings in the streams. */
  readonly inStreams: number;
  /** Holds of gateways that live. */
  readonly held: number;
  /** Holds whose gateway gave no sign of life lately. */
  readonly inDoubt: number;
}

/** The lanes in Redis, for a comparison with the ledger. */
export class RedisBooks {
  readonly #scripts: PartitionScripts;
  /** Partitions that had no lane when this process swept them, and until when that is believed, on the monotonic clock. */
  readonly #empty = new Map<number, number>();

  constructor(scripts: PartitionScripts) {
    this.#scripts = scripts;
  }

  /** A partition was swept, and has so many lanes now. */
  swept(partition: number, lanes: number): void {
    if (lanes === 0) this.#empty.set(partition, steadyMs() + BELIEVED_MS);
    else this.#empty.delete(partition);
  }

  /** Page by page: each takes a command. What a sweep has just found empty is not asked: its first lanes are seen the next time. */
  async *lanes(): AsyncIterable<LoadedLane> {
    for (const partition of ALL_PARTITIONS) {
      if ((this.#empty.get(partition) ?? Number.NEGATIVE_INFINITY) > steadyMs()) continue;
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
