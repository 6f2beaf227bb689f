import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe } from 'vitest';
import { isRedisMissing, testRedis } from '../../redis/test-redis.ts';
import { describeLaneStoreConformance } from '../conformance.ts';
import type { LaneSource } from '../port.ts';
import { RedisFeed } from './redis-feed.ts';
import { RedisLanes } from './redis-lanes.ts';
import type { RedisConnection } from './run-script.ts';

let redis: RedisConnection;

/** A store and a feed of one process, beside others on the same lanes. */
function open(source: LaneSource, prefix = `test:${randomUUID()}`) {
  const feed = new RedisFeed({
    redis,
    prefix,
    onDamage: (entry) => {
      throw new Error(entry);
    },
  });
  const store = new RedisLanes({ redis, prefix, source, onAppend: (partition) => feed.appended(partition) });
  return { store, feed, prefix, close: () => feed.close() };
}

describe.skipIf(isRedisMissing())('over Redis', () => {
  beforeAll(async () => {
    redis = await testRedis();
  });

  afterAll(async () => {
    await redis?.quit();
  });

  describeLaneStoreConformance('the Redis store', async (source) => open(source));
});
