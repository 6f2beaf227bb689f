import { readFileSync } from 'node:fs';
import type pg from 'pg';
import { childrenOf, cpuTime, cpuTimeOfEnded } from '../proc.ts';

/** What a database has done since it was started. */
export interface DatabaseWork {
  /** CPU by the kind of process, microseconds: `client backend`, `checkpointer`, `walwriter` and so on. */
  readonly cpu: ReadonlyMap<string, number>;
  /** Its write-ahead log, bytes. */
  readonly walBytes: number;
  readonly statements: ReadonlyMap<string, StatementWork>;
  /** Partitions of a table together. */
  readonly tables: ReadonlyMap<string, TableWork>;
}

export interface StatementWork {
  readonly calls: number;
  readonly rows: number;
  /** Planning and execution by the clock, microseconds. Parsing, and what is said between statements, is in neither. */
  readonly micros: number;
  readonly walBytes: number;
}

export interface TableWork {
  readonly inserted: number;
  readonly updated: number;
  /** Of what was updated: without a new entry in any index. */
  readonly updatedInPlace: number;
  readonly deleted: number;
  /** With TOAST and maps, bytes. */
  readonly heapBytes: number;
  readonly indexBytes: number;
}

/** Server settings that {@link databaseWork} needs. */
export const COUNTING = {
  shared_preload_libraries: 'pg_stat_statements',
  'pg_stat_statements.track_planning': 'on',
  // What triggers run as well.
  'pg_stat_statements.track': 'all',
};

/** All but what this connection has done itself. */
export async function databaseWork(database: pg.Client, postmasterPid: number): Promise<DatabaseWork> {
  const own = await database.query<{ pid: number }>('select pg_backend_pid() as pid');
  const cpu = cpuByKind(postmasterPid, own.rows[0]?.pid);
  await database.query('select pg_stat_force_next_flush()');
  const wal = await database.query<{ bytes: string }>(`select (pg_current_wal_insert_lsn() - '0/0'::pg_lsn)::text as bytes`);
  const statements = await database.query<{ query: string } & StatementWork>(STATEMENTS_SQL);
  const tables = await database.query<{ name: string } & TableWork>(TABLES_SQL);
  return {
    cpu,
    walBytes: Number(wal.rows[0]?.bytes),
    statements: new Map(statements.rows.map(({ query, ...work }) => [query, work])),
    tables: new Map(tables.rows.map(({ name, ...work }) => [name, work])),
  };
}

/** The work between two moments, for each of so many requests. */
export function workEach(before: DatabaseWork, after: DatabaseWork, requests: number): DatabaseWork {
  const each = <T extends StatementWork | TableWork>(of: ReadonlyMap<string, T>, earlier: ReadonlyMap<string, T>) =>
    new Map([...of].map(([name, work]) => [name, difference(work, earlier.get(name), requests)]));
  return {
    cpu: new Map([...after.cpu].map(([kind, micros]) => [kind, (micros - (before.cpu.get(kind) ?? 0)) / requests])),
    walBytes: (after.walBytes - before.walBytes) / requests,
    statements: each(after.statements, before.statements),
    tables: each(after.tables, before.tables),
  };
}

function difference<T extends StatementWork | TableWork>(work: T, earlier: T | undefined, requests: number): T {
  const was: Readonly<Record<string, number>> = { ...earlier };
  return Object.fromEntries(
    Object.entries(work).map(([figure, value]) => [figure, (value - (was[figure] ?? 0)) / requests]),
  ) as unknown as T;
}

const CLIENT = 'client backend';

/** PostgreSQL writes into its processes' titles what they are. */
function cpuByKind(postmasterPid: number, ownPid: number | undefined): Map<string, number> {
  // Only connections end while it runs.
  const sums = new Map([[CLIENT, cpuTimeOfEnded(postmasterPid)]]);
  for (const pid of [postmasterPid, ...childrenOf(postmasterPid)]) {
    if (pid === ownPid) continue;
    try {
      const title = readFileSync(`/proc/${pid}/cmdline`, 'utf8');
      const kind = pid === postmasterPid ? 'postmaster' : (/^postgres: ([a-z ]*?)[\s\d]*(?:launcher)?\s*\0/.exec(title)?.[1] ?? CLIENT);
      sums.set(kind, (sums.get(kind) ?? 0) + cpuTime(pid).process);
    } catch {
      // It has ended meanwhile.
    }
  }
  return sums;
}

const STATEMENTS_SQL = `
select regexp_replace(query, '\\s+', ' ', 'g') as query, sum(calls)::float8 as calls, sum(rows)::float8 as rows,
  sum(1000 * (total_plan_time + total_exec_time))::float8 as micros, sum(wal_bytes)::float8 as "walBytes"
from pg_stat_statements where toplevel and query not like '%pg_stat_%' group by 1`;

const TABLES_SQL = `
select regexp_replace(relname, '_\\d{4}_\\d\\d$', '') as name, sum(n_tup_ins)::float8 as inserted, sum(n_tup_upd)::float8 as updated,
  sum(n_tup_hot_upd)::float8 as "updatedInPlace", sum(n_tup_del)::float8 as deleted,
  sum(pg_table_size(relid))::float8 as "heapBytes", sum(pg_indexes_size(relid))::float8 as "indexBytes"
from pg_stat_user_tables group by 1`;
