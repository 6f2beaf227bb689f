import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { AdminUsageQuery } from '@tallygate/contract';
import type { Pool } from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openPool } from '../../adapters/postgres/database.ts';
import { testDatabase } from '../../adapters/postgres/test-database.ts';
import { newId } from '../../kernel/ids.ts';
import { silentLog } from '../../kernel/log.ts';
import { createRowWalker } from '../../kernel/walk-rows.ts';
import { publishSigningKeys } from '../../receipts/index.ts';
import { exportFocus } from './focus-export.ts';
import { LedgerLaneSource } from './lane-source.ts';
import { sampleRecord } from './sample-records.ts';
import { declareSamplePrices, NOW, openProcess, PRICE, settleOn, signingKey, tokens } from './testing/ledger.ts';
import type { UsageScope } from './usage-question.ts';

const [accountId, projectId, userId, keyId] = [newId(), newId(), newId(), newId()];
const scope = { accountId, livemode: true };
const NOVEMBER = { from: '2026-11-01', to: '2026-11-30' };
const ours = { ...{ accountId, projectId, userId, keyId }, funding: 'invoice', plan: 'pro@1' } as const;
const at = (time: string) => Date.parse(`2026-11-${time}Z`);
const chat = (wish: Partial<Parameters<typeof sampleRecord>[0]>) => sampleRecord({ ...ours, held: '10000', ...wish });

/** In the prices of sample records 100 tokens in and 50 out cost 200 nano-USD. */
const RECORDS = {
  covered: chat({
    startedAt: at('02T09:59:59'),
    usage: tokens(100, 50),
    cost: '200',
    endUser: 'ada',
    tags: ['feature=search', 'team=web'],
  }),
  /** Its cost is rounded up from 2001.5. */
  beyond: chat({
    startedAt: at('02T10:00:00'),
    usage: { ...tokens(2_000, 1), cached_input_tokens: 3 },
    cost: '2002',
    unitPrices: { input_tokens: '1000', cached_input_tokens: '833', output_tokens: '2000' },
  }),
  batch: chat({
    startedAt: at('03T10:00:00'),
    kind: 'batch_line',
    priceFactor: '0.5',
    usage: { ...tokens(100, 51), web_searches: 1 },
    unitPrices: { input_tokens: '1000', output_tokens: '2000', web_searches: '10000000' },
    cost: '10101',
    held: '20000',
  }),
  cached: chat({ startedAt: at('03T11:00:00'), outcome: 'cached', usage: tokens(0, 0), cost: '0' }),
  failed: chat({ startedAt: at('03T11:30:00'), outcome: 'failed', usage: tokens(0, 0), cost: '0' }),
  overbilled: chat({ startedAt: at('04T10:00:00'), usage: tokens(100, 100), cost: '300', held: '250' }),
  refunded: chat({ startedAt: at('05T10:00:00'), usage: tokens(100, 100), cost: '300' }),
  corrected: chat({ startedAt: at('06T10:00:00'), usage: tokens(100, 50), cost: '200' }),
  /** Of December, in which refunds and corrections are made. */
  backAtOnce: chat({ startedAt: Date.parse('2026-12-02T10:00:00Z'), usage: tokens(100, 50), cost: '200' }),
  ofTest: chat({ startedAt: at('07T10:00:00'), livemode: false, funding: 'test', plan: undefined, usage: tokens(100, 50), cost: '200' }),
};

let database: Awaited<ReturnType<typeof testDatabase>>;
let pool: Pool;
let dir: string;
let close: () => Promise<void>;
beforeAll(async () => {
  database = await testDatabase();
  dir = mkdtempSync(join(tmpdir(), 'tallygate-focus-'));
  pool = openPool({ url: database.url, log: silentLog(), poolSize: 4 });
  await publishSigningKeys(pool, [signingKey], Date.parse('2026-10-01T00:00:00Z'));
  await declareSamplePrices(pool);
  await pool.query(`insert into accounts (id, name, created_at) values ($1, 'Acme, Inc.', now())`, [accountId]);
  await pool.query(`insert into projects (id, account_id, name, created_at) values ($1, $2, 'Search', now())`, [projectId, accountId]);
  const { journal, lanes, writer, refunds, corrections } = openProcess({ pool, source: new LedgerLaneSource(pool), dir, price: PRICE });
  close = async () => {
    await writer.close();
    journal.close();
  };
  for (const record of Object.values(RECORDS)) await settleOn(lanes, record);
  await writer.drain();
  for (const { requestId } of [RECORDS.refunded, RECORDS.backAtOnce])
    expect(await refunds.refund(accountId, requestId, 1, { reason: 'Asked for.' })).toMatchObject({ refunded: true });
  const less = { usage: tokens(100, 20), reason: 'Counted again.' };
  expect(await corrections.correct(RECORDS.corrected.requestId, less)).toMatchObject({ corrected: true });
  await writer.drain();
});
afterAll(async () => {
  await close?.();
  await pool?.end();
  await database?.drop();
  rmSync(dir, { recursive: true });
});

