import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Pool } from 'pg';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { openLocalDisk } from '../../../adapters/blobs/local-disk.ts';
import type { BlobStore } from '../../../adapters/blobs/port.ts';
import { openPool } from '../../../adapters/postgres/database.ts';
import { testDatabase } from '../../../adapters/postgres/test-database.ts';
import { Archive, archiveMonth, restoreMonth, USAGE_RECORDS } from '../../../archive/index.ts';
import { emptyArchive } from '../../../archive/testing/archives.ts';
import { newId, requestIdAt } from '../../../kernel/ids.ts';
import { silentLog } from '../../../kernel/log.ts';
import { contradictions } from '../contradictions.ts';
import { LedgerWriter } from '../ledger-writer.ts';
import { MemoryFeed, sampleEntry, sampleRecord } from '../sample-records.ts';
import type { RefundRecord, SettlementRecord } from '../settlement-record.ts';
import { testPages } from '../testing/pages.ts';
import { usageOf } from '../usage-queries.ts';
import { mergeSegments } from './merge-segments.ts';
import { sumDays } from './sum-days.ts';

const NOW = Date.parse('2026-11-21T12:00:00Z');
const FOREVER = new AbortController().signal;
const MOST_GROUPS = 1_000;
let database: Awaited<ReturnType<typeof testDatabase>>;
let pool: Pool;
let folder: string;
let blobs: BlobStore;

beforeAll(async () => {
  database = await testDatabase();
  pool = openPool({ url: database.url, log: silentLog(), poolSize: 4 });
  folder = mkdtempSync(join(tmpdir(), 'tallygate-segments-'));
  blobs = await openLocalDisk(folder);
});
afterEach(async () => {
  expect(await contradictions(pool)).toEqual([]);
});
afterAll(async () => {
  await pool?.end();
  await database?.drop();
  rmSync(folder, { recursive: true, force: true });
});

const book = (records: readonly (SettlementRecord | RefundRecord)[]) =>
  new LedgerWriter({
    feed: new MemoryFeed(records.map((record) => sampleEntry(record as SettlementRecord))),
    ...{ pool, archive: emptyArchive(pool), pages: testPages, log: silentLog() },
    onQuarantine: (_entry, error) => {
      throw error;
    },
  }).drain();

let made = 0;
function at(time: string, wish: Partial<SettlementRecord> = {}): SettlementRecord {
  made += 1;
  const startedAt = Date.parse(time);
  const requestId = `${requestIdAt(startedAt)}7${made.toString(16).padStart(19, '0')}`;
  return sampleRecord({ startedAt, requestId, ...wish });
}

const refundOf = (record: SettlementRecord): RefundRecord => ({
  ...record,
  ...{ kind: 'refund', refundId: newId(), refundReceiptId: newId(), reason: 'test', refundedAt: NOW, debt: '0' },
});

async function giveBack(record: SettlementRecord): Promise<void> {
  await pool.query(
    `insert into refunds (refund_id, receipt_id, request_id, attempt, account_id, reason, requested_at) values ($1, $1, $2, 1, $3, 'test', now())`,
    [newId(), record.requestId, record.accountId],
  );
  const { rows } = await pool.query('select refund_id, receipt_id from refunds where request_id = $1', [record.requestId]);
  await book([{ ...refundOf(record), refundId: rows[0].refund_id, refundReceiptId: rows[0].receipt_id }]);
}

const segmentsOf = async (accountId: string) =>
  (await pool.query('select rows, is_merged from usage_segments where account_id = $1 order by rows', [accountId])).rows;

const sumAll = () => sumDays({ pool, archive: new Archive(pool, blobs), log: silentLog() }, FOREVER);

const usageBy = (accountId: string, group_by: string, more: object = {}) =>
  usageOf(pool, { accountId, livemode: true }, { from: '2026-10-01', to: '2026-11-21', group_by, ...more }, NOW);

