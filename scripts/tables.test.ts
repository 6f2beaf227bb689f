import { globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { readSource } from './architecture/source-file.ts';
import { sharedTables, statedOwnership, tablesOf, tableUses } from './architecture/tables.ts';

const root = dirname(import.meta.dirname);
const read = (tree: Readonly<Record<string, string>>) => Object.entries(tree).map(([path, text]) => readSource(path, text));
const server = read(
  Object.fromEntries(globSync('server/src/**/*.ts', { cwd: root }).map((path) => [String(path), readFileSync(join(root, path), 'utf8')])),
);
const stated = statedOwnership(readFileSync(join(root, 'ARCHITECTURE.md'), 'utf8'));

test('every table has one owner, which ARCHITECTURE.md names', () => {
  expect([...stated.owners.keys()].toSorted()).toEqual([...tablesOf(server)].toSorted());
});

test('only the owner of a table names it in a statement, but for those that ARCHITECTURE.md lists', () => {
  const entries = (map: ReadonlyMap<string, unknown>) => [...map].toSorted(([one], [other]) => (one < other ? -1 : 1));
  expect(entries(sharedTables(server, stated.owners))).toEqual(entries(stated.shared));
});

test('money moves only in the ledger, and a price comes only from the catalogue', () => {
  const shared = sharedTables(server, stated.owners);
  const ofOwner = (owner: string) => [...stated.owners].flatMap(([table, slice]) => (slice === owner ? [table] : []));
  for (const table of ofOwner('money/ledger')) expect(shared.get(table)?.writers ?? [], table).toEqual([]);
  for (const table of ofOwner('money/catalog')) expect(shared.get(table), table).toBeUndefined();
});

test('finds tables that were made, renamed and dropped, and who reads and writes them', () => {
  const tree = read({
    'server/src/app/migrations/0001-a.ts': 'up(`create table one (id int); create table if not exists two (id int); create table gone ()`)',
    'server/src/app/migrations/0002-b.ts': 'up(`alter table two rename to three; drop table gone`)',
    'server/src/access/keys/x.ts': "query('select * from one join three using (id)'); query('update one set id = 1');",
    'server/src/adapters/timers/x.ts': "defineEntity({ tableName: 'three' }); query('delete from gone');",
    'server/src/mail/x.ts': "tables.selectFrom('one as o').innerJoin('three', 'three.id', 'o.id'); tables.deleteFrom('one');",
    'server/src/access/keys/x.test.ts': "query('delete from three');",
  });
  expect([...tablesOf(tree)]).toEqual(['one', 'three']);
  expect(tableUses(tree)).toEqual([
    { table: 'one', place: 'access/keys', isWrite: true },
    { table: 'one', place: 'access/keys', isWrite: false },
    { table: 'three', place: 'access/keys', isWrite: false },
    { table: 'three', place: 'adapters/timers', isWrite: true },
    { table: 'one', place: 'mail', isWrite: true },
    { table: 'one', place: 'mail', isWrite: false },
    { table: 'three', place: 'mail', isWrite: false },
  ]);
  const owners = statedOwnership('# A\n\n## Tables\n\n| slice | tables |\n| - | - |\n| `access/keys` | `one`, `three` |\n\n## B\n').owners;
  expect(sharedTables(tree, owners)).toEqual(
    new Map([
      ['three', { writers: ['adapters/timers'], readers: ['mail'] }],
      ['one', { writers: ['mail'], readers: ['mail'] }],
    ]),
  );
});