async function exported(query: Record<string, string> = {}, of: UsageScope = scope) {
  const { name, text } = await exportFocus(
    { pool, walkRows: createRowWalker(pool, 1) },
    of,
    AdminUsageQuery.parse({ ...NOVEMBER, ...query }),
    NOW,
  );
  let csv = '';
  for await (const piece of text) csv += piece;
  const [head = [], ...rows] = csv.trimEnd().split('\r\n').map(cellsOf);
  return { name, csv, head, rows: rows.map((cells) => Object.fromEntries(head.map((column, place) => [column, cells[place] ?? '']))) };
}
const cellsOf = (line: string): string[] =>
  [...line.matchAll(/(?:^|,)(?:"((?:[^"]|"")*)"|([^",]*))/g)].map(([, quoted, plain]) => quoted?.replaceAll('""', '"') ?? plain ?? '');

/** Exact sums of decimals, in 10⁻¹⁸. */
const exact = (text = ''): bigint => {
  const [, sign, whole = '', fraction = ''] = /^(-?)(\d+)(?:\.(\d{1,18}))?$/.exec(text) ?? [];
  return BigInt(`${sign}${whole}${fraction.padEnd(18, '0')}`);
};
const NANO = 10n ** 9n;
type Row = Record<string, string>;
const sumOf = (rows: readonly Row[], column: string) => rows.reduce((sum, row) => sum + exact(row[column]), 0n);

async function ledgerOf(day: string): Promise<{ cost: bigint; charged: bigint }> {
  const { rows } = await pool.query(
    `select (-coalesce(sum(amount_nano), 0))::text as cost,
         (-coalesce(sum(amount_nano) filter (where account not like 'plan_quota:%'), 0))::text as charged
       from ledger_daily where account like '%:' || $1 and account not like 'test_%' and day::text like $2`,
    [accountId, day],
  );
  return { cost: BigInt(rows[0].cost) * NANO, charged: BigInt(rows[0].charged) * NANO };
}

test('BilledCost and EffectiveCost of a month add up to the ledger to the nano-dollar', async () => {
  const { rows, name } = await exported();
  expect(name).toBe('usage-focus-per-day-2026-11-01-2026-11-30.csv');
  const { cost, charged } = await ledgerOf('2026-11-%');
  expect(cost).toBeGreaterThan(charged);
  expect(charged).toBeGreaterThan(0n);
  expect([sumOf(rows, 'EffectiveCost'), sumOf(rows, 'BilledCost')]).toEqual([cost, charged]);
});

test.each(['02', '03', '04', '05', '06'])('the rows of each day add up to the ledger’s sums of November %s', async (day) => {
  const { rows } = await exported({ per: 'hour' });
  const { cost, charged } = await ledgerOf(`2026-11-${day}`);
  const ofDay = rows.filter(({ ChargePeriodStart = '' }) => ChargePeriodStart.startsWith(`2026-11-${day}`));
  expect([sumOf(ofDay, 'EffectiveCost'), sumOf(ofDay, 'BilledCost')]).toEqual([cost, charged]);
});

test('every list cost is the unit price times the quantity, exactly', async () => {
  const { rows } = await exported();
  for (const { ListCost, ListUnitPrice, PricingQuantity, ContractedCost, ContractedUnitPrice } of rows) {
    expect(exact(ListCost) * 10n ** 18n).toBe(exact(ListUnitPrice) * exact(PricingQuantity));
    expect([ContractedCost, ContractedUnitPrice]).toEqual([ListCost, ListUnitPrice]);
  }
});

