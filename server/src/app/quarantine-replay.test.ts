import { randomUUID } from 'node:crypto';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Pool } from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { InProcessLanes } from '../adapters/lanes/in-process.ts';
import type { JournalEntry, SettlementFeed } from '../adapters/lanes/port.ts';
import { RedisFeed } from '../adapters/lanes/redis/redis-feed.ts';
import { RedisLanes } from '../adapters/lanes/redis/redis-lanes.ts';
import { ScratchJournals } from '../adapters/lanes/testing/scratch-journals.ts';
import { openPool } from '../adapters/postgres/database.ts';
import { testDatabase } from '../adapters/postgres/test-database.ts';
import { isRedisMissing, testRedis } from '../adapters/redis/test-redis.ts';
import { emptyArchive } from '../archive/testing/archives.ts';
import { silentLog } from '../kernel/log.ts';
import { contradictions } from '../money/ledger/contradictions.ts';
import { LedgerLaneSource, LedgerWriter, reconcileLanes, unwrittenAmong } from '../money/ledger/index.ts';
import { laneId } from '../money/ledger/lane-ids.ts';
import { sampleEntry, sampleRecord } from '../money/ledger/sample-records.ts';
import type { SettlementRecord } from '../money/ledger/settlement-record.ts';
import { declareSamplePrices } from '../money/ledger/testing/ledger.ts';
import { testPages } from '../money/ledger/testing/pages.ts';
import { Quarantine } from './quarantine.ts';
import { quarantineByOperator } from './quarantine-command.ts';
import { bookSetAside } from './quarantine-replay.ts';

const CAP = 1_000n;
const journals = new ScratchJournals();
let database: Awaited<ReturnType<typeof testDatabase>>;
let pool: Pool;

beforeAll(async () => {
  database = await testDatabase();
  pool = openPool({ url: database.url, log: silentLog(), poolSize: 4 });
  await declareSamplePrices(pool);
});
afterAll(async () => {
  await pool?.end();
  await database?.drop();
  journals.remove();
});

const source = () => new LedgerLaneSource(pool);

const STORES = {
  memory: async () => {
    const journal = journals.open();
    const feed: SettlementFeed = journal;
    return { lanes: new InProcessLanes(source(), journal), feed, close: async () => journal.close() };
  },
  Redis: async () => {
    const redis = await testRedis();
    const prefix = `test:${randomUUID()}`;
    const feed = new RedisFeed({ redis, prefix, onDamage: () => {} });
    const lanes = new RedisLanes({
      redis,
      prefix,
      source: source(),
      ...journals.process(redis, prefix),
      onAppend: (at) => feed.appended(at),
    });
    const close = async () => {
      await feed.close();
      redis.disconnect();
    };
    return { lanes, feed: feed as SettlementFeed, close };
  },
};

const key = (record: SettlementRecord) => laneId.key(record.keyId ?? '', '2026-11');
const paidByInvoice = (wish: Partial<SettlementRecord> = {}) => sampleRecord({ funding: 'invoice', ...wish });
/** Of a request under the cap of its key. */
const entryOf = (record: SettlementRecord): JournalEntry => ({ ...sampleEntry(record), caps: { [key(record)]: CAP } });

const booked = async (requestId: string) => {
  const { rows } = await pool.query<{ cost: string; charged: string; waived: string }>(
    `select cost_nano::text as cost, charged_nano::text as charged, waived_nano::text as waived from usage_records where request_id = $1`,
    [requestId],
  );
  return rows;
};

