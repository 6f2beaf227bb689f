import type { Pool } from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openDatabase } from '../adapters/postgres/database.ts';
import type { Database } from '../adapters/postgres/port.ts';
import { testDatabase } from '../adapters/postgres/test-database.ts';
import { silentLog } from './log.ts';
import { inSnapshot, inTransaction, inUnitOfWork } from './transaction.ts';

let database: Database;
let pool: Pool;
let close: () => Promise<void>;
beforeAll(async () => {
  const { url, drop } = await testDatabase();
  database = await openDatabase({ url, entities: [], log: silentLog() });
  pool = database.pool;
  close = async () => {
    await database.close();
    await drop();
  };
  // PostgreSQL looks for a deadlock after a second.
  const { rows } = await pool.query<{ name: string }>('select current_database() as name');
  await pool.query(`alter database ${rows[0]?.name} set deadlock_timeout = '20ms'`);
  await pool.query('create table marks (id int primary key, n int not null)');
  await pool.query('insert into marks values (1, 0), (2, 0)');
});
afterAll(() => close());

const marks = async () => (await pool.query<{ n: number }>('select n from marks order by id')).rows.map(({ n }) => n);

type Mark = (id: number) => Promise<unknown>;
type Transaction = (work: (mark: Mark) => Promise<void>) => Promise<void>;

/** The statement fails. */
const NO_ID = Number.NaN;

const MARK = 'update marks set n = n + 1 where id = ';
const ways: [string, Transaction][] = [
  ['inTransaction', (work) => inTransaction(pool, (client) => work((id) => client.query(`${MARK}$1`, [id])))],
  ['inUnitOfWork', (work) => inUnitOfWork(database.orm.em, (unit) => work((id) => unit.execute(`${MARK}?`, [id])))],
];

describe.each(ways)('%s', (_, transaction) => {
  test('repeats the transaction that a deadlock ended, and both are done once', async () => {
    const before = await marks();
    let tries = 0;
    // Each holds its first row before either asks for the other's: only once, so that the repeat finds its way.
    const holding = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const crossing = (first: number, second: number) =>
      transaction(async (mark) => {
        tries += 1;
        await mark(first);
        holding[first - 1]?.resolve();
        await Promise.all(holding.map(({ promise }) => promise));
        await mark(second);
      });
    await Promise.all([crossing(1, 2), crossing(2, 1)]);
    expect(tries).toBeGreaterThan(2);
    expect(await marks()).toEqual(before.map((n) => n + 2));
  });

  test('leaves nothing of what it throws for', async () => {
    const before = await marks();
    const failing = transaction(async (mark) => {
      await mark(1);
      throw new Error('no');
    });
    await expect(failing).rejects.toThrow('no');
    expect(await marks()).toEqual(before);
  });

  test('says that nothing was written where the error of a statement was dropped', async () => {
    const before = await marks();
    const failing = transaction(async (mark) => {
      await mark(1);
      await mark(NO_ID).catch(() => {});
    });
    await expect(failing).rejects.toThrow('rolled back');
    expect(await marks()).toEqual(before);
    await transaction(async (mark) => void (await mark(1)));
  });
});

test.each(['40P01', '40001'])('one statement of the pool that PostgreSQL ended with %s is repeated too', async (code) => {
  // What a sequence has counted stays counted when its transaction is undone.
  await pool.query('create sequence tries');
  await pool.query(
    `create function fails_once() returns bigint language plpgsql as $$ begin
       if nextval('tries') = 1 then raise exception 'ended' using errcode = '${code}'; end if; return currval('tries'); end $$`,
  );
  expect((await pool.query<{ tries: bigint }>('select fails_once() as tries')).rows).toEqual([{ tries: 2n }]);
  await pool.query('drop function fails_once; drop sequence tries');
});

test('a snapshot reads all of one moment, and writes nothing', async () => {
  const [before] = await marks();
  const seen = await inSnapshot(pool, async (client) => {
    const { rows } = await client.query<{ n: number }>('select n from marks where id = 1');
    await pool.query(`${MARK}1`);
    const again = await client.query<{ n: number }>('select n from marks where id = 1');
    return [rows[0]?.n, again.rows[0]?.n];
  });
  expect(seen).toEqual([before, before]);
  await expect(inSnapshot(pool, (client) => client.query(`${MARK}1`))).rejects.toThrow('read-only transaction');
});
