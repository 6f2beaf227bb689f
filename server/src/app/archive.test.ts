import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Pool } from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openLocalDisk } from '../adapters/blobs/local-disk.ts';
import type { BlobStore } from '../adapters/blobs/port.ts';
import { openPool } from '../adapters/postgres/database.ts';
import { testDatabase } from '../adapters/postgres/test-database.ts';
import { Archive, archiveMonth, archiveOldMonths, RECEIPTS, USAGE_RECORDS } from '../archive/index.ts';
import { newId, newReceiptId } from '../kernel/ids.ts';
import type { Log } from '../kernel/log.ts';
import { silentLog } from '../kernel/log.ts';
import { contradictions } from '../money/ledger/contradictions.ts';
import { LedgerWriter, Refunds } from '../money/ledger/index.ts';
import { requestTrace } from '../money/ledger/request-trace.ts';
import { MemoryFeed, sampleEntry, sampleRecord } from '../money/ledger/sample-records.ts';
import type { SettlementRecord } from '../money/ledger/settlement-record.ts';
import { pagesWith } from '../money/ledger/testing/pages.ts';
import { usageOf } from '../money/ledger/usage-queries.ts';
import { appendAll, auditLog, exportReceipts, newSigningSeed, ownSealKey, publishOwnKeys, signingKeyFromSeed } from '../receipts/index.ts';
import { listReceipts } from '../receipts/list-receipts.ts';
import { proofOfReceipt } from '../receipts/log/read-log.ts';
import { findReceipt } from '../receipts/read-receipt.ts';
import { storedKeySet } from '../receipts/signing-keys.ts';
import { keptInMemory } from '../receipts/testing/receipts.ts';
import { archiveNow, listArchives, restoreNow } from './archive-commands.ts';

const NOW = Date.parse('2026-11-23T12:00:00Z');
const clock = { now: () => NOW };
const FOREVER = new AbortController().signal;
const key = signingKeyFromSeed(newSigningSeed());
const own = { receipt: [key], checkpoint: [signingKeyFromSeed(newSigningSeed())] };
const [accountId, keyId] = [newId(), newId()];
const scope = { accountId, livemode: true };

const isInvoiced = async () => true;
let database: Awaited<ReturnType<typeof testDatabase>>;
let pool: Pool;
let folder: string;
let blobs: BlobStore;
let archive: Archive;
const kept = keptInMemory();

beforeAll(async () => {
  database = await testDatabase();
  pool = openPool({ url: database.url, log: silentLog(), poolSize: 4 });
  folder = mkdtempSync(join(tmpdir(), 'tallygate-archive-'));
  blobs = await openLocalDisk(folder);
  archive = new Archive(pool, blobs);
  await publishOwnKeys(pool, own, Date.parse('2026-01-01'));
});
afterAll(async () => {
  await pool?.end();
  await database?.drop();
  rmSync(folder, { recursive: true, force: true });
});

let made = 0;
/** A request of that moment, whose ids were made then. */
function requestAt(at: string, wish: Partial<SettlementRecord> = {}): SettlementRecord {
  const startedAt = Date.parse(at);
  made += 1;
  const requestId = `req_${startedAt.toString(16).padStart(12, '0')}7${made.toString(16).padStart(19, '0')}`;
  return sampleRecord({ accountId, keyId, requestId, receiptId: newReceiptId(startedAt), startedAt, ...wish });
}

async function write(
  records: readonly SettlementRecord[],
  onQuarantine: (error: unknown) => void = (error) => expect(error).toBeUndefined(),
  from: Archive = archive,
) {
  const writer = new LedgerWriter({
    feed: new MemoryFeed(records.map((record) => sampleEntry(record))),
    pool,
    archive: from,
    pages: pagesWith(ownSealKey(own)),
    log: silentLog(),
    onQuarantine: (_entry, error) => onQuarantine(error),
  });
  await writer.close();
}

const append = () => appendAll({ pool, keys: own.checkpoint, kept, clock, log: silentLog() }, FOREVER);
const refunds = () => new Refunds({ pool, lanes: { refund: () => true }, clock, write: async () => {} });

async function exported(month: string): Promise<string[]> {
  const deps = { pool, archive, key, clock, keySet: () => storedKeySet(pool), isAnchoring: false };
  const parts: Buffer[] = [];
  for await (const part of exportReceipts(deps, scope, month)) parts.push(part);
  return Buffer.concat(parts).toString().trimEnd().split('\n');
}

async function listed(wish: { month?: string; logged_after?: number }): Promise<unknown[]> {
  const items: unknown[] = [];
  for (let cursor: string | undefined; ; ) {
    const page = await listReceipts(pool, archive, scope, { ...wish, ...(cursor !== undefined && { cursor }), limit: 2 });
    items.push(...page.data);
    if (!page.has_more) return items;
    cursor = page.next_cursor ?? undefined;
  }
}

