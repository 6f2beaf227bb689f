import { openPartitions } from '../redis/epoch-keys.ts';
import type { OpenEpoch } from '../redis/partition-scripts.ts';
import type { RedisConnection } from '../redis/run-script.ts';

const EPOCH = 'test';
const opened = new Map<string, Promise<string>>();

/** One epoch for all stores of a prefix, which nothing recovers. */
export const scratchEpochs = (redis: RedisConnection, prefix: string): OpenEpoch => ({
  current: () => {
    const opening = opened.get(prefix) ?? openPartitions(redis, prefix, EPOCH).then(() => EPOCH);
    opened.set(prefix, opening);
    return opening;
  },
  lost: () => {},
});
