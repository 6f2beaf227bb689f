import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { EntitySchema } from '@mikro-orm/core';
import { MikroORM } from '@mikro-orm/postgresql';
import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { identityEntities } from '../access/identity/index.ts';
import { keyEntities } from '../access/keys/index.ts';
import { testDatabase } from '../adapters/postgres/test-database.ts';

// What PostgreSQL makes of the entities is compared with what the migrations made, both read by one query: neither can drift unseen.
const AS_STATED = 'as_stated';
const COLUMNS = `
  select concat_ws(' ', c.relname || '.' || a.attname, format_type(a.atttypid, a.atttypmod), case when a.attnotnull then 'not null' end,
    'default ' || pg_get_expr(d.adbin, d.adrelid), 'identity ' || nullif(a.attidentity::text, ''), 'generated ' || nullif(a.attgenerated::text, ''),
    case when exists (select from pg_index i where i.indrelid = c.oid and i.indisunique and i.indpred is null and i.indexprs is null
      and a.attnum = any((i.indkey::int2[])[0:i.indnkeyatts - 1]) and (i.indisprimary or k.oid is null)) then 'key' end) as line
  from pg_class c
  join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
  left join pg_attrdef d on d.adrelid = c.oid and d.adnum = a.attnum
  left join pg_constraint k on k.conrelid = c.oid and k.contype = 'p'
  where c.relkind in ('r', 'p') and not c.relispartition and c.relnamespace = $1::regnamespace
  order by c.relname, a.attname`;
/** Constraints that allow a column a list of texts: what the types of statements promise of it. */
const LISTED = `
  select conrelid::regclass || ' ' || pg_get_constraintdef(oid) as line
  from pg_constraint
  where contype = 'c' and connamespace = $1::regnamespace and not (select relispartition from pg_class where oid = conrelid)
    and pg_get_constraintdef(oid) ~ '^CHECK \\(\\(\\w+ = ANY \\(ARRAY\\['
  order by 1`;

let testDb: Awaited<ReturnType<typeof testDatabase>>;
let client: pg.Client;
let orm: MikroORM;

beforeAll(async () => {
  testDb = await testDatabase();
  const server = join(import.meta.dirname, '..');
  const stated = await Promise.all(
    globSync('**/entities.ts', { cwd: server }).map(
      async (path): Promise<Record<string, EntitySchema>> => import(join(server, String(path))),
    ),
  );
  orm = await MikroORM.init({
    clientUrl: testDb.url,
    entities: [...identityEntities, ...keyEntities, ...stated.flatMap((module) => Object.values(module))],
    schemaGenerator: { createForeignKeyConstraints: false },
  });
  client = new pg.Client({ connectionString: testDb.url });
  await client.connect();
  await client.query(`create schema ${AS_STATED}; set search_path = ${AS_STATED}`);
  await client.query(await orm.schema.getCreateSchemaSQL({ wrap: false }));
});

afterAll(async () => {
  await client?.end();
  await orm?.close();
  await testDb?.drop();
});

async function read(sql: string, schema: string): Promise<string[]> {
  await client.query(`set search_path = ${schema}`);
  return (await client.query(sql, [schema])).rows.map(({ line }) => line);
}

test('the entities say of every table what the migrations made: columns, types, nulls, defaults, keys', async () => {
  const made = await read(COLUMNS, 'public');
  expect(await read(COLUMNS, AS_STATED)).toEqual(made);
  expect(made.length).toBeGreaterThan(800);
});

test('a column that takes a list of values alone takes the ones that its entity names', async () => {
  const allowed = await read(LISTED, 'public');
  expect(await read(LISTED, AS_STATED)).toEqual(allowed);
  expect(allowed.length).toBeGreaterThan(30);
});

test('the handbook says of every table how it grows and how long rows stay', async () => {
  const handbook = readFileSync(join(import.meta.dirname, '../../../docs/guides/running.md'), 'utf8');
  const [, list = ''] = /Every table of the database.*?\n\n(\|.*?)\n\n/s.exec(handbook) ?? [];
  const cells = [...list.matchAll(/^\| (`.*?) \|/gm)].map(([, names = '']) => names);
  const named = [...cells.join().matchAll(/`(\w+)`/g)].map(([, name]) => name);
  const { rows } = await client.query(
    `select relname from pg_class where relkind in ('r', 'p') and not relispartition and relnamespace = 'public'::regnamespace order by 1`,
  );
  expect(named.toSorted()).toEqual(rows.map(({ relname }) => relname));
});
