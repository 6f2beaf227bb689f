import type { Pool } from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import * as z from 'zod';
import { openPool } from '../adapters/postgres/database.ts';
import { testDatabase } from '../adapters/postgres/test-database.ts';
import { silentLog } from './log.ts';
import { createRowWalker } from './walk-rows.ts';

let database: Awaited<ReturnType<typeof testDatabase>>;
let pool: Pool;
beforeAll(async () => {
  database = await testDatabase();
  pool = openPool({ url: database.url, log: silentLog(), poolSize: 3 });
  await pool.query('create table counted as select n from generate_series(1, 1200) n');
});
afterAll(async () => {
  await pool?.end();
  await database?.drop();
});

const COUNTED = { row: z.object({ n: z.int() }), text: 'select n from counted where n > $1 order by n', values: [0] };

test('rows come some hundred at a time, all as of the moment of the first', async () => {
  const sizes: number[] = [];
  for await (const rows of createRowWalker(pool, 1)(COUNTED)) {
    sizes.push(rows.length);
    await pool.query('insert into counted select 2000');
  }
  await pool.query('delete from counted where n = 2000');
  expect(sizes).toEqual([500, 500, 200]);
});

test('a reader holds no transaction open, and one who leaves gives its place to the next', async () => {
  const walk = createRowWalker(pool, 1);
  const first = walk(COUNTED);
  expect((await first.next()).value).toHaveLength(500);
  const { rows } = await pool.query(
    'select count(*)::int as open from pg_stat_activity where datname = current_database() and xact_start is not null and pid <> pg_backend_pid()',
  );
  expect(rows).toEqual([{ open: 0 }]);
  const second = walk({ ...COUNTED, values: [1199] });
  const waiting = second.next();
  expect(await Promise.race([waiting, pool.query('select 1').then(() => 'waits')])).toBe('waits');
  await first.return();
  expect((await waiting).value).toEqual([{ n: 1200 }]);
  expect((await second.next()).done).toBe(true);
});

test('a statement that fails gives its place and its connection back', async () => {
  const walk = createRowWalker(pool, 1);
  await expect(walk({ ...COUNTED, text: 'select n / 0 as n from counted where n > $1' }).next()).rejects.toThrow('division by zero');
  const pages: object[] = [];
  for await (const rows of walk({ ...COUNTED, values: [1199] })) pages.push(...rows);
  expect(pages).toEqual([{ n: 1200 }]);
});