test('a row names its SKU, its price, its project, and everything that the request was tagged with', async () => {
  const { rows } = await exported({ to: '2026-11-02', per: 'hour' });
  const tags = { feature: 'search', team: 'web', 'tallygate/end_user': 'ada', 'tallygate/key': keyId, 'tallygate/member': userId };
  expect(rows[0]).toEqual({
    ...{
      BillingAccountId: accountId,
      BillingAccountName: 'Acme, Inc.',
      BillingCurrency: 'USD',
      SubAccountId: projectId,
      SubAccountName: 'Search',
    },
    ...{ BillingPeriodStart: '2026-11-01T00:00:00Z', BillingPeriodEnd: '2026-12-01T00:00:00Z' },
    ...{ ChargePeriodStart: '2026-11-02T09:00:00Z', ChargePeriodEnd: '2026-11-02T10:00:00Z' },
    ...{ ChargeCategory: 'Usage', ChargeClass: '', ChargeDescription: 'Input tokens of gpt-5.4-nano', ChargeFrequency: 'Usage-Based' },
    ...{ BilledCost: '0', EffectiveCost: '0.0000001', ListCost: '0.0000001', ContractedCost: '0.0000001' },
    ...{ ConsumedQuantity: '100.0', ConsumedUnit: 'Tokens', PricingQuantity: '0.0001', PricingUnit: '1000000 Tokens' },
    ...{ ListUnitPrice: '0.001', ContractedUnitPrice: '0.001', PricingCategory: 'Standard', PricingCurrency: 'USD' },
    ...{ PricingCurrencyContractedUnitPrice: '0.001', PricingCurrencyListUnitPrice: '0.001', PricingCurrencyEffectiveCost: '0.0000001' },
    ...{ InvoiceId: '', CommitmentDiscountStatus: '' },
    ...{ InvoiceIssuerName: 'Tallygate', ProviderName: 'Tallygate', PublisherName: 'openai' },
    ...{ ServiceCategory: 'AI and Machine Learning', ServiceSubcategory: 'Generative AI', ServiceName: 'Model inference' },
    ...{ SkuId: 'gpt-5.4-nano/input_tokens', SkuMeter: 'Input tokens', SkuPriceId: 'gpt-5.4-nano/input_tokens@2026-07-24/0.001' },
    SkuPriceDetails: '{"x_PriceVersion":"2026-07-24"}',
    Tags: JSON.stringify({
      ...tags,
      'tallygate/model': 'gpt-5.4-nano',
      'tallygate/provider': 'openai',
      'tallygate/kind': 'usage',
      'tallygate/outcome': 'completed',
    }),
  });
});

test('columns are in the order of the specification', async () => {
  const { head } = await exported();
  expect(head).toEqual([...head].sort());
});

const shown = (row: Row) => [
  row['SkuMeter'],
  row['ChargeClass'],
  row['ConsumedQuantity']?.replace('.0', ''),
  row['ListUnitPrice'],
  row['EffectiveCost'],
];

test('lines of batches have half the price, and tools of the provider the whole', async () => {
  const { rows } = await exported({ from: '2026-11-03', to: '2026-11-03' });
  expect(rows.filter(({ Tags = '' }) => Tags.includes('batch_line')).map(shown)).toEqual([
    ['Input tokens', '', '100', '0.0005', '0.00000005'],
    ['Output tokens', '', '51', '0.001', '0.000000051'],
    ['Web searches', '', '1', '0.00001', '0.00001'],
  ]);
});

test('answers from the cache are requests at no cost, and failed requests are none', async () => {
  const { rows } = await exported({ from: '2026-11-03', to: '2026-11-03' });
  expect(rows.filter(({ Tags = '' }) => !Tags.includes('batch_line')).map(shown)).toEqual([['Requests', '', '1', '0', '0']]);
});

test('what a provider billed beyond the hold is in the list cost and not in the cost', async () => {
  const { rows } = await exported({ from: '2026-11-04', to: '2026-11-04' });
  expect([sumOf(rows, 'ListCost') / NANO, sumOf(rows, 'EffectiveCost') / NANO]).toEqual([300n, 250n]);
});

