import { SharedLane } from '../inference/calls/index.ts';
import type { Log } from '../kernel/log.ts';
import type { Queryable } from '../kernel/statements.ts';
import { reservedConcurrency } from '../money/plans/index.ts';

/** What contracts leave to everybody else, as it is on record. */
export interface Capacity {
  /** Undefined where nothing limits how many requests are served at the same time. */
  readonly sharedLane: SharedLane | undefined;
  /** A contract has been made, changed or ended. */
  reload(): void;
}

interface CapacityOptions {
  /** Requests that this gateway serves at the same time; null: any number. */
  readonly gatewayConcurrency: number | null;
  /** Processes that serve them. */
  readonly workers: number;
}

export async function openCapacity(
  { gatewayConcurrency: concurrency, workers }: CapacityOptions,
  { pool, log }: { pool: Queryable; log: Log },
): Promise<Capacity> {
  if (concurrency === null) return { sharedLane: undefined, reload: () => {} };
  const sharedLane = new SharedLane(concurrency, workers);
  const read = async () => sharedLane.reserve(await reservedConcurrency(pool));
  await read();
  return {
    sharedLane,
    reload: () => void read().catch((failure: unknown) => log.error({ err: failure }, 'what contracts reserve could not be read')),
  };
}
