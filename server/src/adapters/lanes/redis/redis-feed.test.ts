import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { isRedisMissing, testRedis } from '../../redis/test-redis.ts';
import { holdRequest, keyLane, ScriptedSource, settlementOf } from '../conformance-requests.ts';
import { held } from '../conformance-store.ts';
import type { JournalBatch } from '../port.ts';
import { ScratchJournals } from '../testing/scratch-journals.ts';
import { RedisFeed } from './redis-feed.ts';
import { RedisLanes } from './redis-lanes.ts';
import type { RedisConnection } from './run-script.ts';

let redis: RedisConnection;
const journals = new ScratchJournals();
let prefix: string;
const opened: RedisFeed[] = [];

function open(leaseMs = 5_000) {
  const damaged: string[] = [];
  const feed = new RedisFeed({ redis, prefix, onDamage: (place, entry) => damaged.push(`${place} ${entry}`), leaseMs });
  const store = new RedisLanes({
    redis,
    prefix,
    source: new ScriptedSource(),
    ...journals.process(redis, prefix),
    onAppend: (partition) => feed.appended(partition),
  });
  opened.push(feed);
  return { feed, store, damaged };
}

async function settleOne({ store }: { store: RedisLanes }, accountId = 'account'): Promise<string> {
  const request = holdRequest({ amount: 1n, lanes: [keyLane('k', null)], accountId });
  await held(store, request);
  await store.settle(settlementOf(request, 1n));
  return request.holdId;
}

const idsOf = ({ entries }: JournalBatch) => entries.map(({ record }) => JSON.parse(record));

describe.skipIf(isRedisMissing())('the feed of settlements in Redis', () => {
  beforeAll(async () => {
    redis = await testRedis();
  });

  afterAll(async () => {
    journals.remove();
    await redis?.quit();
  });

  beforeEach(() => {
    prefix = `test:${randomUUID()}`;
  });

  afterEach(async () => {
    await Promise.all(opened.splice(0).map((feed) => feed.close()));
  });

  test('hands out what any process settled, in order, until it is acknowledged', async () => {
    const [a, b] = [open(), open()];
    const holds = [await settleOne(a), await settleOne(b), await settleOne(a)];
    const records = holds.map((holdId) => ({ holdId }));
    expect(idsOf(await a.feed.read())).toEqual(records);
    const again = await a.feed.read();
    expect(idsOf(again)).toEqual(records);
    again.acknowledge();
    expect(idsOf(await a.feed.read())).toEqual([]);
  });

  test('has one reader at a time; another takes over when it is closed', async () => {
    const [a, b] = [open(), open()];
    await settleOne(a);
    expect((await a.feed.read()).entries).toHaveLength(1);
    expect((await b.feed.read()).entries).toHaveLength(0);
    expect([a.feed.isReader, b.feed.isReader]).toEqual([true, false]);
    await a.feed.close();
    await expect.poll(async () => (await b.feed.read()).entries.length).toBe(1);
  });

  test('is taken over from a reader that died, with what it had not acknowledged', async () => {
    const [dead, heir] = [open(200), open(200)];
    const holdId = await settleOne(dead);
    expect((await dead.feed.read()).entries).toHaveLength(1);
    await expect.poll(async () => idsOf(await heir.feed.read()), { interval: 20 }).toEqual([{ holdId }]);
  });

  test('is taken over from a reader that died once somebody settles', async () => {
    const [dead, heir, third] = [open(200), open(200), open(200)];
    await dead.feed.read();
    const { promise, resolve } = Promise.withResolvers<void>();
    await heir.feed.read();
    heir.feed.onAppend(resolve);
    const holdId = await settleOne(third);
    await promise;
    await expect.poll(async () => idsOf(await heir.feed.read()), { interval: 20 }).toEqual([{ holdId }]);
  });

  test('wakes the reader for what another process has settled', async () => {
    const [reader, other] = [open(), open()];
    const { promise, resolve } = Promise.withResolvers<void>();
    await reader.feed.read();
    reader.feed.onAppend(resolve);
    await settleOne(other);
    await promise;
    expect((await reader.feed.read()).entries).toHaveLength(1);
  });

  test('says when what was there has been acknowledged by whoever reads, and waits for nothing that came later', async () => {
    const [reader, other] = [open(), open()];
    reader.feed.onAppend(() => {});
    await settleOne(other, 'one');
    const batch = await reader.feed.read();
    const isWritten = await other.feed.mark();
    await settleOne(other, 'another');
    expect(await isWritten()).toBe(false);
    batch.acknowledge();
    await expect.poll(isWritten).toBe(true);
    await expect.poll(async () => (await reader.feed.read()).entries.length).toBe(1);
  });

  test('reads as many partitions as there are accounts in', async () => {
    const { feed, store } = open();
    const accounts = Array.from({ length: 100 }, () => randomUUID());
    for (const account of accounts) await settleOne({ store }, account);
    const batch = await feed.read();
    expect(batch.entries).toHaveLength(100);
    batch.acknowledge();
    expect((await feed.read()).entries).toHaveLength(0);
  });

  test('reports an entry that is none once, and hands out what comes after it', async () => {
    const one = open();
    const holdId = await settleOne(one);
    (await one.feed.read()).acknowledge();
    const [stream = ''] = await redis.keys(`${prefix}:*:settled`);
    await redis.xadd(stream, '*', 'something', 'else');
    const second = await settleOne(one);
    const batch = await one.feed.read();
    expect(idsOf(batch)).toEqual([{ holdId: second }]);
    expect(one.damaged).toHaveLength(1);
    expect(holdId).not.toBe(second);
    batch.acknowledge();
    await one.feed.read();
    expect(await redis.xlen(stream)).toBe(0);
  });

  test('reads on where a whole read is of entries that are none', async () => {
    const one = open();
    await settleOne(one);
    (await one.feed.read()).acknowledge();
    const [stream = ''] = await redis.keys(`${prefix}:*:settled`);
    const line = redis.pipeline();
    for (let count = 0; count < 1_500; count += 1) line.xadd(stream, '*', 'something', 'else');
    await line.exec();
    const last = await settleOne(one);
    expect(idsOf(await one.feed.read())).toEqual([{ holdId: last }]);
    expect(one.damaged).toHaveLength(1_500);
  });
});
