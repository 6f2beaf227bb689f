import { MikroORM, type Options } from '@mikro-orm/postgresql';
import { PostgresDialect } from 'kysely';
import pg from 'pg';
import { repeatCollisions } from '../../kernel/collisions.ts';
import type { Log } from '../../kernel/log.ts';
import { partOf } from './part-of-pool.ts';
import type { Database } from './port.ts';
import type { ServerPulse } from './server-pulse.ts';

const CONNECT_TIMEOUT_MS = 10_000;

interface DatabaseOptions {
  /** `postgresql://…`; the schema must have been migrated already. */
  url: string;
  entities: NonNullable<Options['entities']>;
  log: Log;
  /** Most connections. Default 20. */
  poolSize?: number;
  /** How long anybody waits for a connection while all of a pool are in use. Default 10 s. */
  connectTimeoutMs?: number | undefined;
  /** Ends connections to a server that has become silent. */
  pulse?: ServerPulse | undefined;
}

/** Opens the one database, for statements and, with half of the connections at most, for the ORM. Throws when it cannot be reached. */
export async function openDatabase({
  url,
  entities,
  log,
  poolSize = 20,
  connectTimeoutMs = CONNECT_TIMEOUT_MS,
  pulse,
}: DatabaseOptions): Promise<Database> {
  const pool = openPool({ url, log, poolSize, connectTimeoutMs, pulse });
  try {
    const orm = await MikroORM.init({
      clientUrl: url,
      entities,
      driverOptions: new PostgresDialect({ pool: partOf(pool, Math.max(1, Math.floor(poolSize / 2)), connectTimeoutMs) }),
      discovery: { warnWhenNoEntities: false },
      metadataCache: { enabled: false },
      logger: (message) => log.debug({ orm: message }, 'orm'),
      colors: false,
    });
    await pool.query('select 1'); // Nothing connects before its first use; a wrong URL should be known now.
    return {
      orm,
      pool,
      close: async () => {
        await orm.close();
        await pool.end();
      },
    };
  } catch (cause) {
    await pool.end();
    throw new Error(`The database cannot be opened: ${cause instanceof Error ? cause.message : cause}`, { cause });
  }
}

interface PoolOptions {
  readonly url: string;
  readonly log: Log;
  readonly poolSize: number;
  /** Schemas in which tables are looked for, in order. Default: the database's own. */
  readonly searchPath?: string;
  /** How long a query waits for a connection, milliseconds. */
  readonly connectTimeoutMs?: number | undefined;
  /** Ends connections to a server that has become silent. */
  readonly pulse?: ServerPulse | undefined;
}

/** A pool of plain connections with exact types: no integer becomes a float and no date a local midnight. */
export function openPool({ url, log, poolSize, searchPath, connectTimeoutMs = CONNECT_TIMEOUT_MS, pulse }: PoolOptions): pg.Pool {
  const types = new pg.TypeOverrides();
  types.setTypeParser(pg.types.builtins.INT8, BigInt);
  types.setTypeParser(pg.types.builtins.DATE, String);
  const pool = new pg.Pool({
    connectionString: url,
    max: poolSize,
    types,
    keepAlive: true,
    connectionTimeoutMillis: connectTimeoutMs,
    application_name: 'tallygate',
    ...(pulse && { Client: pulse.Client }),
    ...(searchPath !== undefined && { options: `-c search_path=${searchPath}` }),
  });
  // A connection that breaks is replaced at the next use; unheard, its error would end the process. The pool hears of idle ones
  // only, and of one that is lent out, between two statements of a transaction say, nobody would.
  pool.on('connect', (client) => client.on('error', (failure) => log.warn({ err: failure }, 'a database connection broke')));
  pool.on('error', () => {});
  // A statement without a transaction is one by itself, and is ended by PostgreSQL for the sake of others as those are.
  const { query } = pool;
  return Object.assign(pool, { query: (...of: unknown[]) => repeatCollisions(async () => Reflect.apply(query, pool, of)) });
}
