import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { RedisConnection } from '../../redis/connect.ts';
import { startRedisCluster } from '../../redis/redis-cluster-process.ts';
import { testRedis, testRedisProgram } from '../../redis/test-redis.ts';
import { describeLaneStoreConformance } from '../conformance.ts';
import { describeLaneParts } from '../conformance-parts.ts';
import { holdRequest, keyLane, ScriptedSource, settlementOf } from '../conformance-requests.ts';
import { held } from '../conformance-store.ts';
import type { LaneSource } from '../port.ts';
import { ScratchJournals } from '../testing/scratch-journals.ts';
import { RedisFeed } from './redis-feed.ts';
import { RedisLanes } from './redis-lanes.ts';

let cluster: Awaited<ReturnType<typeof startRedisCluster>>;
let redis: RedisConnection;
const journals = new ScratchJournals();

function open(source: LaneSource, prefix = `test:${randomUUID()}`, now = Date.now) {
  const feed = new RedisFeed({ redis, prefix, onDamage: (_place, entry) => expect(entry).toBe('') });
  const store = new RedisLanes({
    redis,
    prefix,
    source,
    ...journals.process(redis, prefix),
    onAppend: (partition) => feed.appended(partition),
    now,
  });
  return { store, feed, close: () => feed.close() };
}

describe.skipIf(testRedisProgram() === '')('over a Redis Cluster of three', () => {
  beforeAll(async () => {
    cluster = await startRedisCluster(testRedisProgram(), 3);
    redis = await testRedis(cluster.url);
  });

  afterAll(async () => {
    journals.remove();
    redis?.disconnect();
    await cluster?.stop();
  });

  describeLaneStoreConformance('the Redis store', async (source, now) => open(source, undefined, now));
  describeLaneParts('the Redis store', async (source, now) => open(source, undefined, now));

  test('slots that have moved to another node are found, also by commands that are sent together', async () => {
    const [from, to] = cluster.nodes;
    const slots = new Map<number, string>();
    for (let at = 0; slots.size < 20; at += 1) {
      const slot = Number(await from?.call('CLUSTER', 'KEYSLOT', `moved-${at}`));
      // The first third is that of the first node.
      if (slot < 5_000) slots.set(slot, `moved-${at}`);
    }
    const setAll = () => Promise.allSettled([...slots.values()].map((key) => redis.set(key, '')));
    const isSet = ({ status }: PromiseSettledResult<unknown>) => status === 'fulfilled';
    expect((await setAll()).every(isSet)).toBe(true);
    for (const key of slots.values()) await from?.call('DEL', key);
    const id = String(await to?.call('CLUSTER', 'MYID'));
    for (const node of [to, from, ...cluster.nodes.slice(2)])
      for (const slot of slots.keys()) await node?.call('CLUSTER', 'SETSLOT', slot, 'NODE', id);
    await expect.poll(async () => (await setAll()).filter(isSet).length).toBe(slots.size);
  });

  test('the settlements of all nodes are read, and the reader is woken across them', async () => {
    const prefix = `test:${randomUUID()}`;
    const reader = open(new ScriptedSource(), prefix);
    const other = open(new ScriptedSource(), prefix);
    const { promise, resolve } = Promise.withResolvers<void>();
    await reader.feed.read();
    reader.feed.onAppend(resolve);
    for (let account = 0; account < 50; account += 1) {
      const request = holdRequest({ amount: 1n, lanes: [keyLane(`${account}`, null)], accountId: randomUUID() });
      await held(other.store, request);
      await other.store.settle(settlementOf(request, 1n));
    }
    await promise;
    const read = new Set<unknown>();
    await expect
      .poll(async () => {
        const batch = await reader.feed.read();
        for (const { record } of batch.entries) read.add(JSON.stringify(record));
        batch.acknowledge();
        return read.size;
      })
      .toBe(50);
    await other.close();
    await reader.close();
  });
});
