import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { testDatabase } from '../adapters/postgres/test-database.ts';
import { silentLog } from '../kernel/log.ts';
import { beSoleGateway } from './sole-gateway.ts';

let database: Awaited<ReturnType<typeof testDatabase>>;
beforeAll(async () => {
  database = await testDatabase();
});
afterAll(() => database.drop());

const never = () => {
  throw new Error('the lock was not lost');
};

test('a second gateway on the database is refused until the first one has released it', async () => {
  const first = await beSoleGateway(database.url, silentLog(), never);
  await expect(beSoleGateway(database.url, silentLog(), never)).rejects.toThrow('Another gateway runs on this database');
  await first.release();
  await (await beSoleGateway(database.url, silentLog(), never)).release();
});

test('a gateway whose lock is lost is told once, since another may take over', async () => {
  const lost = Promise.withResolvers<void>();
  let times = 0;
  const held = await beSoleGateway(database.url, silentLog(), () => {
    times += 1;
    lost.resolve();
  });
  const other = new pg.Client({ connectionString: database.url });
  await other.connect();
  await other.query(
    `select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'tallygate gateway lock' and datname = current_database()`,
  );
  await lost.promise;
  await other.end();
  await (await beSoleGateway(database.url, silentLog(), never)).release();
  expect(times).toBe(1);
  await held.release().catch(() => {});
});

test('a database that is not there is an error of the start, not a lost lock', async () => {
  await expect(beSoleGateway('postgres://127.0.0.1:1/none', silentLog(), never)).rejects.toThrow();
});
