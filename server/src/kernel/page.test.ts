import * as fc from 'fast-check';
import type { Pool } from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openPool } from '../adapters/postgres/database.ts';
import { testDatabase } from '../adapters/postgres/test-database.ts';
import { silentLog } from './log.ts';
import { type Keyed, Keyset, type Page } from './page.ts';

const ID = '019aa2f1-c2d3-7b6e-8c4d-1f00aa55ee77';
const THINGS = new Keyset({ name: 'things', columns: { made_at: 'time', name: 'text', n: 'integer' }, direction: 'desc' });

let pool: Pool;
let drop: () => Promise<void>;
beforeAll(async () => {
  const database = await testDatabase();
  pool = openPool({ url: database.url, log: silentLog(), poolSize: 2 });
  drop = async () => {
    await pool.end();
    await database.drop();
  };
  await pool.query(
    'create table things (made_at timestamptz not null, name text not null, n bigint not null, primary key (made_at, name, n))',
  );
});
afterAll(() => drop?.());

const insert = (rows: readonly (readonly [micros: number, name: string, n: number])[]) =>
  pool.query(
    `insert into things select timestamptz '2026-11-21' + m * interval '1 microsecond', name, n from unnest($1::bigint[], $2::text[], $3::bigint[]) as t (m, name, n)
       on conflict do nothing`,
    [rows.map(([micros]) => micros), rows.map(([, name]) => name), rows.map(([, , n]) => n)],
  );

interface Thing {
  readonly name: string;
  readonly n: bigint;
}

async function pageAt(cursor: string | null, limit: number): Promise<Page<Thing>> {
  const query = { limit, cursor: cursor ?? undefined };
  const { rows } = await pool.query<Thing & Keyed>(
    `select name, n, ${THINGS.key} from things where ${THINGS.after('$1')} order by ${THINGS.order} limit $2`,
    THINGS.values(query),
  );
  return THINGS.page(rows, query);
}

async function walk(limit: number, between: () => Promise<unknown> = async () => {}): Promise<string[]> {
  const seen: string[] = [];
  for (let cursor: string | null = null; ; ) {
    const { data, has_more, next_cursor } = await pageAt(cursor, limit);
    seen.push(...data.map(({ name, n }) => `${name} ${n}`));
    expect(has_more).toBe(next_cursor !== null);
    expect(data.length).toBeLessThanOrEqual(limit);
    if (next_cursor === null) return seen;
    cursor = next_cursor;
    await between();
  }
}

test('pages hold every row once and in order, also of one microsecond', async () => {
  const row = fc.tuple(fc.integer({ min: 0, max: 3 }), fc.constantFrom('a', 'b', 'ä', '"'), fc.integer({ min: -2, max: 2 }));
  await fc.assert(
    fc.asyncProperty(fc.array(row, { maxLength: 20 }), fc.integer({ min: 1, max: 7 }), async (rows, limit) => {
      await pool.query('truncate things');
      await insert(rows);
      const { rows: all } = await pool.query<Thing>('select name, n from things order by made_at desc, name desc, n desc');
      expect(await walk(limit)).toEqual(all.map(({ name, n }) => `${name} ${n}`));
    }),
    { numRuns: 25 },
  );
});

test('rows that come and go between pages move no other row to another page', async () => {
  await pool.query('truncate things');
  await insert([1, 2, 3, 4, 5].map((micros) => [micros, 'old', micros]));
  let round = 10;
  const seen = await walk(2, async () => {
    round += 1;
    await insert([[round, 'new', round]]);
    await pool.query('delete from things where n = 4');
  });
  expect(seen).toEqual(['old 5', 'old 4', 'old 3', 'old 2', 'old 1']);
});

describe('a list in memory', () => {
  const SESSIONS = new Keyset({ name: 'sessions', columns: { used: 'time', id: 'text' }, direction: 'desc' });
  const keyOf = ([used, id]: readonly [number, string]) => [`${used}`, id];

  test('is sorted by its key, numbers by their value', () => {
    const page = SESSIONS.pageOf(
      [
        [9, 'a'],
        [10, 'a'],
        [10, 'b'],
      ] as const,
      { limit: 2 },
      keyOf,
    );
    expect(page.data).toEqual([
      [10, 'b'],
      [10, 'a'],
    ]);
    const next = SESSIONS.pageOf(
      [
        [11, 'new'],
        [9, 'a'],
      ] as const,
      { limit: 2, cursor: page.next_cursor ?? undefined },
      keyOf,
    );
    expect(next).toEqual({ data: [[9, 'a']], has_more: false, next_cursor: null });
  });
});

describe('a cursor is refused', () => {
  const encoded = (parts: unknown) => Buffer.from(typeof parts === 'string' ? parts : JSON.stringify(parts)).toString('base64url');
  const ids = new Keyset({ name: 'ids', columns: { id: 'uuid' }, direction: 'asc' });

  test.each([
    ['that is no base64url of JSON', 'x'],
    ['that is JSON and no list', encoded({ 0: 'ids' })],
    ['that is null', encoded('null')],
    ['of another list', encoded(['things', ID])],
    ['with too few values', encoded(['ids'])],
    ['with too many values', encoded(['ids', ID, ID])],
    ['with a number', encoded(['ids', 1])],
    ['with a value that the database would refuse', encoded(['ids', 'no-uuid'])],
  ])('%s', (_title, cursor) => {
    expect(() => ids.cursorKey(cursor)).toThrow(expect.objectContaining({ code: 'validation_failed' }));
  });

  test.each([
    ['9'.repeat(17), 'a', '1'],
    ['1', 'a\0', '1'],
    ['1', 'a', '9'.repeat(19)],
    ['-1', 'a', '1'],
  ])('with the values %j, %j, %j', (...key) => {
    expect(() => THINGS.cursorKey(encoded(['things', ...key]))).toThrow(expect.objectContaining({ code: 'validation_failed' }));
  });

  test('and taken where it is the next_cursor of the list', () => {
    const { next_cursor } = ids.page([{ page_key: [ID] }, { page_key: [ID] }], { limit: 1 });
    expect(ids.cursorKey(next_cursor ?? '')).toEqual([ID]);
    expect(ids.cursorKey(undefined)).toBeNull();
  });
});
