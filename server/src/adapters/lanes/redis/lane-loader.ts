import { randomUUID } from 'node:crypto';
import type { LaneSource } from '../port.ts';
import type { PartitionScripts } from './partition-scripts.ts';
import { INSTALL } from './scripts.ts';
import { moneyFields, quotaFields } from './wire.ts';

/** How often a lane may change while it is loaded. */
export const MOST_LOADS = 20;

/** Where lanes were found not to be loaded, and the partition's stamp at that moment. */
export interface Miss {
  readonly partition: number;
  readonly stamp: string;
  /** They are used from now on: it is not one settlement of the past that asks for them. */
  readonly isForUse: boolean;
  /** Absent: the one that is open. */
  readonly epoch?: string;
}

/** Loads lanes from their source into Redis. */
export class LaneLoader {
  readonly #scripts: PartitionScripts;
  readonly #source: LaneSource;
  readonly #loading = new Map<string, Promise<void>>();

  constructor(scripts: PartitionScripts, source: LaneSource) {
    this.#scripts = scripts;
    this.#source = source;
  }

  async load(missing: readonly string[], quotaId: string | null | undefined, miss: Miss): Promise<void> {
    await Promise.all(
      missing.map((id) => {
        // One read per lane and process, however many requests wait for it.
        const place = `${miss.epoch ?? ''} ${miss.partition} ${id}`;
        const loading = this.#loading.get(place) ?? this.#loadOne(id, id === quotaId, miss).finally(() => this.#loading.delete(place));
        this.#loading.set(place, loading);
        return loading;
      }),
    );
  }

  /** The stamp changes when a lane is dropped or credited: what was read before that may be too old by now. */
  async #loadOne(id: string, isQuota: boolean, { partition, stamp, isForUse, epoch }: Miss): Promise<void> {
    const source = this.#source;
    const read = async () => (isQuota ? quotaFields(id, await source.quotaLane(id)) : moneyFields(id, await source.moneyLane(id)));
    let expected = stamp;
    for (let loads = 0; loads < MOST_LOADS; loads += 1) {
      const lane = await read();
      const args = [expected, isForUse ? 1 : 0, JSON.stringify([lane]), randomUUID()];
      const newer = await this.#scripts.run(INSTALL, partition, args, epoch);
      if (typeof newer !== 'string') return;
      expected = newer;
    }
    throw new Error(`Lane ${id} changes faster than it can be loaded`);
  }
}
