import type { Pool } from 'pg';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { openPool } from '../../adapters/postgres/database.ts';
import { testDatabase } from '../../adapters/postgres/test-database.ts';
import { emptyArchive } from '../../archive/testing/archives.ts';
import { silentLog } from '../../kernel/log.ts';
import { contradictions } from './contradictions.ts';
import { findSettled, findStanding } from './find-settled.ts';
import { LedgerWriter } from './ledger-writer.ts';
import { priceSetId } from './price-sets.ts';
import { MemoryFeed, sampleEntry, sampleRecord } from './sample-records.ts';
import { testPages } from './testing/pages.ts';

let database: Awaited<ReturnType<typeof testDatabase>>;
let pool: Pool;

beforeAll(async () => {
  database = await testDatabase();
  pool = openPool({ url: database.url, log: silentLog(), poolSize: 4 });
});
beforeEach(() => pool.query('truncate price_sets'));
afterAll(async () => {
  await pool?.end();
  await database?.drop();
});

const settledAt = (...prices: Readonly<Record<string, string>>[]) => prices.map((unitPrices) => sampleRecord({ unitPrices }));
const writer = (records: ReturnType<typeof settledAt>) => {
  const onQuarantine = (_entry: unknown, error: unknown) => {
    throw error;
  };
  const feed = new MemoryFeed(records.map((record) => sampleEntry(record)));
  return { feed, writer: new LedgerWriter({ feed, pool, archive: emptyArchive(pool), pages: testPages, log: silentLog(), onQuarantine }) };
};
const CHEAP = { input_tokens: '1000', output_tokens: '2000' };
const DEAR = { input_tokens: '1000', output_tokens: '2001', web_searches: '10000000000' };

test('prices that many requests were settled at are written once, and read with each of them', async () => {
  const records = settledAt(CHEAP, DEAR, { output_tokens: '2000', input_tokens: '1000' });
  await writer(records).writer.drain();
  expect((await pool.query('select unit_prices from price_sets order by unit_prices')).rows).toHaveLength(2);
  for (const { requestId, unitPrices } of records) {
    expect((await findSettled(pool, requestId, null))?.unit_prices).toEqual(unitPrices);
    expect((await findStanding(pool, null, requestId, null))?.unit_prices).toEqual(unitPrices);
  }
  expect(await contradictions(pool)).toEqual([]);
});

test('prices are written again where the transaction that had written them was rolled back', async () => {
  const [first, second] = settledAt(CHEAP, CHEAP);
  if (!first || !second) throw new Error('two records');
  const { feed, writer: ledger } = writer([]);
  await pool.query('alter table agent_runs add constraint no_runs check (false) not valid');
  feed.append(sampleEntry({ ...first, runId: 'run' }));
  await expect(ledger.drain()).rejects.toThrow('no_runs');
  await pool.query('alter table agent_runs drop constraint no_runs');
  await ledger.drain();
  expect((await pool.query('select id from price_sets')).rows).toEqual([{ id: priceSetId(CHEAP) }]);
  feed.append(sampleEntry(second));
  await ledger.close();
  expect((await findStanding(pool, null, second.requestId, null))?.unit_prices).toEqual(CHEAP);
});

test('a settlement that was written with its own prices is read with them', async () => {
  const [record] = settledAt(CHEAP);
  if (!record) throw new Error('a record');
  await writer([record]).writer.drain();
  await pool.query('update usage_records set unit_prices = $2, price_set_id = null where request_id = $1', [record.requestId, DEAR]);
  expect((await findSettled(pool, record.requestId, 1))?.unit_prices).toEqual(DEAR);
  expect((await findStanding(pool, null, record.requestId, 1))?.unit_prices).toEqual(DEAR);
});