async function auditFaults(): Promise<string[]> {
  const faults: string[] = [];
  const log = { ...silentLog(), error: ({ fault }: { fault: string }) => void faults.push(fault) } as unknown as Log;
  await auditLog({ pool, archive, own, clock, log, onFound: () => {} }, FOREVER);
  return faults;
}

const usageBy = (group: { per: 'day' } | { group_by: 'run' }) =>
  usageOf(pool, scope, { from: '2026-07-01', to: '2026-11-30', ...group }, NOW);

/** All that can be read of the requests. */
async function everything(records: readonly SettlementRecord[]) {
  return {
    traces: await Promise.all(records.map(({ requestId }) => requestTrace(pool, archive, { accountId }, requestId))),
    receipts: await Promise.all(records.map(({ receiptId }) => findReceipt({ pool, archive, key }, receiptId))),
    proofs: await Promise.all(records.map(({ receiptId }) => proofOfReceipt(pool, archive, receiptId))),
    lists: [await listed({}), await listed({ month: '2026-07' }), await listed({ logged_after: 1 })],
    exports: (await Promise.all(['2026-07', '2026-08', '2026-11'].map(exported))).map((lines) => lines.slice(1).toSorted()),
    usage: [await usageBy({ per: 'day' }), await usageBy({ group_by: 'run' })],
  };
}

/** The ledger and its sums, row by row. */
const money = async () =>
  Promise.all(
    ['postings', 'ledger_entries', 'ledger_daily', 'usage_daily', 'usage_runs_daily', 'agent_runs', 'refunds'].map(
      async (table) => (await pool.query(`select row_to_json(t)::text as row from ${table} t order by 1`)).rows,
    ),
  );

const partitions = async () => {
  const { rows } = await pool.query<{ name: string }>(
    `select inhrelid::regclass::text as name from pg_inherits where inhparent in ('usage_records'::regclass, 'receipts'::regclass) order by 1`,
  );
  return rows.map(({ name }) => name);
};

test('what is archived is still found, and neither money nor the log has changed', async () => {
  const old = ['2026-07-01T00:00:00Z', '2026-07-10T00:00:00Z', '2026-07-20T00:00:00Z', '2026-07-31T23:59:59Z', '2026-08-01T00:00:00Z'].map(
    (at, index) => requestAt(at, { runId: index === 1 ? 'run-1' : null }),
  );
  const recent = [requestAt('2026-10-05T00:00:00Z'), requestAt('2026-11-05T00:00:00Z', { runId: 'run-2' })];
  const retried = { ...requestAt('2026-07-15T00:00:00Z', { outcome: 'failed', cost: '0' }) };
  const again = {
    ...retried,
    attempt: 2,
    outcome: 'completed',
    cost: '20',
    receiptId: newReceiptId(retried.startedAt),
  } as SettlementRecord;
  const all = [...old, ...recent, retried, again];
  await write(all);
  await append();
  const before = { found: await everything(all.filter((one) => one !== retried)), money: await money() };
  expect(await contradictions(pool)).toEqual([]);
  expect(before.found.lists.map((list) => list.length)).toEqual([9, 6, 7]);

  const archiving = { pool, blobs, clock, databaseClock: clock, log: silentLog(), pieceRows: 2, isInvoiced };
  await archiveOldMonths(archiving, 2, FOREVER);
  // There are requests of two days after August alone.
  expect(await partitions()).toHaveLength(8);
  await write([1, 2, 3, 4, 6, 7].map((day) => requestAt(`2026-11-0${day}T00:00:00Z`, { accountId: newId(), keyId: newId() })));
  before.money = await money();
  await archiveOldMonths(archiving, 2, FOREVER);

  expect(await partitions()).toEqual(['receipts_2026_10', 'receipts_2026_11', 'usage_records_2026_10', 'usage_records_2026_11']);
  expect(await everything(all.filter((one) => one !== retried))).toEqual(before.found);
  expect(await money()).toEqual(before.money);
  expect(await auditFaults()).toEqual([]);

  const [first] = old;
  expect(await refunds().refund(accountId, first?.requestId ?? '', null, { reason: 'r' })).toEqual({
    refunded: false,
    because: 'archived',
  });
  await expect(listReceipts(pool, archive, scope, { key_id: keyId, limit: 10 })).rejects.toMatchObject({ code: 'validation_failed' });
});

test('usage by run has the months that are archived', async () => {
  const range = { from: '2026-07-02', to: '2026-11-30', group_by: 'run' } as const;
  expect((await usageOf(pool, scope, range, NOW)).items).toMatchObject([{ run_id: 'run-1' }, { run_id: 'run-2' }, { run_id: null }]);
  expect((await usageOf(pool, scope, { ...range, from: '2026-09-01' }, NOW)).items).toMatchObject([{ run_id: 'run-2' }, { run_id: null }]);
});