test('a batch of several accounts becomes one segment for each account and month', async () => {
  const [one, other] = [newId(), newId()];
  await book([
    at('2026-10-31T23:50:00Z', { accountId: one }),
    at('2026-11-01T00:10:00Z', { accountId: one, endUser: 'ada' }),
    at('2026-11-01T00:20:00Z', { accountId: other, tags: ['a', 'b'] }),
  ]);
  const before = await usageBy(one, 'end_user', { per: 'hour' });
  await mergeSegments(pool, FOREVER);
  expect(await segmentsOf(one)).toEqual([1, 1].map((rows) => ({ rows, is_merged: true })));
  expect(await segmentsOf(other)).toHaveLength(1);
  expect((await pool.query('select from usage_segments where not is_merged')).rowCount).toBe(0);
  expect(await usageBy(one, 'end_user', { per: 'hour' })).toEqual(before);
});

test('few segments stay of many batches, and what is the same in a quarter of an hour is one row', async () => {
  const [accountId, keyId] = [newId(), newId()];
  for (let batch = 0; batch < 40; batch += 1) {
    await book([
      at('2026-11-02T10:00:00Z', { accountId, keyId }),
      at('2026-11-02T10:14:59Z', { accountId, keyId, endUser: `user-${batch}` }),
    ]);
    await mergeSegments(pool, FOREVER);
  }
  const segments = await segmentsOf(accountId);
  expect(segments.length).toBeLessThan(8);
  expect(segments.reduce((sum, { rows }) => sum + rows, 0)).toBeLessThan(40 + segments.length + 1);
  expect((await usageBy(accountId, 'end_user')).total.requests).toBe(80);
});

test('of a request whose money was given back nothing is left', async () => {
  const record = at('2026-11-03T10:00:00Z', { endUser: 'gone' });
  await book([record]);
  await mergeSegments(pool, FOREVER);
  await giveBack(record);
  expect((await usageBy(record.accountId, 'end_user')).items).toEqual([]);
  await mergeSegments(pool, FOREVER);
  expect(await segmentsOf(record.accountId)).toEqual([]);
});

test('sums are exact to the nano-dollar beyond what a number of JavaScript holds', async () => {
  const accountId = newId();
  const cost = '9007199254740993';
  await book([1, 2, 3].map(() => at('2026-11-04T10:00:00Z', { accountId, cost, held: cost, endUser: 'ada' })));
  await mergeSegments(pool, FOREVER);
  const { items } = await usageBy(accountId, 'end_user');
  expect(items.map(({ cost_usd }) => cost_usd)).toEqual(['27021597.764222979']);
});

test('groups of equal cost are listed in the order of their names', async () => {
  const accountId = newId();
  const users = Array.from({ length: MOST_GROUPS + 5 }, (_, at) => `user-${String(at).padStart(4, '0')}`);
  await book(users.toReversed().map((endUser) => at('2026-11-05T10:00:00Z', { accountId, endUser })));
  const { items, omitted_groups } = await usageBy(accountId, 'end_user');
  expect([items.map(({ end_user }) => end_user), omitted_groups]).toEqual([users.slice(0, MOST_GROUPS), 5]);
});

test('days from before there were segments are summed up from their requests, archived ones too, once', async () => {
  const accountId = newId();
  await book([
    at('2026-10-08T10:00:00Z', { accountId, endUser: 'ada', tags: ['a'] }),
    at('2026-10-09T00:00:00Z', { accountId, endUser: 'ada', outcome: 'failed' }),
    at('2026-11-09T12:00:00Z', { accountId, runId: 'nightly' }),
    at('2026-11-09T12:01:00Z', { accountId, livemode: false, funding: 'test' }),
  ]);
  const ask = () => usageBy(accountId, 'end_user,run', { per: 'hour' });
  const before = await ask();
  await pool.query(
    `delete from usage_segments; insert into usage_days_unsummed select generate_series('2026-10-01'::date, '2026-11-21', '1 day')`,
  );
  await expect(ask()).rejects.toMatchObject({ code: 'store_unavailable' });
  // What is settled meanwhile is among the requests by then.
  await book([at('2026-11-09T12:00:00Z', { accountId, runId: 'nightly' })]);
  expect((await pool.query('select from usage_segments')).rowCount).toBe(0);
  expect(await archiveMonth({ pool, blobs, clock: { now: () => NOW } }, USAGE_RECORDS, '2026-10')).toBe('archived');
  for (const work of [sumAll, sumAll, () => mergeSegments(pool, FOREVER)]) {
    await work();
    const { total, items } = await ask();
    expect([total.requests, items.length]).toEqual([before.total.requests + 1, before.items.length]);
  }
  await restoreMonth({ pool, blobs }, USAGE_RECORDS, '2026-10');
});

