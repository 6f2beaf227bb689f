import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { testDatabase } from '../adapters/postgres/test-database.ts';
import { type Migration, migrate } from './migrate.ts';
import { lettersFoldedMigration } from './migrations/0085-letters-folded.ts';
import { migrations } from './migrations/index.ts';

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

const count = async (sql: string) => (await client.query<{ n: number }>(`select count(*)::int as n from ${sql}`)).rows[0]?.n;

test('the list of migrations, run twice, changes nothing the second time', async () => {
  expect(await migrate(database.url, migrations)).toEqual([]);
  expect(await count('schema_migrations')).toBe(migrations.length);
});

test('names with special Latin letters are folded again, all others are not changed', async () => {
  await client.query(`insert into people (person_id, email, sources, name, folded_name, company, folded_company, created_at, updated_at)
    select gen_random_uuid(), 'p' || i || '@example.com', '{import}', 'Sören Ø' || i, 'soren ø' || i, 'Книга', 'книга', now(), now()
    from generate_series(1, 2100) as i`);
  await client.query('delete from people_unindexed');
  const run = async (sql: string, values: unknown[] = []) => (await client.query(sql, values)).rows;
  await lettersFoldedMigration.up(run);
  expect(await count(`people where folded_name = 'soren o' || substr(email, 2, strpos(email, '@') - 2) and folded_company = 'книга'`)).toBe(
    2100,
  );
  expect(await count('people_unindexed')).toBe(2100);
  await lettersFoldedMigration.up(run);
  expect(await count('people_unindexed')).toBe(2100);
});

test('of several processes at once, one applies and the others wait for it', async () => {
  const slow: Migration = { name: '9001-once', up: 'create table once (id int); select pg_sleep(0.2); insert into once values (1);' };
  const applied = await Promise.all([1, 2, 3].map(() => migrate(database.url, [...migrations, slow])));
  expect(applied.flat()).toEqual(['9001-once']);
  expect(await count('once')).toBe(1);
});

test('refuses a migration that was changed after it had been applied', async () => {
  await migrate(database.url, [{ name: '9002-changed', up: 'select 1' }]);
  await expect(migrate(database.url, [{ name: '9002-changed', up: 'select 2' }])).rejects.toThrow(/9002-changed was changed after/);
});

test('a migration that fails leaves nothing behind and runs again next time', async () => {
  const broken: Migration = { name: '9003-broken', up: 'create table half (id int); select 1/0;' };
  await expect(migrate(database.url, [broken])).rejects.toThrow(/9003-broken failed and was rolled back: division by zero/);
  expect(await count(`pg_tables where tablename = 'half'`)).toBe(0);
  expect(await migrate(database.url, [{ ...broken, up: 'create table half (id int)' }])).toEqual(['9003-broken']);
});

test('a migration in code runs in the same transaction as its record', async () => {
  const computed: Migration = {
    name: '9004-computed',
    up: async (run) => {
      await run('create table computed (id int)');
      await run('insert into computed values ($1)', [7]);
    },
  };
  expect(await migrate(database.url, [computed])).toEqual(['9004-computed']);
  expect(await count('computed where id = 7')).toBe(1);
});

test('leaves alone what a newer version has applied', async () => {
  await migrate(database.url, [{ name: '9005-newer', up: 'select 1' }]);
  expect(await migrate(database.url, migrations)).toEqual([]);
});

test('a migration of a table in use does not block others, and is applied once the table is free', async () => {
  await client.query('create table used (id int)');
  const reader = new pg.Client({ connectionString: database.url });
  await reader.connect();
  await reader.query('begin; select * from used');
  const applied = migrate(database.url, [{ name: '9004-used', up: 'alter table used add column more int' }]);
  const waiting = () => count(`pg_locks where not granted and relation = 'used'::regclass`);
  await expect.poll(waiting, { interval: 5 }).toBe(1);
  // Given up while the reader still runs.
  await expect.poll(waiting, { interval: 5 }).toBe(0);
  expect(await count('used')).toBe(0);
  await reader.query('commit');
  await reader.end();
  expect(await applied).toEqual(['9004-used']);
});

test('statements of a list run outside of a transaction, all of them again where one failed', async () => {
  await client.query('create table doubles (id int); insert into doubles values (1), (1)');
  const index: Migration = {
    name: '9005-index',
    up: ['drop index concurrently if exists doubles_id', 'create unique index concurrently doubles_id on doubles (id)'],
  };
  await expect(migrate(database.url, [index])).rejects.toThrow('9005-index failed, and is repeated at the next start');
  expect(await count(`pg_index where indexrelid = 'doubles_id'::regclass and not indisvalid`)).toBe(1);
  await client.query('delete from doubles where ctid = (select min(ctid) from doubles)');
  expect(await migrate(database.url, [index])).toEqual(['9005-index']);
  expect(await count(`pg_index where indexrelid = 'doubles_id'::regclass and indisvalid`)).toBe(1);
});
