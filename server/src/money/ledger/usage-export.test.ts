import { AdminUsageQuery } from '@tallygate/contract';
import type { Pool } from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openPool } from '../../adapters/postgres/database.ts';
import { testDatabase } from '../../adapters/postgres/test-database.ts';
import { emptyArchive } from '../../archive/testing/archives.ts';
import { newId } from '../../kernel/ids.ts';
import { silentLog } from '../../kernel/log.ts';
import { parseUsd } from '../../kernel/money.ts';
import { createRowWalker } from '../../kernel/walk-rows.ts';
import { LedgerWriter } from './ledger-writer.ts';
import { MemoryFeed, sampleEntry, sampleRecord } from './sample-records.ts';
import { testPages } from './testing/pages.ts';
import { exportUsage } from './usage-export.ts';
import { usageOf } from './usage-queries.ts';

const NOW = Date.parse('2026-11-21T10:00:00Z');
const FORMULA = '=HYPERLINK("https://x.example","a")';
const [accountId, projectId, keyId] = [newId(), newId(), newId()];
const scope = { accountId, livemode: true };
/** Each costs a digit of its own. */
const RECORDS = [
  { projectId, endUser: 'ada', tags: ['feature=search', 'team=web'] },
  { projectId, endUser: FORMULA, tags: [] },
  { endUser: 'ada', tags: [FORMULA], runId: 'nightly' },
  {},
].map((wish, at) =>
  sampleRecord({ accountId, keyId, cost: String(7 * 10 ** at), startedAt: Date.parse(`2026-11-0${at + 1}T12:00:00Z`), ...wish }),
);
const SPENT = RECORDS.reduce((sum, { cost }) => sum + BigInt(cost), 0n);

let database: Awaited<ReturnType<typeof testDatabase>>;
let pool: Pool;
beforeAll(async () => {
  database = await testDatabase();
  pool = openPool({ url: database.url, log: silentLog(), poolSize: 4 });
  const onQuarantine = (_entry: unknown, error: unknown) => {
    throw error;
  };
  const feed = new MemoryFeed(RECORDS.map((record) => sampleEntry(record)));
  await new LedgerWriter({ feed, pool, archive: emptyArchive(pool), pages: testPages, log: silentLog(), onQuarantine }).drain();
});
afterAll(async () => {
  await pool?.end();
  await database?.drop();
});

async function exported(query: Record<string, string>, of: Parameters<typeof usageOf>[1] = scope) {
  const { name, text } = await exportUsage({ pool, walkRows: createRowWalker(pool, 1) }, of, AdminUsageQuery.parse(query), NOW);
  let csv = '';
  for await (const piece of text) csv += piece;
  return { name, csv };
}
const shown = (query: Record<string, string>) => usageOf(pool, scope, AdminUsageQuery.parse(query), NOW);
/** Of files without commas in their cells. */
function rowsOf(csv: string): Record<string, string>[] {
  const [head = '', ...lines] = csv.trimEnd().split('\r\n');
  const names = head.split(',');
  return lines.map((line) => Object.fromEntries(line.split(',').map((cell, at) => [names[at], cell])));
}

test.each([
  {},
  { group_by: 'project' },
  { group_by: 'key,model', per: 'hour' },
  { group_by: 'run', per: 'day' },
  { group_by: 'project,outcome' },
])('the file of %j has the groups and the figures of the report', async (query) => {
  const { items, from, to } = await shown(query);
  const text = (row: object) => Object.fromEntries(Object.entries(row).map(([name, value]) => [name, String(value ?? '')]));
  expect(rowsOf((await exported(query)).csv)).toEqual(items.map((item) => ({ from, to, ...text(item) })));
});

test.each(['project', 'end_user', 'key', 'run'])('spend by %s adds up to the ledger in the file and in the report', async (group_by) => {
  const { csv } = await exported({ group_by });
  const { items, total } = await shown({ group_by });
  const sum = (rows: readonly { readonly cost_usd?: string }[]) =>
    rows.reduce((all, { cost_usd = '' }) => all + (parseUsd(cost_usd) ?? 0n), 0n);
  const costs = csv
    .trimEnd()
    .split('\r\n')
    .slice(1)
    .map((line) => ({ cost_usd: line.split(',').at(-2) ?? '' }));
  expect([sum(costs), sum(items), parseUsd(total.cost_usd)]).toEqual([SPENT, SPENT, SPENT]);
  const { rows } = await pool.query(`select sum(amount_nano)::text as cost from ledger_entries where account = 'revenue'`);
  expect(rows).toEqual([{ cost: String(SPENT) }]);
});

test('a tag that a spreadsheet would run as a formula is text in the file', async () => {
  const { csv, name } = await exported({ group_by: 'tag' });
  expect(name).toBe('usage-by-tag-2026-11-01-2026-11-21.csv');
  expect(csv.split('\r\n').map((line) => line.replace(/,1,10,.*/, ''))).toEqual([
    'from,to,tag,requests,input_tokens,cached_input_tokens,output_tokens,input_characters,audio_seconds,video_seconds,images,cost_usd,charged_usd',
    `2026-11-01,2026-11-21,"'=HYPERLINK(""https://x.example"",""a"")"`,
    '2026-11-01,2026-11-21,feature=search',
    '2026-11-01,2026-11-21,team=web',
    '2026-11-01,2026-11-21,,2,20,8,10,0,0,0,0,0.00000707,0.00000707',
    '',
  ]);
});

test('the file has all groups, however many there are', async () => {
  const many = { accountId: newId(), livemode: true };
  await pool.query(
    `insert into usage_daily (account_id, livemode, day, key_id, model, requests, input_tokens, cached_input_tokens, output_tokens, cost_nano,
       charged_nano, covered_requests, covered_tokens)
     select $1, true, '2026-11-02', $1, 'm-' || lpad(n::text, 4, '0'), 1, 0, 0, 0, n, 0, 0, 0 from generate_series(1, 1203) n`,
    [many.accountId],
  );
  const rows = rowsOf((await exported({ group_by: 'model' }, many)).csv);
  expect([rows.length, rows.at(0)?.['model'], rows.at(-1)?.['model']]).toEqual([1_203, 'm-0001', 'm-1203']);
});

test('of projects, the file has those that a developer sees', async () => {
  const { csv } = await exported({ group_by: 'project' }, { ...scope, seen: { userId: newId(), projects: [] } });
  expect(rowsOf(csv)).toEqual([]);
  expect(
    rowsOf((await exported({ group_by: 'project' }, { ...scope, seen: { userId: newId(), projects: [projectId] } })).csv),
  ).toMatchObject([{ project_id: projectId }]);
});
