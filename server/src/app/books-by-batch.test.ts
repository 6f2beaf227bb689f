import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openPool } from '../adapters/postgres/database.ts';
import { testDatabase } from '../adapters/postgres/test-database.ts';
import { databaseOf, inDatabase } from '../adapters/postgres/test-url.ts';
import { emptyArchive } from '../archive/testing/archives.ts';
import { newId, newReceiptId } from '../kernel/ids.ts';
import { silentLog } from '../kernel/log.ts';
import { contradictions } from '../money/ledger/contradictions.ts';
import { sumDays } from '../money/ledger/index.ts';
import { usageEntries } from '../money/ledger/postings.ts';
import { sampleRecord } from '../money/ledger/sample-records.ts';
import type { SettledRecord } from '../money/ledger/settlement-record.ts';
import { usageRow } from '../money/ledger/usage-row.ts';
import { migrate } from './migrate.ts';
import { migrations } from './migrations/index.ts';

const AT = migrations.findIndex(({ name }) => name.endsWith('books-by-batch'));
let server: Awaited<ReturnType<typeof testDatabase>>;
let url: string;

const inServer = async (sql: string) => {
  const admin = new pg.Client({ connectionString: server.url });
  await admin.connect();
  await admin.query(sql);
  await admin.end();
};

beforeAll(async () => {
  server = await testDatabase();
  url = inDatabase(server.url, `${databaseOf(server.url)}_before`);
  await inServer(`create database ${databaseOf(url)} template template0`);
  await migrate(url, migrations.slice(0, AT));
});
afterAll(async () => {
  await inServer(`drop database ${databaseOf(url)} with (force)`);
  await server?.drop();
});

test('a ledger with one posting per settlement stays complete after the migration', async () => {
  const pool = openPool({ url, log: silentLog(), poolSize: 2 });
  const settled = ['2026-10-31T23:59:59.999Z', '2026-11-01T00:00:00Z', '2026-11-02T12:00:00Z'].map((at): SettledRecord => {
    const startedAt = Date.parse(at);
    const requestId = `req_${startedAt.toString(16).padStart(12, '0')}7${'0'.repeat(19)}`;
    return {
      ...sampleRecord({ requestId, receiptId: newReceiptId(startedAt), startedAt, cost: '20' }),
      charged: 20n,
      debt: 5n,
      covered: {},
    };
  });
  await pool.query(`create table usage_records_2026_10 partition of usage_records for values from ('2026-10-01Z') to ('2026-11-01Z');
    create table usage_records_2026_11 partition of usage_records for values from ('2026-11-01Z') to ('2026-12-01Z')`);
  for (const record of settled) {
    const { posting_id: _, ...columns } = usageRow(record, undefined);
    const row = { ...columns, unit_prices: record.unitPrices };
    await pool.query('insert into usage_records select * from json_populate_recordset(null::usage_records, $1)', [JSON.stringify([row])]);
    const postingId = newId();
    await pool.query("insert into postings (posting_id, kind, request_id, attempt, livemode) values ($1, 'usage', $2, 1, true)", [
      postingId,
      record.requestId,
    ]);
    const entries = usageEntries(record).map(({ account, amount }) => ({ posting_id: postingId, account, amount_nano: amount.toString() }));
    await pool.query('insert into ledger_entries select * from json_populate_recordset(null::ledger_entries, $1)', [
      JSON.stringify(entries),
    ]);
  }
  await pool.query(`insert into receipts (receipt_id, account_id, request_id, payload, digest, kid, signature)
      select receipt_id, account_id, request_id, '', '', '', '' from usage_records;
    insert into ledger_daily select account, (started_at at time zone 'UTC')::date, sum(amount_nano)
      from ledger_entries join postings using (posting_id) join usage_records using (request_id, attempt) group by 1, 2;
    insert into usage_daily (account_id, livemode, day, key_id, model, requests, input_tokens, cached_input_tokens, output_tokens, cost_nano,
        charged_nano, covered_requests, covered_tokens)
      select account_id, livemode, (started_at at time zone 'UTC')::date, key_id, model_served, 1, input_tokens, cached_input_tokens, output_tokens,
        cost_nano, charged_nano, 0, 0 from usage_records`);

  await migrate(url, migrations);

  const { rows } = await pool.query('select tableoid::regclass::text as partition, request_id from usage_records order by started_at');
  expect(rows).toEqual([
    { partition: 'usage_records_2026_10', request_id: settled[0]?.requestId },
    { partition: 'usage_records_2026_11', request_id: settled[1]?.requestId },
    { partition: 'usage_records_2026_11', request_id: settled[2]?.requestId },
  ]);
  const receipts = await pool.query('select tableoid::regclass::text as partition, receipt_id from receipts order by receipt_id');
  expect(receipts.rows).toEqual([
    { partition: 'receipts_2026_10', receipt_id: settled[0]?.receiptId },
    { partition: 'receipts_2026_11', receipt_id: settled[1]?.receiptId },
    { partition: 'receipts_2026_11', receipt_id: settled[2]?.receiptId },
  ]);
  await sumDays({ pool, archive: emptyArchive(pool), log: silentLog() }, new AbortController().signal);
  expect(await contradictions(pool)).toEqual([]);
  await pool.end();
});
