import type { Pool } from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openPool } from '../../adapters/postgres/database.ts';
import { testDatabase } from '../../adapters/postgres/test-database.ts';
import { silentLog } from '../../kernel/log.ts';
import { plain } from './field-kinds.ts';
import { priceSetId } from './price-sets.ts';
import { sampleRecord } from './sample-records.ts';
import { type FieldTable, PAYMENT_FIELDS, SETTLEMENT_FIELDS } from './settlement-fields.ts';
import { projectionsOf, type ReadRow } from './settlement-projections.ts';
import { recordOfRow, type UsageRecordRow, usageRow } from './usage-row.ts';

let drop: () => Promise<void>;
let pool: Pool;
beforeAll(async () => {
  const database = await testDatabase();
  pool = openPool({ url: database.url, log: silentLog(), poolSize: 2 });
  drop = async () => {
    await pool.end();
    await database.drop();
  };
  await pool.query(`create table kept (like usage_records)`);
  await pool.query('alter table kept add column region text');
});
afterAll(() => drop?.());

/** As the ledger's writer does it: written as JSON, taken in by names, and read with the types of `pg`. */
async function kept<Row extends object>(row: Row): Promise<unknown> {
  const { rows } = await pool.query('insert into kept select * from json_populate_recordset(null::kept, $1) returning *', [
    JSON.stringify([row]),
  ]);
  return rows[0];
}

const POSTING = '019aa2f1-c2d3-7b6e-8c4d-1f00aa55ee77';
const paid = { charged: 15n, debt: 2n, covered: { tokens: 9n } };
const every = sampleRecord({
  ...{ kind: 'batch_line', runId: 'run-1', ancestorRunIds: ['run-0'], clientRequestId: 'mine', priceFactor: '0.5', priceTier: 200_000 },
  skipped: [{ model: 'gpt-5.4-nano', deployment: 'openai#2', provider: 'openai', reason: 'cooling_down' }],
  usage: { input_tokens: 10, cached_input_tokens: 4, cache_write_tokens: 2, output_tokens: 5, reasoning_tokens: 1, images: 3 },
});

describe('a field that is declared', () => {
  const fields = {
    ...SETTLEMENT_FIELDS,
    region: { ...plain<string>(), column: 'region', trace: 'region', receipt: 'region', absent: null },
  } as const;
  const { toRow, ofRow, toTrace, toReceipt } = projectionsOf(fields);

  test('arrives in the ledger, the record read back, the trace and the receipt', async () => {
    const record = { ...every, region: 'eu-north' };
    // The journal and the streams of Redis hold the record as JSON, whatever it has.
    const journaled = JSON.parse(JSON.stringify(record)) as typeof record;
    const row = await kept({ ...toRow(journaled), posting_id: POSTING, charged_nano: '0', debt_nano: '0', waived_nano: '0', covered: {} });
    expect(row).toMatchObject({ region: 'eu-north' });
    expect(ofRow({ ...(row as ReadRow<typeof fields>), unit_prices: record.unitPrices })).toEqual(record);
    expect(toTrace(row as ReadRow<typeof fields>)).toMatchObject({ region: 'eu-north', request_id: record.requestId });
    expect(toReceipt(journaled)).toMatchObject({ region: 'eu-north', request_id: record.requestId });
  });

  test('is null in each place where a record leaves it out, and left out of the record again', async () => {
    const record = sampleRecord();
    const row = await kept({ ...toRow(record), posting_id: POSTING, charged_nano: '0', debt_nano: '0', waived_nano: '0', covered: {} });
    expect(toTrace(row as ReadRow<typeof fields>)).toMatchObject({ region: null });
    expect(toReceipt(record)).toMatchObject({ region: null, client_signature: null });
    expect(ofRow({ ...(row as ReadRow<typeof fields>), unit_prices: record.unitPrices })).toEqual({
      ...record,
      kind: 'usage',
      priceFactor: '1',
    });
  });
});

test('what the ledger keeps of a settlement is read back as it was settled', async () => {
  const row = (await kept(usageRow({ ...every, ...paid }, POSTING))) as UsageRecordRow;
  expect(recordOfRow({ ...row, unit_prices: every.unitPrices })).toEqual(every);
  expect(row).toMatchObject({
    posting_id: POSTING,
    unit_prices: null,
    price_set_id: priceSetId(every.unitPrices),
    charged_nano: 15n,
    debt_nano: 2n,
    covered: { tokens: '9' },
  });
});

test('every column of usage_records is a declared field, and every declared column is there', async () => {
  const { rows } = await pool.query<{ name: string }>(
    `select attname as name from pg_attribute where attrelid = 'usage_records'::regclass and attnum > 0 and not attisdropped`,
  );
  const declared = Object.keys(usageRow({ ...every, ...paid }, POSTING));
  expect(rows.map(({ name }) => name).sort()).toEqual(declared.sort());
});

test('no two fields have the same column, or the same name in a trace or a receipt', () => {
  const all = Object.values<FieldTable[string]>({ ...SETTLEMENT_FIELDS, ...PAYMENT_FIELDS });
  for (const place of ['column', 'trace', 'receipt'] as const) {
    const names = all.flatMap((field) => field[place] ?? []);
    expect(names).toEqual([...new Set(names)]);
  }
});
