import { setTimeout as delay } from 'node:timers/promises';
import fc from 'fast-check';
import type { Pool } from 'pg';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { JournalEntry, LaneCeiling, SettlementFeed } from '../../adapters/lanes/port.ts';
import { openPool } from '../../adapters/postgres/database.ts';
import { testDatabase } from '../../adapters/postgres/test-database.ts';
import { databaseOf, inDatabase } from '../../adapters/postgres/test-url.ts';
import { emptyArchive } from '../../archive/testing/archives.ts';
import { newId, requestIdAt } from '../../kernel/ids.ts';
import { silentLog } from '../../kernel/log.ts';
import { contradictions } from './contradictions.ts';
import { laneId as laneNames } from './lane-ids.ts';
import { LedgerWriter } from './ledger-writer.ts';
import { MemoryFeed, sampleEntry, sampleRecord } from './sample-records.ts';
import type { SettlementRecord } from './settlement-record.ts';
import { testPages } from './testing/pages.ts';

let database: Awaited<ReturnType<typeof testDatabase>>;
let pool: Pool;

beforeAll(async () => {
  database = await testDatabase();
  pool = openPool({ url: database.url, log: silentLog(), poolSize: 8 });
});

afterAll(async () => {
  await pool?.end();
  await database?.drop();
});

function writerOf(feed: SettlementFeed, { on = pool, paceMs }: { readonly on?: Pool; readonly paceMs?: number } = {}) {
  const quarantined: JournalEntry[] = [];
  const onQuarantine = (entry: JournalEntry) => quarantined.push(entry);
  return {
    writer: new LedgerWriter({
      feed,
      pool: on,
      archive: emptyArchive(on),
      pages: testPages,
      log: silentLog(),
      onQuarantine,
      ...(paceMs !== undefined && { paceMs }),
    }),
    quarantined,
  };
}

async function write(...entries: readonly JournalEntry[]): Promise<JournalEntry[]> {
  const { writer, quarantined } = writerOf(new MemoryFeed(entries));
  await writer.drain();
  return quarantined;
}

async function writeCeilings(...ceilings: readonly LaneCeiling[]): Promise<void> {
  const feed = new MemoryFeed();
  feed.ceilings.push(...ceilings);
  await writerOf(feed).writer.drain();
}

const all = async <Row extends pg.QueryResultRow>(sql: string, values: unknown[] = []) => (await pool.query<Row>(sql, values)).rows;
const requestsOf = async (accountId: string) =>
  (await all<{ request_id: string }>('select request_id from usage_records where account_id = $1 order by request_id', [accountId])).map(
    ({ request_id }) => request_id,
  );
const idsOf = (records: readonly SettlementRecord[]) => records.map(({ requestId }) => requestId).sort();
const recordsOf = (accountId: string, count: number) => Array.from({ length: count }, () => sampleRecord({ accountId }));

test('is done when another process has written what was there', async () => {
  const entry = sampleEntry(sampleRecord());
  const others = new MemoryFeed([entry]);
  const looks: boolean[] = [];
  const feed: SettlementFeed = {
    read: async () => ({ entries: [], ceilings: [], acknowledge: () => {} }),
    onAppend: () => {},
    mark: async () => async () => {
      looks.push(others.acknowledged === 1);
      if (looks.length === 2) await writerOf(others).writer.drain();
      return looks.at(-1) ?? false;
    },
  };
  await writerOf(feed).writer.written();
  expect(looks).toEqual([false, false, true]);
});

