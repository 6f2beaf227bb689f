import { createHash } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import type { Log } from '../kernel/log.ts';
import { rowsOf } from '../kernel/statements.ts';
import { tables } from './tables.ts';

/** Runs SQL inside the migration's transaction. */
export type RunSql = (sql: string, values?: unknown[]) => Promise<Record<string, unknown>[]>;

/** One step forward of the schema. There is no way back: what was wrong is put right by a later step. */
export interface Migration {
  /** `NNNN-slice-what`, the name of its file; never changed once it has been applied anywhere. */
  readonly name: string;
  /**
   * SQL (several statements are fine), or a function when rows have to be computed: all of it is one transaction. A list of statements is
   * none: each is run by itself, `create index concurrently` say, and all of them again where one failed, so the first one removes what an
   * index leaves behind that could not be made.
   */
  readonly up: string | readonly string[] | ((run: RunSql) => Promise<void>);
}

/** A longer wait for a lock blocks later statements on the table, also in gateways of the previous version. */
const LOCK_WAIT_MS = 1_000;
const LOCK_AGAIN_MS = 3_000;
const LOCK_TRIES = 200;
/** SQLSTATE lock_not_available. */
const LOCK_NOT_AVAILABLE = '55P03';

// Any constant will do, as long as every version of the server uses the same: "tallygat" in ASCII.
const LOCK_KEY = '8386662065640595828';

/**
 * Applies, in order, what is missing. One process at a time, under an advisory lock of the database: the others wait and then
 * find nothing to do. Migrations in the database that this version does not know are left alone, since during a rolling deploy
 * the older version restarts too.
 *
 * @returns the names of the migrations applied by this call
 * @throws when an applied migration's SQL differs from the one in the list, or a migration fails (it is then rolled back)
 */
export async function migrate(url: string, migrations: readonly Migration[], log?: Log): Promise<string[]> {
  refuseDuplicates(migrations);
  const client = new pg.Client({ connectionString: url, application_name: 'tallygate migrate' });
  await client.connect();
  try {
    // Released by the end of the session, so also by a crash.
    await client.query('select pg_advisory_lock($1)', [LOCK_KEY]);
    const missing = await missingFrom(client, migrations);
    for (const migration of missing) {
      await applyOnceUnlocked(client, migration, log);
      log?.info({ migration: migration.name }, 'migration applied');
    }
    return missing.map(({ name }) => name);
  } finally {
    await client.end();
  }
}

async function missingFrom(client: pg.Client, migrations: readonly Migration[]): Promise<Migration[]> {
  await client.query(`
    create table if not exists schema_migrations (
      name text primary key,
      checksum text not null,
      applied_at timestamptz not null default now()
    )`);
  const rows = await rowsOf(client, tables.selectFrom('schema_migrations').select(['name', 'checksum']));
  const applied = new Map(rows.map(({ name, checksum }) => [name, checksum]));
  return migrations.filter((migration) => {
    const checksum = applied.get(migration.name);
    if (checksum !== undefined && checksum !== checksumOf(migration)) throw new Error(changedSince(migration));
    return checksum === undefined;
  });
}

/** Where a table is in use, it is tried again later rather than waited for. */
async function applyOnceUnlocked(client: pg.Client, migration: Migration, log?: Log): Promise<void> {
  for (let tries = 1; ; tries += 1) {
    try {
      await apply(client, migration);
      return;
    } catch (failure) {
      const { code } = (failure as { cause?: { code?: string } }).cause ?? {};
      if (code !== LOCK_NOT_AVAILABLE || tries === LOCK_TRIES) throw failure;
      log?.warn({ migration: migration.name, tries }, 'a migration waits until a table is not in use');
      await delay(LOCK_AGAIN_MS);
    }
  }
}

async function apply(client: pg.Client, migration: Migration): Promise<void> {
  const { name, up } = migration;
  const isTransaction = typeof up === 'string' || typeof up === 'function';
  try {
    if (isTransaction) await client.query('begin');
    await client.query(`set ${isTransaction ? 'local ' : ''}lock_timeout = ${LOCK_WAIT_MS}`);
    if (typeof up === 'string') await client.query(up);
    else if (typeof up === 'function') await up(async (sql, values) => (await client.query(sql, values)).rows);
    else for (const statement of up) await client.query(statement);
    await client.query('insert into schema_migrations (name, checksum) values ($1, $2)', [name, checksumOf(migration)]);
    if (isTransaction) await client.query('commit');
  } catch (cause) {
    if (isTransaction) await client.query('rollback');
    const what = isTransaction ? 'failed and was rolled back' : 'failed, and is repeated at the next start';
    throw new Error(`Migration ${name} ${what}: ${cause instanceof Error ? cause.message : cause}`, { cause });
  }
}

/** Of a function only that it is one: its text depends on how the code was built. */
function checksumOf({ up }: Migration): string {
  return typeof up === 'function' ? 'function' : createHash('sha256').update([up].flat().join(';\n')).digest('hex');
}

const changedSince = ({ name }: Migration): string =>
  `Migration ${name} was changed after it had been applied to this database. Restore its text and put the change into a new migration.`;

function refuseDuplicates(migrations: readonly Migration[]): void {
  const names = new Set<string>();
  for (const { name } of migrations) {
    if (names.has(name)) throw new Error(`Two migrations are called ${name}.`);
    names.add(name);
  }
}
