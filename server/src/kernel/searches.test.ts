import type { Pool } from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openPool } from '../adapters/postgres/database.ts';
import { testDatabase } from '../adapters/postgres/test-database.ts';
import { silentLog } from './log.ts';
import { Searches } from './searches.ts';

let database: Awaited<ReturnType<typeof testDatabase>>;
let pool: Pool;
beforeAll(async () => {
  database = await testDatabase();
  pool = openPool({ url: database.url, log: silentLog(), poolSize: 12 });
});
afterAll(async () => {
  await pool?.end();
  await database?.drop();
});

describe('searches', () => {
  test('take two connections of an account and a quarter of all, and are refused beyond ten of one', async () => {
    const searches = new Searches(pool);
    const running: string[] = [];
    const { promise: end, resolve } = Promise.withResolvers<void>();
    const search = (whose: string) =>
      searches.run(whose, async () => {
        running.push(whose);
        await end;
      });
    const ada = Array.from({ length: 10 }, () => search('ada'));
    await expect(search('ada')).rejects.toMatchObject({ code: 'rate_limited', extras: { retryAfterSeconds: 5 } });
    await expect.poll(() => running).toEqual(['ada', 'ada']);
    const others = ['bob', 'eve'].map(search);
    await expect.poll(() => running).toEqual(['ada', 'ada', 'bob']);
    expect((await pool.query('select 1')).rowCount).toBe(1);
    resolve();
    await Promise.all([...ada, ...others]);
    expect(running.filter((whose) => whose === 'ada')).toHaveLength(10);
    expect(await searches.run('ada', async () => 'again')).toBe('again');
  });

  test('end after their time, with what to ask for instead, and leave the connection as it was', async () => {
    const searches = new Searches(pool, { mostMs: 20 });
    const late = searches.run('ada', (db) => db.query('select pg_sleep(60)'));
    await expect(late).rejects.toMatchObject({ code: 'validation_failed', extras: { param: 'from' } });
    await expect(searches.run('ada', (db) => db.query('select 1/0'))).rejects.toThrow('division by zero');
    const { rows } = await pool.query('show statement_timeout');
    expect(rows).toEqual([{ statement_timeout: '0' }]);
  });
});
