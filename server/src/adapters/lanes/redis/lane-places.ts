import type { NanoUsd } from '../../../kernel/money.ts';
import type { LaneSource } from '../port.ts';
import type { PartitionScripts } from './partition-scripts.ts';
import { ALL_PARTITIONS } from './partitions.ts';
import { moneyCounts } from './wire.ts';

interface LanePlacesDeps {
  readonly scripts: PartitionScripts;
  readonly source: LaneSource;
}

interface LaneCounts {
  readonly spent: NanoUsd;
  readonly held: NanoUsd;
  readonly cap: NanoUsd | null;
}

const MOST_PLACES = 100_000;

/** Reads lanes by their names alone. Where one was seen last is remembered: all partitions are asked for the others. */
export class LanePlaces {
  readonly #deps: LanePlacesDeps;
  readonly #places = new Map<string, number>();

  constructor(deps: LanePlacesDeps) {
    this.#deps = deps;
  }

  seen(laneId: string, partition: number): void {
    if (this.#places.has(laneId)) return;
    if (this.#places.size >= MOST_PLACES) this.#places.clear();
    this.#places.set(laneId, partition);
  }

  async inspect(laneIds: readonly string[]): Promise<ReadonlyMap<string, LaneCounts>> {
    return new Map(await Promise.all(laneIds.map(async (id) => [id, await this.#inspect(id)] as const)));
  }

  async #inspect(id: string): Promise<LaneCounts> {
    const { scripts, source } = this.#deps;
    const place = this.#places.get(id);
    const read = await Promise.all((place === undefined ? ALL_PARTITIONS : [place]).map((partition) => scripts.readMoney(partition, id)));
    const found = read.find(([spent]) => typeof spent === 'string');
    return found ? moneyCounts(found[0], found[1], found[2]) : { ...(await source.moneyLane(id)), held: 0n };
  }
}
