import { ALL_PARTITIONS } from './partitions.ts';
import type { Script } from './run-script.ts';
import { BOOKS } from './scripts.ts';

const PAGE = 200;

interface LoadedLane {
  readonly kind: string;
  readonly id: string;
  /** The ledger has all that was settled on it. */
  readonly isWritten: boolean;
  /** As the script writes them. */
  readonly counters: string;
}

/** Every lane that is loaded in Redis, page by page. */
export async function* readBooks(
  run: (script: Script, partition: number, args: readonly number[]) => Promise<unknown>,
): AsyncIterable<LoadedLane> {
  for (const partition of ALL_PARTITIONS) {
    for (let from = 0, size = 1; from < size; from += PAGE) {
      const [total, page] = (await run(BOOKS, partition, [from, PAGE])) as [number, string[][]];
      size = total;
      for (const [kind = '', id = '', written, counters = ''] of page) yield { kind, id, isWritten: written === '1', counters };
    }
  }
}
