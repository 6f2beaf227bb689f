import { expect, test } from 'vitest';
import { openPool } from '../adapters/postgres/database.ts';
import { testDatabase } from '../adapters/postgres/test-database.ts';
import { silentLog } from '../kernel/log.ts';
import { checkHealth, Readiness } from './health.ts';

test('a database that is lost after its first answer makes the gateway unavailable', async () => {
  const database = await testDatabase();
  const pool = openPool({ url: database.url, log: silentLog(), poolSize: 1 });
  const readiness = new Readiness();
  readiness.start();
  const health = await checkHealth(readiness, {
    pool,
    config: { bucket: undefined },
    blobs: {
      async check() {
        await pool.query('select 1');
        await database.drop();
      },
    },
    booksState: () => ({ lag: { ms: 0, isTooLong: false }, quarantined: 0, canRecord: true }),
    clockDifferenceMs: () => 0,
  });
  await pool.end();
  expect(health).toMatchObject({ status: 'unavailable', checks: { database: 'ok', receipt_log: 'unavailable' } });
});
