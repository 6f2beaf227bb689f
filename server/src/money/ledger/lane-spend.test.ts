import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Pool } from 'pg';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import type { LaneSource } from '../../adapters/lanes/port.ts';
import { openPool } from '../../adapters/postgres/database.ts';
import { testDatabase } from '../../adapters/postgres/test-database.ts';
import { newId } from '../../kernel/ids.ts';
import { silentLog } from '../../kernel/log.ts';
import { inTransaction } from '../../kernel/transaction.ts';
import { publishSigningKeys } from '../../receipts/index.ts';
import { contradictions } from './contradictions.ts';
import { laneId } from './lane-ids.ts';
import { LedgerLaneSource } from './lane-source.ts';
import { type Counting, countSpent } from './lane-spend.ts';
import { reconcileLanes } from './reconcile.ts';
import { sampleRecord } from './sample-records.ts';
import type { SettlementRecord } from './settlement-record.ts';
import { declareSamplePrices, openProcess, PRICE, settleOn, signingKey, tokens } from './testing/ledger.ts';

let database: Awaited<ReturnType<typeof testDatabase>>;
let pool: Pool;
let source: LaneSource;
let dir: string;
let process: ReturnType<typeof openProcess>;
let accountId: string;

beforeAll(async () => {
  database = await testDatabase();
  pool = openPool({ url: database.url, log: silentLog(), poolSize: 8 });
  source = new LedgerLaneSource(pool);
  await publishSigningKeys(pool, [signingKey], Date.parse('2026-10-01T00:00:00Z'));
  await declareSamplePrices(pool);
});
afterAll(async () => {
  await pool?.end();
  await database?.drop();
});
beforeEach(() => {
  accountId = newId();
  dir = mkdtempSync(join(tmpdir(), 'tallygate-lane-spend-'));
  process = openProcess({ pool, source, dir, price: PRICE });
});
afterEach(async () => {
  await process.writer.drain();
  expect(await reconcileLanes(process.lanes.books, source)).toEqual([]);
  expect(await contradictions(pool)).toEqual([]);
  await process.writer.close();
  process.journal.close();
  rmSync(dir, { recursive: true });
});

const DAY = { start: Date.parse('2026-11-21T00:00:00Z'), end: Date.parse('2026-11-22T00:00:00Z') };
const WITHIN = Date.parse('2026-11-21T10:00:00Z');
const laneOf = (kind: Counting['kind'], subject: string) =>
  laneId.limit({ accountId, livemode: true, period: 'day', start: DAY.start, kind, subject });
const spentOn = async (lane: string) => {
  await process.writer.drain();
  return (await source.moneyLane(lane)).spent;
};
/** 100 tokens in and 50 out: 200 nano-USD. */
const settled = async (wish: Partial<SettlementRecord>): Promise<SettlementRecord> => {
  const record = sampleRecord({
    ...{ accountId, usage: tokens(100, 50), held: '200', cost: '200', funding: 'invoice', startedAt: WITHIN, ...wish },
  });
  await settleOn(process.lanes, record);
  await process.writer.drain();
  return record;
};
const countFrom = (kind: Counting['kind'], subject: string | null) =>
  inTransaction(pool, (db) => countSpent(db, { accountId, kind, subject, period: 'day', ...DAY }));

test('each lane that a request names has its cost, and a refund takes it back', async () => {
  const [user, tag] = [laneOf('end_user', 'ada'), laneOf('tag', 'feature=search')];
  const first = await settled({ limitLanes: [user, tag] });
  await settled({ limitLanes: [tag] });
  expect([await spentOn(user), await spentOn(tag)]).toEqual([200n, 400n]);
  await process.refunds.refund(null, first.requestId, null, { reason: 'Goodwill.' });
  expect([await spentOn(user), await spentOn(tag)]).toEqual([0n, 200n]);
});

test('a correction changes every lane that its request names', async () => {
  const lane = laneOf('project', newId());
  const { requestId } = await settled({ limitLanes: [lane] });
  await process.corrections.correct(requestId, { usage: tokens(100, 20), reason: 'The provider had counted twice.' });
  expect(await spentOn(lane)).toBe(140n);
});

test.each([
  ['account', '', {}],
  ['project', 'b6a1c2d3-0000-4000-8000-000000000001', { projectId: 'b6a1c2d3-0000-4000-8000-000000000001' }],
  ['member', 'b6a1c2d3-0000-4000-8000-000000000002', { userId: 'b6a1c2d3-0000-4000-8000-000000000002' }],
  ['key', 'b6a1c2d3-0000-4000-8000-000000000003', { keyId: 'b6a1c2d3-0000-4000-8000-000000000003' }],
  ['run', 'trip:1', { runId: 'trip:1' }],
  ['run', 'trip', { runId: 'leg', ancestorRunIds: ['day', 'trip'] }],
  ['end_user', 'ada:lovelace', { endUser: 'ada:lovelace' }],
  ['tag', 'feature=search', { tags: ['feature=search', 'team=web'] }],
  ['model', 'gpt-5.4-nano', {}],
] as const)('a new limit of a %s begins with what was spent in its window before', async (kind, subject, wish) => {
  await settled(wish);
  await settled({ ...wish, startedAt: DAY.start - 1 });
  await settled({ ...wish, accountId: newId() });
  await countFrom(kind, kind === 'account' ? null : subject);
  const lane = laneOf(kind, subject);
  expect(await spentOn(lane)).toBe(200n);
  await settled({ ...wish, limitLanes: [lane] });
  expect(await spentOn(lane)).toBe(400n);
});

test('a limit of each begins with what every one of them had spent', async () => {
  await settled({ endUser: 'ada' });
  await settled({ endUser: 'ada' });
  await settled({ endUser: 'grace' });
  await settled({});
  await countFrom('end_user', null);
  expect([await spentOn(laneOf('end_user', 'ada')), await spentOn(laneOf('end_user', 'grace'))]).toEqual([400n, 200n]);
});

test('a limit that is set again counts what was spent while it was gone, and nothing twice', async () => {
  const lane = laneOf('tag', 'feature=search');
  await settled({ tags: ['feature=search'], limitLanes: [lane] });
  await settled({ tags: ['feature=search'] });
  await countFrom('tag', 'feature=search');
  await process.lanes.books.correct({ laneId: lane, meter: null, from: 200n, to: 400n });
  expect(await spentOn(lane)).toBe(400n);
});