test('while a day is summed up the ledger is written, and nothing is left out or counted twice', async () => {
  const accountId = newId();
  const [first, given] = [at('2026-11-12T10:00:00Z', { accountId }), at('2026-11-12T10:30:00Z', { accountId })];
  await book([first, given]);
  await mergeSegments(pool, FOREVER);
  await pool.query('delete from usage_segments where account_id = $1', [accountId]);
  await pool.query(`insert into usage_days_unsummed values ('2026-11-12')`);
  const archive = new Archive(pool, blobs);
  /** @param meanwhile once the requests that are there were read */
  const sumWhile = (meanwhile: () => Promise<void>) => {
    const reading = {
      rowsBetween: (...range: Parameters<Archive['rowsBetween']>) => readAfter(meanwhile, archive.rowsBetween(...range)),
      countPieces: (...of: Parameters<Archive['countPieces']>) => archive.countPieces(...of),
    };
    return sumDays({ pool, archive: reading as Archive, log: silentLog() }, FOREVER);
  };
  const days = async () => (await pool.query('select from usage_days_unsummed')).rowCount;
  await sumWhile(async () => {
    await pool.query(`begin; set local lock_timeout = '2s'; lock table usage_segments in row exclusive mode; commit`);
    await book([at('2026-11-12T09:00:00Z', { accountId })]);
    await giveBack(given);
  });
  expect(await days()).toBe(1);
  await sumWhile(() => book([at('2026-11-12T11:00:00Z', { accountId })]));
  expect(await days()).toBe(0);
  await book([at('2026-11-12T12:00:00Z', { accountId })]);
  expect((await usageBy(accountId, 'run')).total.requests).toBe(4);
});

async function* readAfter<Row>(work: () => Promise<void>, rows: AsyncIterable<Row>): AsyncGenerator<Row> {
  await work();
  yield* rows;
}

test('a day whose archive is lost is named, and the others are summed up', async () => {
  const accountId = newId();
  await book([at('2026-09-08T10:00:00Z', { accountId }), at('2026-09-09T10:00:00Z', { accountId })]);
  await archiveMonth({ pool, blobs, clock: { now: () => NOW }, pieceRows: 1 }, USAGE_RECORDS, '2026-09');
  const lost = await pool.query<{ sha256: string }>('update archive_pieces set sha256 = reverse(sha256) where piece = 1 returning sha256');
  await pool.query(`insert into usage_days_unsummed values ('2026-09-08'), ('2026-09-10')`);
  const ask = (day: string) => usageOf(pool, { accountId, livemode: true }, { from: day, to: day, group_by: 'run' }, NOW);
  await expect(sumAll()).rejects.toThrow('is not what was archived');
  await expect(ask('2026-09-08')).rejects.toMatchObject({ code: 'store_unavailable' });
  expect((await pool.query('select day::text from usage_days_unsummed')).rows).toEqual([{ day: '2026-09-08' }]);
  await pool.query('update archive_pieces set sha256 = reverse(sha256) where sha256 = $1', [lost.rows[0]?.sha256]);
  await pool.query(`delete from usage_days_unsummed`);
  await restoreMonth({ pool, blobs }, USAGE_RECORDS, '2026-09');
});
