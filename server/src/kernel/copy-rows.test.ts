import fc from 'fast-check';
import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openPool } from '../adapters/postgres/database.ts';
import { testDatabase } from '../adapters/postgres/test-database.ts';
import { arrayText, copiedRows, copyInto } from './copy-rows.ts';
import { silentLog } from './log.ts';
import { inTransaction } from './transaction.ts';

let pool: pg.Pool;
let drop: () => Promise<void>;
beforeAll(async () => {
  const database = await testDatabase();
  pool = openPool({ url: database.url, log: silentLog(), poolSize: 1 });
  drop = async () => {
    await pool.end();
    await database.drop();
  };
  await pool.query('create table copied (n int primary key, name text, amount bigint, names text[], said jsonb, bytes bytea)');
});
afterAll(() => drop?.());

const copied = (rows: readonly object[]) => inTransaction(pool, (client) => copyInto(client, 'copied', copiedRows(rows)));
const read = async () => (await pool.query('select * from copied order by n')).rows;
const written = (text: string) => !text.includes('\0');
const text = fc
  .oneof(fc.string({ unit: 'binary' }), fc.constantFrom('\\N', '\\.', '\t', '\\', '\r\n', '"{}",', 'NULL', ''))
  .filter(written);

test('what is copied is read back as it was: texts, lists, JSON, bytes and nulls', async () => {
  const row = fc.record({
    name: fc.option(text),
    amount: fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }),
    names: fc.array(text),
    said: text,
  });
  await fc.assert(
    fc.asyncProperty(fc.array(row, { maxLength: 20 }), async (rows) => {
      await pool.query('truncate copied');
      const bytes = Buffer.from([0, 9, 92, 255]);
      await copied(
        rows.map(({ names, said, ...rest }, n) => ({
          n,
          ...rest,
          names: arrayText(names),
          said: { said },
          bytes: `\\x${bytes.toString('hex')}`,
        })),
      );
      expect(await read()).toEqual(rows.map(({ said, ...rest }, n) => ({ n, ...rest, said: { said }, bytes })));
    }),
    { numRuns: 30 },
  );
});

test('what a table refuses fails with its code, copies nothing, and leaves the connection in use', async () => {
  await pool.query('truncate copied');
  await expect(copied([{ n: 1 }, { n: 1 }])).rejects.toMatchObject({ code: '23505', table: 'copied' });
  await expect(copied([{ n: 1, amount: 'much' }])).rejects.toMatchObject({ code: '22P02' });
  await expect(copied([{ n: 1, name: 'a\0b' }])).rejects.toMatchObject({ code: '22021' });
  await copied([{ n: 2 }]);
  expect((await read()).map(({ n }) => n)).toEqual([2]);
});

test('the trace of a refused copy names who asked for it', async () => {
  const asking = async () => await copied([{ n: 1, name: 'a\0b' }]);
  await expect(asking()).rejects.toMatchObject({ stack: expect.stringContaining('copyInto') });
});

test('a text that is no Unicode is refused, and not sent as another one', () => {
  expect(() => copiedRows([{ name: 'a\ud800' }])).toThrow(RangeError);
});

test('a copy over a connection that breaks fails', async () => {
  const client = await pool.connect();
  client.on('error', () => {});
  const { rows } = await client.query('select pg_backend_pid() as pid');
  const other = new pg.Client({ connectionString: pool.options.connectionString });
  await other.connect();
  await other.query('select pg_terminate_backend($1)', [rows[0].pid]);
  await expect(copyInto(client, 'copied', copiedRows([{ n: 3 }]))).rejects.toThrow();
  client.release(true);
  await other.end();
});
