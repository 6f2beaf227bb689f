import { defineEntity, p } from '@mikro-orm/core';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import * as z from 'zod';
import { openDatabase } from '../adapters/postgres/database.ts';
import type { Database } from '../adapters/postgres/port.ts';
import { testDatabase } from '../adapters/postgres/test-database.ts';
import { silentLog } from './log.ts';
import { anyOf, asJson, checkedRows, firstOf, ifGiven, inUnit, rowsOf, run, tablesOf } from './statements.ts';
import { inTransaction, inUnitOfWork } from './transaction.ts';

const Coin = defineEntity({
  name: 'Coin',
  tableName: 'coins',
  properties: { id: p.integer().primary(), value: p.bigint('bigint'), faces: p.json<string[]>(), note: p.text().nullable() },
});
const tables = tablesOf<typeof Coin>();
const COIN = { id: 1, value: 9007199254740993n, faces: asJson(['head', 'tail']), note: null };

let testDb: Awaited<ReturnType<typeof testDatabase>>;
let database: Database;

beforeAll(async () => {
  testDb = await testDatabase();
  database = await openDatabase({ url: testDb.url, entities: [Coin], log: silentLog() });
  await database.pool.query('create table coins (id int primary key, value bigint not null, faces jsonb not null, note text)');
});

afterAll(async () => {
  await database?.close();
  await testDb?.drop();
});

beforeEach(async () => {
  await database.pool.query('truncate coins');
});

const coins = () => rowsOf(database.pool, tables.selectFrom('coins').selectAll().orderBy('id'));

describe('a statement', () => {
  test('writes lists as JSON, and answers with integers and JSON as the entity says', async () => {
    expect(await run(database.pool, tables.insertInto('coins').values(COIN))).toBe(1);
    expect(await coins()).toEqual([{ id: 1, value: 9007199254740993n, faces: ['head', 'tail'], note: null }]);
  });

  test('of a list is one, however long the list is', async () => {
    const wanted = (ids: readonly number[]) => tables.selectFrom('coins').select('id').where('id', '=', anyOf(ids));
    expect(wanted([1, 2, 3]).compile().sql).toBe(wanted([]).compile().sql);
    await run(database.pool, tables.insertInto('coins').values([COIN, { ...COIN, id: 2 }]));
    expect(await rowsOf(database.pool, wanted([2, 3]))).toEqual([{ id: 2 }]);
  });

  test('is not narrowed by what its caller leaves out', async () => {
    await run(database.pool, tables.insertInto('coins').values([COIN, { ...COIN, id: 2, note: 'rare' }]));
    const noted = (note?: string) =>
      tables
        .selectFrom('coins')
        .select('id')
        .where((eb) => ifGiven(note, (text) => eb('note', '=', text)));
    expect(await rowsOf(database.pool, noted())).toHaveLength(2);
    expect(await rowsOf(database.pool, noted('rare'))).toEqual([{ id: 2 }]);
  });
});

describe('in a unit of work', () => {
  test('statements and entities see each other, and are undone together', async () => {
    const failing = inUnitOfWork(database.orm.em, async (unit) => {
      unit.create(Coin, { id: 1, value: 1n, faces: [], note: null });
      await unit.flush();
      const db = inUnit(unit);
      expect(await run(db, tables.updateTable('coins').set({ value: 2n }).where('id', '=', 1))).toBe(1);
      expect(await firstOf(db, tables.selectFrom('coins').select('value'))).toEqual({ value: 2n });
      expect(await coins()).toEqual([]);
      throw new Error('changed my mind');
    });
    await expect(failing).rejects.toThrow('changed my mind');
    expect(await coins()).toEqual([]);
  });

  test('placeholders may come in any order and more than once', async () => {
    await inUnitOfWork(database.orm.em, async (unit) => {
      await inUnit(unit).query("insert into coins (id, value, faces, note) values ($2::integer, $2::integer, '[]', $1)", [
        'is it $1 or ?',
        7,
      ]);
    });
    expect(await coins()).toEqual([{ id: 7, value: 7n, faces: [], note: 'is it $1 or ?' }]);
  });
});

test('a row that is not what its schema says is refused, and never handed on', async () => {
  await inTransaction(database.pool, (client) => run(client, tables.insertInto('coins').values(COIN)));
  const Row = z.object({ note: z.string() });
  await expect(checkedRows(database.pool, Row, 'select note from coins')).rejects.toThrow(z.ZodError);
});