describe('a settlement is written once', () => {
  test('although it is delivered twice, in one batch and in two', async () => {
    const accountId = newId();
    const entries = recordsOf(accountId, 3).map((record) => sampleEntry(record));
    await write(...entries, ...entries);
    await write(...entries.toReversed());
    expect(await requestsOf(accountId)).toHaveLength(3);
    expect(await all('select requests from usage_daily where account_id = $1', [accountId])).toEqual([
      { requests: 1n },
      { requests: 1n },
      { requests: 1n },
    ]);
    expect(await contradictions(pool)).toEqual([]);
  });

  test.each([1, 2, 7])('although it is delivered to two writers at once, in batches of %d', async (batchSize) => {
    const accountId = newId();
    const records = recordsOf(accountId, 21);
    const entries = records.map((record) => sampleEntry(record));
    const writers = [entries, entries, entries.toReversed()].map((delivered) => writerOf(new MemoryFeed(delivered, { batchSize })));
    await Promise.all(writers.map(({ writer }) => writer.drain()));
    expect(writers.flatMap(({ quarantined }) => quarantined)).toEqual([]);
    expect(await requestsOf(accountId)).toEqual(idsOf(records));
    expect(await contradictions(pool)).toEqual([]);
  });

  test('although the process dies between the commit and the acknowledgement', async () => {
    const accountId = newId();
    const records = recordsOf(accountId, 3);
    const feed = new MemoryFeed(records.map((record) => sampleEntry(record)));
    feed.crash = () => {
      throw new Error('killed');
    };
    await expect(writerOf(feed).writer.drain()).rejects.toThrow('killed');
    expect(await requestsOf(accountId)).toEqual(idsOf(records));
    feed.crash = undefined;
    await writerOf(feed).writer.drain();
    expect(feed.acknowledged).toBe(3);
    expect(await requestsOf(accountId)).toEqual(idsOf(records));
    expect(await contradictions(pool)).toEqual([]);
  });

  test('for every attempt of a request that is settled, each its own', async () => {
    const first = sampleRecord();
    await write(sampleEntry(first), sampleEntry({ ...first, attempt: 2, receiptId: newId() }));
    expect(await requestsOf(first.accountId)).toEqual([first.requestId, first.requestId]);
  });
});

describe('sums', () => {
  test('equal those of the records and entries that they are made of, in batches of any size', async () => {
    const nano = fc.bigInt({ min: 0n, max: 10n ** 13n });
    const [accounts, keys] = [
      [newId(), newId()],
      [newId(), null],
    ];
    const settlement = fc
      .record({
        account: fc.constantFrom(...accounts),
        keyId: fc.constantFrom(...keys),
        runId: fc.constantFrom(null, 'nightly 42', 'a:b'),
        livemode: fc.boolean(),
        funding: fc.constantFrom('balance', 'invoice', 'none' as const),
        outcome: fc.constantFrom('completed', 'cancelled', 'cut', 'failed' as const),
        model: fc.constantFrom('gpt-5.4-nano', 'claude-opus-4-8'),
        startedAt: fc.integer({ min: Date.parse('2026-10-30T00:00:00Z'), max: Date.parse('2026-12-03T00:00:00Z') }),
        input: fc.nat({ max: 1_000_000 }),
        output: fc.nat({ max: 100_000 }),
        debt: nano,
        charged: nano,
        quota: nano,
        covered: fc.record({ requests: fc.constantFrom(0n, 1n), tokens: fc.bigInt({ min: 0n, max: 10n ** 9n }) }),
      })
      .map(({ account, model, input, output, debt, charged, quota, covered, ...rest }) => {
        const cost = (debt + charged + quota).toString();
        const usage = { input_tokens: input, cached_input_tokens: 0, cache_write_tokens: 0, output_tokens: output, reasoning_tokens: 0 };
        const funding = rest.livemode ? rest.funding : 'test';
        const record = sampleRecord({ ...rest, funding, accountId: account, modelServed: model, usage, cost });
        return sampleEntry(record, { charged: debt + charged, debt, covered });
      });
    await fc.assert(
      fc.asyncProperty(
        fc.array(settlement, { minLength: 1, maxLength: 60 }),
        fc.integer({ min: 1, max: 30 }),
        async (entries, batchSize) => {
          const { writer, quarantined } = writerOf(new MemoryFeed(entries, { batchSize }));
          await writer.drain();
          expect(quarantined).toEqual([]);
          expect(await contradictions(pool)).toEqual([]);
        },
      ),
      { numRuns: 12 },
    );
  });

  test('of a run: spend, requests, first and last time, and the tightest ceiling of any of its requests', async () => {
    const run = { accountId: newId(), runId: 'nightly-42' };
    const at = (time: string, rest: Partial<SettlementRecord>) =>
      sampleEntry(sampleRecord({ ...run, startedAt: Date.parse(time), ...rest }));
    const laneId = laneNames.run(run.accountId, true, run.runId);
    const ceiling = (cap: bigint) => ({ laneId, cap, at: Date.parse('2026-11-21T10:00:05Z') });
    await writeCeilings(ceiling(900n), ceiling(500n));
    await write(at('2026-11-21T10:00:05Z', { cost: '30' }), at('2026-11-21T10:00:01Z', { cost: '20' }));
    await writeCeilings(ceiling(400n));
    await writeCeilings(ceiling(700n));
    await write(at('2026-11-21T10:00:09Z', { cost: '1' }), at('2026-11-21T10:00:02Z', { cost: '2' }));
    await write(at('2026-11-21T10:00:03Z', { cost: '4', livemode: false, funding: 'test' }));
    const rows = await all(
      `select livemode, ceiling_nano, spent_nano::text, requests, first_request_at, last_request_at from agent_runs where account_id = $1 order by livemode`,
      [run.accountId],
    );
    const [first, last, test] = ['2026-11-21T10:00:01Z', '2026-11-21T10:00:09Z', '2026-11-21T10:00:03Z'].map((time) => new Date(time));
    expect(rows).toEqual([
      { livemode: false, ceiling_nano: null, spent_nano: '4', requests: 1n, first_request_at: test, last_request_at: test },
      { livemode: true, ceiling_nano: 400n, spent_nano: '53', requests: 4n, first_request_at: first, last_request_at: last },
    ]);
  });
});

