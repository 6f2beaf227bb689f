import { randomUUID } from 'node:crypto';
import type { Pool } from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { SettlementFeed } from '../adapters/lanes/port.ts';
import { RedisFeed } from '../adapters/lanes/redis/redis-feed.ts';
import { RedisLanes } from '../adapters/lanes/redis/redis-lanes.ts';
import { ScratchJournals } from '../adapters/lanes/testing/scratch-journals.ts';
import { openPool } from '../adapters/postgres/database.ts';
import { testDatabase } from '../adapters/postgres/test-database.ts';
import type { RedisConnection } from '../adapters/redis/connect.ts';
import { isRedisMissing, testRedis } from '../adapters/redis/test-redis.ts';
import { silentLog } from '../kernel/log.ts';
import { LedgerWriter, ledgerLaneSource } from '../money/ledger/index.ts';
import { lanesOfRecord } from '../money/ledger/lanes-of-record.ts';
import { ledgerBatchOf } from '../money/ledger/ledger-batch.ts';
import { sampleRecord } from '../money/ledger/sample-records.ts';
import { settleOn, signingKey, takeOn } from '../money/ledger/testing/ledger.ts';
import { Closing } from './closing.ts';
import { openSettlementCopies } from './settlement-copies.ts';

const journals = new ScratchJournals();
let database: Awaited<ReturnType<typeof testDatabase>>;
let pool: Pool;
let redis: RedisConnection;

/** A gateway as far as it settles: `start` brings in what its journal has. */
function gateway({ dir, prefix = `test:${randomUUID()}` }: { readonly dir?: string; readonly prefix?: string } = {}) {
  const journal = journals.open(dir);
  const feed = new RedisFeed({ redis, prefix, onDamage: () => {} });
  const lanes = new RedisLanes({
    redis,
    prefix,
    source: ledgerLaneSource(pool),
    journal,
    onAppend: (partition) => feed.appended(partition),
  });
  const onQuarantine = (_entry: unknown, error: unknown) => {
    throw error;
  };
  const writerOf = (from: SettlementFeed) =>
    new LedgerWriter({
      ...{ feed: from, pool, log: silentLog(), onQuarantine },
      ledgerBatchOf: (entries) => ledgerBatchOf(entries, signingKey),
    });
  const closing = new Closing(silentLog());
  const writer = writerOf(feed);
  const start = () =>
    openSettlementCopies({ journal, lanes, written: () => writer.written(), writerOf }, { pool, log: silentLog(), closing });
  /** Writes what the stream has and what the journal has, as a process that ends in order. */
  const stop = async () => {
    await writer.close();
    await closing.close();
    await feed.close();
  };
  return { journal, lanes, feed, prefix, start, stop, write: () => writer.drain() };
}

async function flush(prefix: string): Promise<void> {
  for (const key of await redis.keys(`${prefix}:*`)) await redis.del(key);
}

const bookedOf = async (requestId: string) => {
  const { rows } = await pool.query<{ outcome: string; cost_nano: string }>(
    'select outcome, cost_nano::text from usage_records where request_id = $1',
    [requestId],
  );
  return rows;
};

describe.skipIf(isRedisMissing())('a gateway whose Redis loses everything', () => {
  beforeAll(async () => {
    database = await testDatabase();
    pool = openPool({ url: database.url, log: silentLog(), poolSize: 4 });
    redis = await testRedis();
  });

  afterAll(async () => {
    journals.remove();
    await redis?.quit();
    await pool?.end();
    await database?.drop();
  });

  test('has what it settled in the ledger, once, whether the stream arrived or not', async () => {
    const one = gateway();
    await one.start();
    const [arrived, lost] = [sampleRecord(), sampleRecord()];
    await settleOn(one.lanes, arrived);
    await one.write();
    await settleOn(one.lanes, lost);
    await flush(one.prefix);
    await one.stop();
    expect([await bookedOf(arrived.requestId), await bookedOf(lost.requestId)]).toEqual([
      [{ outcome: 'completed', cost_nano: '20' }],
      [{ outcome: 'completed', cost_nano: '20' }],
    ]);
    expect(one.journal.isDrained()).toBe(true);
  });

  test('forgets no copy before the ledger has it', async () => {
    const one = gateway();
    await one.start();
    await settleOn(one.lanes, sampleRecord());
    expect(one.journal.isDrained()).toBe(false);
    await one.write();
    expect(one.journal.isDrained()).toBe(false);
    await one.stop();
    expect(one.journal.isDrained()).toBe(true);
  });

  test('and that dies charges what was in flight at its bound, once, when it starts again', async () => {
    const dead = gateway();
    const [running, settled] = [sampleRecord({ held: '100' }), sampleRecord({ held: '100' })];
    for (const record of [running, settled]) {
      await takeOn(dead.lanes, record);
      const bound = JSON.stringify({ ...record, outcome: 'abandoned', cost: '90' });
      await dead.lanes.begin({ holdId: record.receiptId, cost: 90n, units: {}, record: bound });
    }
    await dead.lanes.settle({ holdId: settled.receiptId, cost: 20n, units: {}, record: JSON.stringify(settled) });
    await flush(dead.prefix);
    await dead.feed.close();
    for (let starts = 0; starts < 2; starts += 1) {
      const next = gateway({ dir: dead.journal.dir, prefix: dead.prefix });
      await next.start();
      await next.stop();
    }
    expect([await bookedOf(running.requestId), await bookedOf(settled.requestId)]).toEqual([
      [{ outcome: 'abandoned', cost_nano: '90' }],
      [{ outcome: 'completed', cost_nano: '20' }],
    ]);
  });

  test('or that dies while Redis lives charges what was in flight on its lanes, when it starts again', async () => {
    const dead = gateway();
    const record = sampleRecord({ held: '100' });
    await takeOn(dead.lanes, record);
    const bound = JSON.stringify({ ...record, outcome: 'abandoned', cost: '90' });
    await dead.lanes.begin({ holdId: record.receiptId, cost: 90n, units: {}, record: bound });
    await dead.feed.close();
    const next = gateway({ dir: dead.journal.dir, prefix: dead.prefix });
    await next.start();
    const { lanes } = lanesOfRecord(record);
    expect([...(await next.lanes.inspect(lanes)).values()]).toMatchObject([{ spent: 90n, held: 0n }]);
    await next.stop();
    expect(await bookedOf(record.requestId)).toEqual([{ outcome: 'abandoned', cost_nano: '90' }]);
  });
});