const rowsOfMonth = async (month: string) => {
  const { rows } = await pool.query<{ id: string }>(`select request_id as id from usage_records_${month} order by 1`);
  return rows.map(({ id }) => id);
};

test('a settlement of an archived month is booked once, and found', async () => {
  const [late, timely] = [requestAt('2026-07-05T00:00:00Z'), requestAt('2026-11-06T00:00:00Z')];
  const [first] = await archivedIds('2026-07');
  const known = { ...late, requestId: first ?? '' };
  const before = await money();
  await write([known]);
  expect(await money()).toEqual(before);
  for (let times = 0; times < 2; times += 1) await write([late, timely]);
  for (const { requestId } of [late, timely])
    expect((await requestTrace(pool, archive, { accountId }, requestId)).request_id).toBe(requestId);
  await append();
  for (const { receiptId } of [late, timely]) expect((await findReceipt({ pool, archive, key }, receiptId)).log.state).toBe('logged');
  expect((await exported('2026-07')).filter((line) => line.includes(late.requestId))).toHaveLength(1);
  expect(await rowsOfMonth('2026_07')).toEqual([late.requestId]);
  expect(await auditFaults()).toEqual([]);
  // It stays where it is.
  expect(await archiveMonth({ pool, blobs, clock }, USAGE_RECORDS, '2026-07')).toBe('absent');
});

const archivedIds = async (month: string) => {
  const { rows } = await pool.query<{ id: string }>(
    `select first_key as id from archive_pieces where table_name = 'usage_records' and month = $1`,
    [month],
  );
  return rows.map(({ id }) => id);
};

test('a settlement is set aside where the archive cannot say whether it was written', async () => {
  const errors: unknown[] = [];
  const lost: BlobStore = { ...blobs, get: async () => undefined };
  const [first] = await archivedIds('2026-07');
  const known = { ...requestAt('2026-07-05T00:00:00Z'), requestId: first ?? '' };
  const timely = requestAt('2026-11-06T00:00:00Z');
  await write([known, timely], (error) => errors.push(error), new Archive(pool, lost));
  expect(errors).toMatchObject([{ message: expect.stringContaining('of the archive is missing') }]);
  expect((await requestTrace(pool, archive, { accountId }, timely.requestId)).request_id).toBe(timely.requestId);
});

test('an archived month is brought back with what came late, and archived again', async () => {
  const before = { partitions: (await rowsOfMonth('2026_07')).length, lists: await listed({ month: '2026-07' }), money: await money() };
  expect(await restoreNow({ pool, blobs }, '2026-07')).toMatchObject({
    isDone: true,
    said: expect.stringContaining('6 rows are in the database again'),
  });
  expect(await restoreNow({ pool, blobs }, '2026-07')).toEqual({ isDone: false, said: '2026-07 is not archived.' });
  expect(await rowsOfMonth('2026_07')).toHaveLength(before.partitions + 6);
  const state = async () => ({ lists: await listed({ month: '2026-07' }), money: await money(), faults: await auditFaults() });
  expect(await state()).toEqual({ lists: before.lists, money: before.money, faults: [] });
  const [one] = await rowsOfMonth('2026_07');
  expect(await refunds().refund(accountId, one ?? '', null, { reason: 'r' })).toMatchObject({ refunded: true });
  await pool.query('delete from refunds');
  await pool.query('update receipt_numbers set invoiced = last');
  expect(await archiveNow({ pool, blobs, clock, databaseClock: clock }, '2026-07')).toMatchObject({ isDone: true });
  expect(await state()).toEqual({ lists: before.lists, money: before.money, faults: [] });
});

test('a month whose receipts are on no invoice stays in the database', async () => {
  await write([requestAt('2026-02-01T00:00:00Z')]);
  await append();
  const deps = { pool, blobs, clock, databaseClock: clock, log: silentLog() };
  const ofFebruary = async () => (await partitions()).filter((name) => name.endsWith('2026_02'));
  await archiveOldMonths({ ...deps, isInvoiced: async (month) => month !== '2026-02' }, 2, FOREVER);
  expect(await ofFebruary()).toEqual(['receipts_2026_02', 'usage_records_2026_02']);
  await archiveOldMonths({ ...deps, isInvoiced }, 2, FOREVER);
  expect(await ofFebruary()).toEqual([]);
});