test('a request belongs to the UTC day on which it started and to the month of its id, wherever the database thinks it is', async () => {
  const there = new URL(database.url);
  there.searchParams.set('options', '-c timezone=Asia/Tokyo');
  const inTokyo = openPool({ url: there.href, log: silentLog(), poolSize: 2 });
  const accountId = newId();
  const times = ['2027-01-31T23:59:59.999Z', '2027-02-01T00:00:00.000Z', '2028-02-29T12:00:00.000Z'];
  const made = (startedAt: number) => ({ requestId: `${requestIdAt(startedAt)}${newId().replaceAll('-', '').slice(12)}`, startedAt });
  const feed = new MemoryFeed(times.map((time) => sampleEntry(sampleRecord({ accountId, ...made(Date.parse(time)) }))));
  await writerOf(feed, { on: inTokyo }).writer.drain();
  await inTokyo.end();
  const rows = await all<{ partition: string; day: string }>(
    `select r.tableoid::regclass::text as partition, d.day from usage_records r join usage_daily d using (account_id, key_id) where account_id = $1 order by started_at`,
    [accountId],
  );
  expect(rows).toEqual([
    { partition: 'usage_records_2027_01', day: '2027-01-31' },
    { partition: 'usage_records_2027_02', day: '2027-02-01' },
    { partition: 'usage_records_2028_02', day: '2028-02-29' },
  ]);
  expect(await contradictions(pool)).toEqual([]);
});

test('settlements of one batch are booked together, by mode and day, and each names its posting', async () => {
  const accountId = newId();
  const on = (time: string, wish: Partial<SettlementRecord> = {}) => sampleRecord({ accountId, startedAt: Date.parse(time), ...wish });
  const records = [
    on('2026-11-21T10:00:00Z', { cost: '20' }),
    on('2026-11-21T11:00:00Z', { cost: '30' }),
    on('2026-11-22T00:00:00Z', { cost: '5' }),
    on('2026-11-21T10:00:00Z', { cost: '7', livemode: false, funding: 'test' }),
  ];
  const feed = new MemoryFeed(records.map((record) => sampleEntry(record, { charged: BigInt(record.cost) })));
  await writerOf(feed).writer.drain();
  const rows = await all(
    `select p.livemode, p.day, p.request_id, count(*)::int as settlements, (select json_object_agg(split_part(account, ':', 1), amount_nano)
       from ledger_entries e where e.posting_id = p.posting_id and amount_nano <> 0) as entries
       from usage_records u join postings p using (posting_id) where account_id = $1 group by p.posting_id order by p.livemode, p.day`,
    [accountId],
  );
  expect(rows).toEqual([
    { livemode: false, day: '2026-11-21', request_id: null, settlements: 1, entries: { test_funds: -7, test_revenue: 7 } },
    { livemode: true, day: '2026-11-21', request_id: null, settlements: 2, entries: { customer_balance: -50, revenue: 50 } },
    { livemode: true, day: '2026-11-22', request_id: null, settlements: 1, entries: { customer_balance: -5, revenue: 5 } },
  ]);
  expect(await contradictions(pool)).toEqual([]);
});

