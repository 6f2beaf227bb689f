import { placeOf } from './layers.ts';
import type { SourceFile } from './source-file.ts';

/** What the statements of one place of the server do with the tables of the database. */
export interface TableUse {
  readonly table: string;
  /** `money/ledger`, `app`, `adapters/timers` */
  readonly place: string;
  readonly isWrite: boolean;
}

const MIGRATION = /^server\/src\/app\/migrations\//;
const CHANGE =
  /\b(create table|drop table|alter table)\s+(?:if (?:not )?exists\s+)?"?([a-z_]+)\b"?(?!\.| partition of )(?:\s+rename to\s+"?([a-z_]+)"?)?/g;

/** The tables that there are once every migration has run. */
export function tablesOf(files: readonly SourceFile[]): ReadonlySet<string> {
  const tables = new Set<string>();
  const migrations = files.filter(({ path }) => MIGRATION.test(path)).toSorted((one, other) => (one.path < other.path ? -1 : 1));
  for (const { code } of migrations)
    for (const [, change, table = '', renamed] of code.matchAll(CHANGE)) {
      if (change === 'create table') tables.add(table);
      else if (change === 'drop table') tables.delete(table);
      else if (renamed && tables.delete(table)) tables.add(renamed);
    }
  return tables;
}

/** In SQL, and as the builder and `copyInto` say it: `tables.updateTable('mails')`, `.innerJoin('users as u', …)`, `copyInto(client, 'receipts', …)`. */
const WRITE =
  /\b(?:insert into|update|delete from|truncate)\s+"?([a-z_]+)"?|(?:\btableName: |\.(?:insertInto|updateTable|deleteFrom)\(\s*|\bcopyInto\(\w+, )'([a-z_]+)/g;
const READ = /\b(?:from|join|exists|only)\s+"?([a-z_]+)"?|\.(?:selectFrom|(?:inner|left|right|full|cross)Join)\(\s*'([a-z_]+)/g;
/** `money/ledger`, `app`, `adapters/timers` */
function nameOfPlace(path: string): string | undefined {
  const place = placeOf(path);
  if (place?.layer === 'adapter') return `adapters/${place.name}`;
  return place && (place.name || place.layer);
}

/** Every use of a table in production code, once for each place and kind. */
export function tableUses(files: readonly SourceFile[]): TableUse[] {
  const tables = tablesOf(files);
  const uses = new Map<string, TableUse>();
  for (const { path, code, isTest } of files) {
    const place = nameOfPlace(path);
    if (place === undefined || isTest || MIGRATION.test(path)) continue;
    for (const [pattern, isWrite] of [
      [WRITE, true],
      [READ, false],
    ] as const)
      for (const [, inStatement, named] of code.matchAll(pattern)) {
        const table = inStatement ?? named ?? '';
        if (tables.has(table)) uses.set(`${table} ${place} ${isWrite}`, { table, place, isWrite });
      }
  }
  return [...uses.values()];
}

export interface Ownership {
  /** By table. */
  readonly owners: ReadonlyMap<string, string>;
  /** Of tables that others than their owner name in statements: who writes them and who reads them, sorted. */
  readonly shared: ReadonlyMap<string, { readonly writers: readonly string[]; readonly readers: readonly string[] }>;
}

const namesIn = (cell = ''): string[] => [...cell.matchAll(/`([a-z_/-]+)`/g)].map(([, name = '']) => name);

/** What ARCHITECTURE.md says under “Tables”: owners with their tables, then the tables that others name too. */
export function statedOwnership(architecture: string): Ownership {
  const section = /\n## Tables\n([\s\S]*?)(?=\n## |$)/.exec(architecture)?.[1] ?? '';
  const rows = section
    .split('\n')
    .filter((line) => line.startsWith('| `'))
    .map((line) => line.split('|').slice(1, -1).map(namesIn));
  const owners = rows
    .filter((cells) => cells.length === 2)
    .flatMap(([[owner = ''] = [], tables = []]) => tables.map((table) => [table, owner] as const));
  const shared = rows
    .filter((cells) => cells.length === 3)
    .map(([[table = ''] = [], writers = [], readers = []]) => [table, { writers, readers }] as const);
  return { owners: new Map(owners), shared: new Map(shared) };
}

/** What the code does, in the form of what is stated. @param owners those that are stated */
export function sharedTables(files: readonly SourceFile[], owners: Ownership['owners']): Ownership['shared'] {
  const shared = new Map<string, { writers: string[]; readers: string[] }>();
  for (const { table, place, isWrite } of tableUses(files)) {
    if (owners.get(table) === place) continue;
    const others = shared.get(table) ?? { writers: [], readers: [] };
    shared.set(table, others);
    others[isWrite ? 'writers' : 'readers'].push(place);
  }
  return new Map([...shared].map(([table, { writers, readers }]) => [table, { writers: writers.toSorted(), readers: readers.toSorted() }]));
}