test('a clock that is ahead archives nothing', async () => {
  const ahead = { now: () => NOW + 100 * 86_400_000 };
  const all = await partitions();
  const log = silentLog();
  // Of the process alone, and of the machine that both share.
  await archiveOldMonths({ pool, blobs, clock: ahead, databaseClock: clock, log, isInvoiced }, 2, FOREVER);
  await archiveOldMonths({ pool, blobs, clock: ahead, databaseClock: ahead, log, isInvoiced }, 2, FOREVER);
  const months = (names: string[]) => names.filter((name) => name.includes('2026_11'));
  expect(months(await partitions())).toEqual(months(all));
});

test('a month goes only when every row is in the archive and nothing is to happen to it', async () => {
  const records = [1, 2, 3, 4, 5].map((day) => requestAt(`2026-05-0${day}T00:00:00Z`));
  await write(records);
  const deps = { pool, blobs, clock, pieceRows: 2 };
  expect(await archiveMonth(deps, RECEIPTS, '2026-05')).toBe('pending');
  await append();

  let puts = 0;
  const dying: BlobStore = {
    ...blobs,
    put: (...args) => {
      puts += 1;
      if (puts === 2) throw new Error('killed');
      return blobs.put(...args);
    },
    get: (...args) => blobs.get(...args),
  };
  for (const table of [USAGE_RECORDS, RECEIPTS]) {
    puts = 0;
    await expect(archiveMonth({ ...deps, blobs: dying }, table, '2026-05')).rejects.toThrow('killed');
  }
  const late = requestAt('2026-05-01T12:00:00Z');
  await write([late]);
  await append();
  expect(await archiveMonth(deps, USAGE_RECORDS, '2026-05')).toBe('changed');
  for (const table of [USAGE_RECORDS, RECEIPTS]) {
    if (table === RECEIPTS) expect(await archiveMonth(deps, table, '2026-05')).toBe('changed');
    expect(await archiveMonth(deps, table, '2026-05')).toBe('archived');
    expect(await archiveMonth(deps, table, '2026-05')).toBe('absent');
  }
  for (const { requestId, receiptId } of [...records, late]) {
    expect((await requestTrace(pool, archive, { accountId }, requestId)).receipt_id).toBe(receiptId);
    expect((await findReceipt({ pool, archive, key }, receiptId)).log.state).toBe('logged');
  }
  expect(await auditFaults()).toEqual([]);
});

test('while somebody reads for long a month stays, and others are not held up behind its end', async () => {
  await write([requestAt('2025-12-10T10:00:00Z')]);
  const [reader, other] = [await pool.connect(), await pool.connect()];
  try {
    await reader.query('begin; select from usage_records limit 1');
    await other.query(`set statement_timeout = '3s'`);
    let isOver = false;
    const archiving = archiveMonth({ pool, blobs, clock }, USAGE_RECORDS, '2025-12').finally(() => {
      isOver = true;
    });
    const readOn = async () => {
      while (!isOver) await other.query('select from usage_records limit 1');
    };
    const [archived, read] = await Promise.allSettled([archiving, readOn()]);
    expect(read).toMatchObject({ status: 'fulfilled' });
    expect(archived).toMatchObject({ reason: { code: '55P03' } });
  } finally {
    for (const client of [reader, other]) client.release(true);
  }
  expect(await archiveMonth({ pool, blobs, clock }, USAGE_RECORDS, '2025-12')).toBe('archived');
});

test('an operator archives a month that is over and on invoices, and sees what is archived', async () => {
  await write([requestAt('2026-03-01T00:00:00Z')]);
  await append();
  const deps = { pool, blobs, clock, databaseClock: clock };
  expect(await archiveNow(deps, '2026-10')).toEqual({ isDone: false, said: expect.stringContaining('before 2026-10') });
  expect(await archiveNow(deps, '2026-03')).toEqual({
    isDone: false,
    said: expect.stringContaining('Receipts of 2026-03 are on no invoice yet, of 1 accounts.'),
  });
  await pool.query('update receipt_numbers set invoiced = last');
  expect(await archiveNow(deps, '2026-03')).toMatchObject({ isDone: true });
  expect(await listArchives(pool)).toContain('2026-03  receipts       1 rows in 1 pieces');
});

test('bytes that are not those that were archived are never answered', async () => {
  const record = requestAt('2026-04-01T00:00:00Z');
  await write([record]);
  expect(await archiveMonth({ pool, blobs, clock }, USAGE_RECORDS, '2026-04')).toBe('archived');
  const { rows } = await pool.query<{ blob_key: string }>(`select blob_key from archive_pieces where month = '2026-04'`);
  const other = (async function* () {
    yield Buffer.from('other');
  })();
  await blobs.put(rows[0]?.blob_key ?? '', other, { maxBytes: 100 });
  await expect(requestTrace(pool, archive, { accountId }, record.requestId)).rejects.toThrow('is not what was archived');
});
