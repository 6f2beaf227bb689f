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
const lock = (options: Partial<Parameters<typeof beSoleGateway>[0]> = {}) =>
  beSoleGateway({ url: database.url, log: silentLog(), onLost: never, ...options });
const REFUSED = 'Another gateway runs on this database';

/** Resolves when the connection that holds the lock is gone. */
async function breakLock(): Promise<void> {
  const other = new pg.Client({ connectionString: database.url });
  await other.connect();
  await other.query(
    `select pg_terminate_backend(pid, 30000) from pg_stat_activity
      where application_name = 'tallygate gateway lock' and datname = current_database()`,
  );
  await other.end();
}

test('a second gateway on the database is refused until the first one has released it', async () => {
  const first = await lock();
  await expect(lock({ patienceMs: 0 })).rejects.toThrow(REFUSED);
  await first.release();
  await (await lock({ patienceMs: 0 })).release();
});

test('a gateway that starts a moment after another one was killed waits for its connection to go', async () => {
  const first = await lock();
  const second = lock({ patienceMs: 30_000 });
  await first.release();
  await (await second).release();
});

test('a gateway whose lock is lost is notified once, since another may take over', async () => {
  const lost = Promise.withResolvers<void>();
  let times = 0;
  const held = await lock({
    onLost: () => {
      times += 1;
      lost.resolve();
    },
  });
  await breakLock();
  await lost.promise;
  await (await lock()).release();
  expect(times).toBe(1);
  await held.release();
});

test('a gateway with an embedded database takes the lock again when the database is back', async () => {
  const held = await lock({ isEmbedded: true });
  await breakLock();
  await expect.poll(() => lock({ patienceMs: 0 }).then(async (other) => other.release(), String)).toContain(REFUSED);
  await held.release();
  await (await lock()).release();
});

test('a gateway with an embedded database stops when another one has taken the lock meanwhile', async () => {
  const lost = Promise.withResolvers<void>();
  const held = await lock({ isEmbedded: true, onLost: lost.resolve, patienceMs: 0 });
  // It waits in line, so that it has the lock at the very moment at which the first one loses it.
  const other = new pg.Client({ connectionString: database.url });
  await other.connect();
  const taken = other.query('select pg_advisory_lock($1)', ['8386662065640595822']);
  await expect
    .poll(async () => {
      const observer = new pg.Client({ connectionString: database.url });
      await observer.connect();
      const { rowCount } = await observer.query(
        `select 1 from pg_stat_activity where wait_event = 'advisory' and datname = current_database()`,
      );
      await observer.end();
      return rowCount;
    })
    .toBe(1);
  await breakLock();
  await taken;
  await lost.promise;
  await other.end();
  await held.release();
});

test('a database that is not there is an error of the start, not a lost lock', async () => {
  await expect(lock({ url: 'postgres://127.0.0.1:1/none' })).rejects.toThrow();
});

test('gateways whose lanes are in Redis share the lock, and keep out one whose lanes are its own', async () => {
  const [first, second] = [await lock({ mayShare: true }), await lock({ mayShare: true })];
  await expect(lock({ patienceMs: 0 })).rejects.toThrow(REFUSED);
  await first.release();
  await second.release();
  const sole = await lock({ patienceMs: 5_000 });
  await expect(lock({ mayShare: true, patienceMs: 0 })).rejects.toThrow('without REDIS_URL');
  await sole.release();
});