describe('a record that cannot be written', () => {
  const poisons: [string, Partial<Record<keyof SettlementRecord, unknown>> | null][] = [
    ['has an account id that is none', { accountId: 'nobody' }],
    ['lacks what has to be there', { endpoint: null }],
    ['has a negative cost', { cost: '-5' }],
    ['has a cost that is no number', { cost: 'dear' }],
    ['has a fractional count', { usage: { input_tokens: 1.5 } }],
    ['has no time', { startedAt: undefined }],
    ['has a time that is none', { startedAt: 'now' }],
    ['has a text that PostgreSQL cannot hold', { modelRequested: 'a\u0000b' }],
    ['is larger than its column', { held: '99999999999999999999' }],
    ['is nothing at all', null],
    ['writes the number of a written attempt in another way', { requestId: 'req_twice', attempt: '01' }],
  ];

  test.each(poisons)('because it %s is set aside, and its neighbours are written', async (_, poison) => {
    const accountId = newId();
    await write(sampleEntry(sampleRecord({ requestId: 'req_twice' })));
    const records = recordsOf(accountId, 5);
    const entries = records.map((record) => sampleEntry(record));
    const bad: JournalEntry = { ...sampleEntry(sampleRecord()), record: JSON.stringify(poison && { ...sampleRecord(), ...poison }) };
    expect(await write(...entries.slice(0, 3), bad, ...entries.slice(3))).toEqual([bad]);
    expect(await requestsOf(accountId)).toEqual(idsOf(records));
    expect(await contradictions(pool)).toEqual([]);
  });
});

describe('a database that is down', () => {
  /** Cuts every connection to the test's database and lets none in, or lets them in again. */
  async function setDown(isDown: boolean): Promise<void> {
    const name = databaseOf(database.url);
    const admin = new pg.Client({ connectionString: inDatabase(database.url, 'postgres') });
    await admin.connect();
    await admin.query(`alter database ${name} with allow_connections ${!isDown}`);
    if (isDown) await admin.query('select pg_terminate_backend(pid) from pg_stat_activity where datname = $1', [name]);
    await admin.end();
  }

  test('loses nothing: what is settled meanwhile is written when it is back, in order', async () => {
    const accountId = newId();
    const records = recordsOf(accountId, 6);
    const feed = new MemoryFeed([], { batchSize: 2 });
    const { writer, quarantined } = writerOf(feed);
    await setDown(true);
    try {
      for (const record of records) feed.append(sampleEntry(record));
      await expect(writer.drain()).rejects.toThrow();
      expect(feed.acknowledged).toBe(0);
    } finally {
      await setDown(false);
    }
    // Nobody appends again: the writer has to come back by itself.
    await expect.poll(() => feed.acknowledged, { timeout: 60_000 }).toBe(6);
    await writer.close();
    expect(quarantined).toEqual([]);
    const written = await all<{ request_id: string }>(
      'select request_id from usage_records where request_id = any($1) order by request_id',
      [records.map(({ requestId }) => requestId)],
    );
    expect(written.map(({ request_id }) => request_id)).toEqual(records.map(({ requestId }) => requestId));
  });
});

