import type { Pool } from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openPool } from '../adapters/postgres/database.ts';
import { testDatabase } from '../adapters/postgres/test-database.ts';
import { emptyArchive } from '../archive/testing/archives.ts';
import { newId, newReceiptId } from '../kernel/ids.ts';
import { silentLog } from '../kernel/log.ts';
import { LedgerWriter } from '../money/ledger/index.ts';
import { MemoryFeed, sampleEntry, sampleRecord } from '../money/ledger/sample-records.ts';
import type { SettlementRecord } from '../money/ledger/settlement-record.ts';
import { pagesWith } from '../money/ledger/testing/pages.ts';
import { newSigningSeed, ownSealKey, publishOwnKeys, signingKeyFromSeed } from '../receipts/index.ts';
import { listReceipts } from '../receipts/list-receipts.ts';

const own = { receipt: [signingKeyFromSeed(newSigningSeed())], checkpoint: [signingKeyFromSeed(newSigningSeed())] };
const [accountId, keyId] = [newId(), newId()];
let database: Awaited<ReturnType<typeof testDatabase>>;
let pool: Pool;

const REQUEST = 'req_019aa2f1c2d37b6e8c4d1f00aa55ee7';
/** A request of November at noon, one a day. */
const of = (day: number, wish: Partial<SettlementRecord>) => {
  const startedAt = Date.UTC(2026, 10, day, 12);
  return sampleRecord({ accountId, keyId, requestId: `${REQUEST}${day}`, receiptId: newReceiptId(startedAt), startedAt, ...wish });
};

beforeAll(async () => {
  database = await testDatabase();
  pool = openPool({ url: database.url, log: silentLog(), poolSize: 2 });
  await publishOwnKeys(pool, own, Date.parse('2026-01-01'));
  const records = [
    of(1, { cost: '1000', endUser: 'ada' }),
    of(2, { cost: '5000000000', outcome: 'cut' }),
    of(3, { cost: '2000000000', endUser: 'ada', keyId: newId() }),
    of(4, { cost: '1000', outcome: 'cancelled', accountId: newId(), endUser: 'ada' }),
  ];
  const writer = new LedgerWriter({
    feed: new MemoryFeed(records.map((record) => sampleEntry(record))),
    ...{ pool, archive: emptyArchive(pool), pages: pagesWith(ownSealKey(own)), log: silentLog() },
    onQuarantine: (_entry, error) => expect(error).toBeUndefined(),
  });
  await writer.close();
});
afterAll(async () => {
  await pool?.end();
  await database?.drop();
});

test.each([
  [{}, [3, 2, 1]],
  [{ end_user: 'ada' }, [3, 1]],
  [{ end_user: 'ada', key_id: keyId }, [1]],
  [{ outcome: 'cut' }, [2]],
  [{ outcome: 'refunded' }, []],
  [{ min_cost_usd: '2', max_cost_usd: '4.999999999' }, [3]],
  [{ max_cost_usd: '0.000001' }, [1]],
  [{ from: '2026-11-02T12:00:00Z', to: '2026-11-03T12:00:00Z' }, [2]],
  [{ month: '2026-11', from: '2026-10-01T00:00:00Z', to: '2026-11-02T00:00:00Z' }, [1]],
] as const)('receipts are found by %o', async (wish, found) => {
  const { data } = await listReceipts(pool, emptyArchive(pool), { accountId, livemode: true }, { ...wish, limit: 10 });
  expect(data.map(({ request_id: id }) => Number(id.slice(REQUEST.length)))).toEqual(found);
});

test('a filtered list waits for no more than its share of the connections, and is refused beyond ten at once', async () => {
  const scope = { accountId, livemode: true };
  const searches = Array.from({ length: 11 }, () => listReceipts(pool, emptyArchive(pool), scope, { min_cost_usd: '1000', limit: 10 }));
  const plain = listReceipts(pool, emptyArchive(pool), scope, { limit: 10 });
  const ends = await Promise.allSettled(searches);
  expect(ends.map(({ status }) => status)).toEqual([...Array.from({ length: 10 }, () => 'fulfilled'), 'rejected']);
  expect(ends.at(-1)).toMatchObject({ reason: { code: 'rate_limited' } });
  expect((await plain).data).toHaveLength(3);
});