describe.each(Object.entries(STORES))('what was set aside, with lanes in %s', (name, openStore) => {
  describe.skipIf(name === 'Redis' && isRedisMissing())('and booked again', () => {
    async function open() {
      const { lanes, feed, close } = await openStore();
      const refused: JournalEntry[] = [];
      const deps = { pool, archive: emptyArchive(pool), pages: testPages, log: silentLog() };
      const writer = new LedgerWriter({ feed, ...deps, onQuarantine: (entry) => void refused.push(entry) });
      const unwritten = (entries: readonly JournalEntry[]) => unwrittenAmong(deps, entries);
      const replaying = { lanes, source: source(), unwrittenAmong: unwritten, write: () => writer.drain() };
      const replay = (entry: JournalEntry, id: string = randomUUID()) => bookSetAside(replaying, [{ id, entry }]);
      const agree = async () => {
        expect(await contradictions(pool)).toEqual([]);
        expect(await reconcileLanes(lanes.books, source())).toEqual([]);
      };
      return { lanes, writer, refused, replay, agree, close };
    }

    test('is charged as far as it fits its cap; the rest is the loss of the operator', async () => {
      const { lanes, replay, agree, close } = await open();
      const first = paidByInvoice({ cost: '950', held: '950' });
      const second = paidByInvoice({ ...first, ...ids(), cost: '90', held: '90' });
      for (const record of [first, second]) expect((await replay(entryOf(record))).size).toBe(0);
      expect(await booked(first.requestId)).toEqual([{ cost: '950', charged: '950', waived: '0' }]);
      expect(await booked(second.requestId)).toEqual([{ cost: '50', charged: '50', waived: '40' }]);
      expect((await lanes.inspect([key(first)])).get(key(first))).toMatchObject({ spent: CAP });
      await agree();
      await close();
    });

    test('is charged whole, and counted once, where its lanes count it already', async () => {
      const { lanes, writer, refused, replay, agree, close } = await open();
      // The ledger refuses it: it is in no period that there is.
      const record = paidByInvoice({ cost: '90', held: '100' });
      const lane = { source: 'key', cap: CAP, capRule: 'given', resetsAt: null } as const;
      await lanes.hold({
        ...{ holdId: record.receiptId, accountId: record.accountId, at: record.startedAt, units: {}, quota: null },
        ...{ cost: { fixed: 100_000n, perOutputToken: 0n }, outputTokens: { wanted: 0, least: 0 } },
        ...{ lanes: [{ id: key(record), ...lane }], funds: { id: laneId.invoice(record.accountId, '2026-11'), ...lane, cap: null } },
      });
      await lanes.settle({ holdId: record.receiptId, cost: 90n, units: {}, record: JSON.stringify({ ...record, priceTier: {} }) });
      await writer.drain();
      expect(refused).toMatchObject([{ charged: 90n, caps: { [key(record)]: CAP } }]);
      expect(await booked(record.requestId)).toEqual([]);
      const [entry] = refused;
      await replay({ ...entryOf(record), ...entry, record: JSON.stringify(record) });
      expect(await booked(record.requestId)).toEqual([{ cost: '90', charged: '90', waived: '0' }]);
      expect((await lanes.inspect([key(record)])).get(key(record))).toMatchObject({ spent: 90n });
      await agree();
      await close();
    });

    test('is booked once, however often it is asked for', async () => {
      const { replay, agree, close } = await open();
      const record = paidByInvoice({ cost: '90' });
      for (const id of ['one', 'one', 'two']) await replay(entryOf(record), `${id} ${record.requestId}`);
      expect(await booked(record.requestId)).toHaveLength(1);
      await agree();
      await close();
    });

    test('is set aside again where the ledger still refuses it', async () => {
      const { replay, refused, close } = await open();
      const record = paidByInvoice({ cost: '90' });
      const entry = { ...entryOf(record), waived: 20n, record: JSON.stringify({ ...record, priceTier: {} }) };
      await replay(entry);
      expect(refused).toMatchObject([{ charged: 90n, waived: 20n, record: entry.record }]);
      await close();
    });
  });
});

test('an operator asks, and the gateway of the folder books it when it runs', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'tallygate-quarantine-'));
  mkdirSync(join(folder, 'journal'));
  const quarantine = new Quarantine(join(folder, 'journal'));
  quarantine.add(entryOf(paidByInvoice()), new Error('refused'));
  expect(await quarantineByOperator({ dataDir: folder }, 'replay', 0)).toEqual({
    isDone: false,
    said: 'The gateway books 1 settlement again when it runs.',
  });
  const asked = quarantineByOperator({ dataDir: folder }, 'replay');
  await quarantine.replay(async () => new Set());
  expect(await asked).toEqual({ isDone: true, said: '1 settlement booked, 0 waiting.' });
  rmSync(folder, { recursive: true });
});

function ids(): Pick<SettlementRecord, 'requestId' | 'receiptId'> {
  const { requestId, receiptId } = sampleRecord();
  return { requestId, receiptId };
}