test('a refund takes its request back in its own month, as a correction where that month is over', async () => {
  const { rows } = await exported({ from: '2026-11-05', to: '2026-11-05' });
  expect(rows.map(shown)).toEqual([
    ['Input tokens', 'Correction', '-100', '0.001', '-0.0000001'],
    ['Output tokens', 'Correction', '-100', '0.002', '-0.0000002'],
    ['Input tokens', '', '100', '0.001', '0.0000001'],
    ['Output tokens', '', '100', '0.002', '0.0000002'],
  ]);
  const sameMonth = await exported({ from: '2026-12-01', to: '2026-12-31' });
  expect(sameMonth.rows.map(({ ChargeClass, EffectiveCost }) => [ChargeClass, EffectiveCost])).toEqual([
    ['', '-0.0000001'],
    ['', '-0.0000001'],
    ['', '0.0000001'],
    ['', '0.0000001'],
  ]);
});

test('a correction takes back what was settled and has what takes its place', async () => {
  const { rows } = await exported({ from: '2026-11-06', to: '2026-11-06' });
  expect(rows.map(shown)).toEqual([
    ['Input tokens', 'Correction', '-100', '0.001', '-0.0000001'],
    ['Output tokens', 'Correction', '-50', '0.002', '-0.0000001'],
    ['Input tokens', 'Correction', '100', '0.001', '0.0000001'],
    ['Output tokens', 'Correction', '20', '0.002', '0.00000004'],
    ['Input tokens', '', '100', '0.001', '0.0000001'],
    ['Output tokens', '', '50', '0.002', '0.0000001'],
  ]);
});

test('test usage is a dataset of its own, in which nothing is billed', async () => {
  const { rows } = await exported({ livemode: 'false' });
  expect(rows.map(({ BilledCost, EffectiveCost }) => [BilledCost, EffectiveCost])).toEqual([
    ['0', '0.0000001'],
    ['0', '0.0000001'],
  ]);
});

test('an operator has all accounts, and a developer what is theirs and of their projects', async () => {
  expect((await exported({}, { ...scope, accountId: undefined })).csv).toBe((await exported()).csv);
  expect((await exported({}, { ...scope, seen: { userId: newId(), projects: [newId()] } })).rows).toEqual([]);
  expect((await exported({}, { ...scope, seen: { userId: newId(), projects: [projectId] } })).csv).toBe((await exported()).csv);
  expect((await exported({}, { ...scope, seen: { userId, projects: [] } })).csv).toBe((await exported()).csv);
});

test.each([{ group_by: 'model' }, { from: '2026-10-30' }, { from: '2026-12-01' }])('an export of %j is refused', async (query) => {
  await expect(exported(query)).rejects.toMatchObject({ code: 'validation_failed' });
});

/** With the PyPI package `focus-validator`, 2.2 or newer, which finds its list of currencies from the folder that it is installed in. */
const PYTHON = process.env['FOCUS_PYTHON'] ?? 'python3';
const WHERE = 'import focus_validator as it; print(it.__path__[0])';
const validator = spawnSync(PYTHON, ['-c', WHERE], { encoding: 'utf8', timeout: 60_000 });
const CRITERIA = [
  'ACCOUNT_NAMING',
  'NEGOTIATED_PRICING',
  'PUBLIC_PRICE_LIST',
  'SUB_ACCOUNT',
  'TAGGING',
  'UNIT_PRICING',
  'USAGE_MEASUREMENT',
];

/** That an invoice is named where there is one, which the validator takes for every row; a row without one has none (`InvoiceId-C-004-C`). */
const NOT_OF_ALL_ROWS = 'InvoiceId-C-005-C';

test.skipIf(validator.status !== 0)('the FOCUS validator finds no rule of FOCUS 1.2 broken', { timeout: 300_000 }, async () => {
  const file = join(dir, 'focus.csv');
  writeFileSync(file, (await exported({ per: 'hour' })).csv);
  const criteria = CRITERIA.map((name) => `${name}_SUPPORTED`).join();
  const args = ['--data-file', file, '--validate-version', '1.2', '--block-download', '--applicability-criteria', criteria];
  const program = ['-c', 'from focus_validator.main import main; main()', ...args];
  const { stdout, status } = spawnSync(PYTHON, program, { encoding: 'utf8', cwd: dirname(validator.stdout.trim()), timeout: 240_000 });
  expect([status, stdout.split('\n').filter((line) => / FAIL /.test(line) && !line.includes(NOT_OF_ALL_ROWS))]).toEqual([0, []]);
  expect(stdout).toMatch(/Pass: [1-9]\d\d/);
});
