import { defineEntity, p } from '@mikro-orm/core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { silentLog } from '../../kernel/log.ts';
import { openDatabase } from './database.ts';
import type { Database } from './port.ts';
import { testDatabase } from './test-database.ts';
import { inDatabase } from './test-url.ts';

const Coin = defineEntity({
  name: 'Coin',
  tableName: 'coin',
  properties: { id: p.integer().primary(), value: p.bigint('bigint'), mintedAt: p.datetime() },
});

let testDb: Awaited<ReturnType<typeof testDatabase>>;
let database: Database;

beforeAll(async () => {
  testDb = await testDatabase();
  database = await openDatabase({ url: testDb.url, entities: [Coin], log: silentLog() });
  await database.pool.query('create table coin (id int primary key, value bigint not null, minted_at timestamptz not null)');
});

afterAll(async () => {
  await database?.close();
  await testDb?.drop();
});

test('entities and plain SQL see the same rows, integers exact in both', async () => {
  const mintedAt = new Date('2026-01-01T00:00:00.123Z');
  const em = database.orm.em.fork();
  em.create(Coin, { id: 1, value: 9007199254740993n, mintedAt });
  await em.flush();
  const { rows } = await database.pool.query('select value, minted_at, 0.1::numeric as n, minted_at::date as d from coin');
  expect(rows).toEqual([{ value: 9007199254740993n, minted_at: mintedAt, n: '0.1', d: '2026-01-01' }]);
  expect((await database.orm.em.fork().findOneOrFail(Coin, 1)).value).toBe(9007199254740993n);
});

test('transactions of the ORM leave half of the connections to others, and wait no longer than anybody', async () => {
  const small = await openDatabase({ url: testDb.url, entities: [Coin], log: silentLog(), poolSize: 2, connectTimeoutMs: 200 });
  const held = Promise.withResolvers<void>();
  const begun = Promise.withResolvers<void>();
  const unit = small.orm.em.fork().transactional(async (em) => {
    await em.findOne(Coin, 1);
    begun.resolve();
    await held.promise;
  });
  await begun.promise;
  await expect(small.orm.em.fork().findOne(Coin, 1)).rejects.toThrow('timeout exceeded when trying to connect');
  expect((await small.pool.query('select 1 as one')).rows).toEqual([{ one: 1 }]);
  const next = small.orm.em.fork().findOne(Coin, 1);
  held.resolve();
  await Promise.all([unit, next]);
  await small.close();
});

test('a transaction of the entity manager is undone whole', async () => {
  const failing = database.orm.em.fork().transactional(async (em) => {
    em.create(Coin, { id: 2, value: 1n, mintedAt: new Date() });
    await em.flush();
    throw new Error('changed my mind');
  });
  await expect(failing).rejects.toThrow('changed my mind');
  expect(await database.orm.em.fork().findOne(Coin, 2)).toBeNull();
});

test('a server that cuts every connection does not end the process', async () => {
  await database.orm.em.fork().findOne(Coin, 1);
  const cutter = await openDatabase({ url: testDb.url, entities: [], log: silentLog() });
  await cutter.pool.query(
    'select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()',
  );
  await expect.poll(() => database.pool.idleCount).toBe(0);
  await cutter.close();
  expect((await database.pool.query('select 1 as one')).rows).toEqual([{ one: 1 }]);
  expect(await database.orm.em.fork().findOne(Coin, 1)).not.toBeNull();
});

test('a connection that is cut between two statements of a transaction does not end the process', async () => {
  const client = await database.pool.connect();
  await client.query('begin');
  const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid');
  const cut = new Promise<void>((resolve) => client.on('end', resolve)); // `once` would reject on the error before it.
  await database.pool.query('select pg_terminate_backend($1)', [rows[0]?.pid]);
  await cut;
  await expect(client.query('commit')).rejects.toThrow();
  client.release();
  expect((await database.pool.query('select 1 as one')).rows).toEqual([{ one: 1 }]);
});

test('a database that cannot be reached is an error that says so', async () => {
  const url = inDatabase(testDb.url, 'no_such_database');
  await expect(openDatabase({ url, entities: [], log: silentLog() })).rejects.toThrow(
    /cannot be opened: database "no_such_database" does not exist/,
  );
});
