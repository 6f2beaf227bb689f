import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Pool } from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openPool } from '../../adapters/postgres/database.ts';
import { testDatabase } from '../../adapters/postgres/test-database.ts';
import { newId } from '../../kernel/ids.ts';
import { silentLog } from '../../kernel/log.ts';
import { contradictions } from './contradictions.ts';
import { ledgerLaneSource } from './lane-source.ts';
import { sampleRecord } from './sample-records.ts';
import type { SettlementRecord } from './settlement-record.ts';
import { sumRunHistory } from './sum-runs.ts';
import { NOW, openProcess, PRICE, settleOn, tokens } from './testing/ledger.ts';
import { usageOf } from './usage-queries.ts';

const FOREVER = new AbortController().signal;
const accountId = newId();
let database: Awaited<ReturnType<typeof testDatabase>>;
let pool: Pool;
let dir: string;
let process: ReturnType<typeof openProcess>;

beforeAll(async () => {
  database = await testDatabase();
  pool = openPool({ url: database.url, log: silentLog(), poolSize: 4 });
  dir = mkdtempSync(join(tmpdir(), 'tallygate-sum-runs-'));
  process = openProcess({ pool, source: ledgerLaneSource(pool), dir, price: PRICE });
});
afterAll(async () => {
  await process?.writer.close();
  process?.journal.close();
  await pool?.end();
  await database?.drop();
  rmSync(dir, { recursive: true });
});

async function settled(wish: Partial<SettlementRecord> = {}): Promise<SettlementRecord> {
  const record = sampleRecord({
    accountId,
    runId: 'nightly',
    usage: tokens(100, 50),
    held: '200',
    cost: '200',
    funding: 'invoice',
    ...wish,
  });
  await settleOn(process.lanes, record);
  return record;
}
const refund = ({ requestId, attempt }: SettlementRecord) => process.refunds.refund(accountId, requestId, attempt, { reason: 'r' });
const correct = ({ requestId }: SettlementRecord) => process.corrections.correct(requestId, { usage: tokens(100, 20), reason: 'r' });
const usageByRun = () => usageOf(pool, { accountId, livemode: true }, { from: '2026-11-01', to: '2026-11-30', group_by: 'run' }, NOW);

test('requests that were settled before there were sums by run are added to them once', async () => {
  const [refunded, corrected, refundedLater, correctedLater] = [await settled(), await settled(), await settled(), await settled()];
  await settled({ runId: 'other' });
  await settled({ runId: null });
  await process.writer.drain();
  await refund(refunded);
  await correct(corrected);
  await process.writer.drain();
  await pool.query('delete from usage_runs_daily');
  await pool.query(`update usage_run_history set since = clock_timestamp(), read_up_to = ''`);

  await settled();
  await refund(refundedLater);
  await correct(correctedLater);
  await process.writer.drain();
  await expect(usageByRun()).rejects.toMatchObject({ code: 'store_unavailable' });

  await sumRunHistory(pool, FOREVER, 2);
  await sumRunHistory(pool, FOREVER, 2);
  expect(await contradictions(pool)).toEqual([]);
  const items = (await usageByRun()).items.map(({ run_id, requests, output_tokens }) => ({ run_id, requests, output_tokens }));
  expect(items).toEqual([
    { run_id: 'nightly', requests: 3, output_tokens: 90 },
    { run_id: 'other', requests: 1, output_tokens: 50 },
    { run_id: null, requests: 1, output_tokens: 50 },
  ]);
});
