import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { testDatabase } from '../adapters/postgres/test-database.ts';
import { MONTHLY_TABLES } from '../archive/index.ts';

const sources = join(import.meta.dirname, '..');
const guide = readFileSync(join(sources, '../../docs/guides/running.md'), 'utf8');

let database: Awaited<ReturnType<typeof testDatabase>>;
let client: pg.Client;

beforeAll(async () => {
  database = await testDatabase();
  client = new pg.Client({ connectionString: database.url });
  await client.connect();
});
afterAll(async () => {
  await client?.end();
  await database?.drop();
});

const names = async (sql: string): Promise<string[]> => (await client.query<{ name: string }>(sql)).rows.map(({ name }) => name);

/** The guide's retention of each table's rows. */
const stated = (/\n## Growth\n([\s\S]*?)\n## /.exec(guide)?.[1] ?? '')
  .split('\n')
  .filter((line) => line.startsWith('| `'))
  .map((line) => line.split('|').map((cell) => cell.trim()))
  .flatMap(([, tables = '', , kept = '']) => [...tables.matchAll(/`(\w+)`/g)].map(([, table = '']) => ({ table, kept })));
const thatAre = (kept: RegExp) =>
  stated
    .filter((row) => kept.test(row.kept))
    .map(({ table }) => table)
    .toSorted();

test('the guide lists every table once, with its growth and its retention', async () => {
  const tables = await names(
    `select distinct relname as name from pg_class join pg_namespace n on n.oid = relnamespace
      where relkind in ('r', 'p') and not relispartition and nspname in ('public', 'test_billing') order by 1`,
  );
  expect(stated.map(({ table }) => table).toSorted()).toEqual(tables.toSorted());
  expect(thatAre(/^(archived|for|until|forever)\b/)).toEqual(tables.toSorted());
});

test('the tables listed as archived are partitioned by month, with the audit log, and no others', async () => {
  expect(thatAre(/^archived/)).toEqual(MONTHLY_TABLES.map(({ name }) => name as string).toSorted());
  expect(await names("select relname as name from pg_class where relkind = 'p' order by 1")).toEqual(
    [...thatAre(/^archived/), 'audit_log'].toSorted(),
  );
});

test('what makes a refund count once is unique over all months, which no table by month can hold', async () => {
  const causes = await names(
    `select pg_get_constraintdef(oid) as name from pg_constraint where conrelid = 'postings'::regclass and contype = 'u'`,
  );
  expect(causes).toEqual(['UNIQUE (request_id, attempt, kind)']);
  for (const key of ['posting_id', 'posted_at', 'day'])
    await expect(client.query(`create table by_month (like postings including indexes) partition by range (${key})`)).rejects.toThrow(
      'unique constraint on partitioned table must include all partitioning columns',
    );
});

test('rows with a retention are deleted by a statement, or with their parent row', async () => {
  const code = globSync('**/*.ts', { cwd: sources })
    .filter((path) => !/\.test\.ts$|migrations\//.test(path))
    .map((path) => readFileSync(join(sources, path), 'utf8'))
    .join('\n');
  const cascading = await names(`select distinct conrelid::regclass::text as name from pg_constraint where confdeltype = 'c'`);
  const kept = thatAre(/^(for|until)\b/).filter(
    (table) => !new RegExp(`delete from ${table}\\b|deleteFrom\\('${table}'\\)`).test(code) && !cascading.includes(table),
  );
  expect(kept).toEqual([]);
});