describe('the writer', () => {
  test.each([new TypeError('broken'), new RangeError('broken'), new SyntaxError('broken')])(
    'sets nothing aside for a fault of the connection: %s',
    async (fault) => {
      const record = sampleRecord();
      let faults = 1;
      const breaking: Pool = new Proxy(pool, {
        get: (target, name) => (name === 'connect' && faults-- > 0 ? () => Promise.reject(fault) : Reflect.get(target, name, target)),
      });
      const { writer, quarantined } = writerOf(new MemoryFeed([sampleEntry(record)]), { on: breaking });
      await expect(writer.drain()).rejects.toThrow('broken');
      await writer.drain();
      expect(quarantined).toEqual([]);
      expect(await requestsOf(record.accountId)).toEqual([record.requestId]);
    },
  );

  test('wakes by itself when something is appended, also while it is draining', async () => {
    const accountId = newId();
    const [first, second] = recordsOf(accountId, 2).map((record) => sampleEntry(record));
    if (!first || !second) throw new Error('two records');
    const feed = new MemoryFeed();
    const { writer } = writerOf(feed);
    feed.append(first);
    const read = feed.read.bind(feed);
    feed.read = async () => {
      const batch = await read();
      if (feed.acknowledged < 1) return batch;
      // A slow disk: what is appended behind the reader's back is not in this batch, and the writer is woken before it returns.
      feed.read = read;
      feed.append(second);
      // Timers end in order: by then the writer's own has.
      await delay(100);
      return batch;
    };
    await expect.poll(() => feed.acknowledged, { timeout: 60_000 }).toBe(2);
    await writer.close();
  });

  test('begins batches that nobody waits for no closer than its pace', async () => {
    const feed = new MemoryFeed();
    const { writer } = writerOf(feed, { paceMs: 200 });
    const begunAt: number[] = [];
    const read = feed.read.bind(feed);
    feed.read = async () => {
      const at = performance.now();
      const batch = await read();
      if (batch.entries.length > 0) begunAt.push(at);
      return batch;
    };
    for (const written of [1, 2]) {
      feed.append(sampleEntry(sampleRecord()));
      await expect.poll(() => feed.acknowledged, { interval: 5, timeout: 60_000 }).toBe(written);
    }
    await writer.close();
    const [first = 0, second = 0] = begunAt;
    expect(second - first).toBeGreaterThan(198);
  });

  test('writes at once what somebody waits for, whatever its pace', async () => {
    const feed = new MemoryFeed();
    const { writer } = writerOf(feed, { paceMs: 600_000 });
    feed.append(sampleEntry(sampleRecord()));
    await expect.poll(() => feed.acknowledged, { timeout: 60_000 }).toBe(1);
    feed.append(sampleEntry(sampleRecord()));
    await writer.drain();
    expect(feed.acknowledged).toBe(2);
    feed.append(sampleEntry(sampleRecord()));
    await writer.close();
    expect(feed.acknowledged).toBe(3);
  });

  test('writes what was appended before `drain` was called, also when another drain is running', async () => {
    const accountId = newId();
    const feed = new MemoryFeed(recordsOf(accountId, 3).map((record) => sampleEntry(record)));
    const { writer } = writerOf(feed);
    const running = writer.drain();
    feed.append(sampleEntry(sampleRecord({ accountId })));
    await writer.drain();
    expect(feed.acknowledged).toBe(4);
    await Promise.all([running, writer.close()]);
  });

  test('keeps a settlement although what is to be written alongside fails, and leaves nothing of that', async () => {
    const record = sampleRecord();
    const quarantined: JournalEntry[] = [];
    const writer = new LedgerWriter({
      feed: new MemoryFeed([sampleEntry(record)]),
      pool,
      archive: emptyArchive(pool),
      pages: testPages,
      log: silentLog(),
      onQuarantine: (entry) => quarantined.push(entry),
      alongside: async (client, [settled]) => {
        await client.query('update usage_daily set requests = 99 where account_id = $1', [settled?.accountId]);
        throw new TypeError('a fault in the alerts');
      },
    });
    await writer.drain();
    expect(quarantined).toEqual([]);
    expect(await requestsOf(record.accountId)).toEqual([record.requestId]);
    expect(await contradictions(pool)).toEqual([]);
  });

  test('tells once of each settlement whose provider billed more than was held, whatever settled it', async () => {
    const over = { ...sampleEntry(sampleRecord({ cost: '900', held: '400' }), { charged: 400n }), waived: 500n };
    const late = { ...sampleEntry(sampleRecord({ cost: '300', held: '400' }), { charged: 100n }), waived: 200n };
    const told: unknown[] = [];
    const writer = new LedgerWriter({
      feed: new MemoryFeed([over, late, sampleEntry(sampleRecord()), over]),
      ...{ pool, archive: emptyArchive(pool), pages: testPages, log: silentLog() },
      onQuarantine: (_, error) => expect.fail(String(error)),
      onOverbilled: (overbilled) => told.push(overbilled),
    });
    await writer.drain();
    const { requestId, modelServed: model, provider } = JSON.parse(over.record);
    expect(told).toEqual([{ requestId, model, provider, billed: 900n, held: 400n }]);
  });

  test('writes everything before it is closed', async () => {
    const feed = new MemoryFeed();
    const { writer } = writerOf(feed);
    feed.append(sampleEntry(sampleRecord()));
    await writer.close();
    expect(feed.acknowledged).toBe(1);
  });
});
