import { MikroORM, type Options } from '@mikro-orm/postgresql';
import pg from 'pg';
import type { Log } from '../../kernel/log.ts';
import type { Database } from './port.ts';

interface DatabaseOptions {
  /** `postgresql://…`; the schema must have been migrated already. */
  url: string;
  entities: NonNullable<Options['entities']>;
  log: Log;
  /** Most connections of each of the two pools. Default 10. */
  poolSize?: number;
}

/** Opens both ways to the one database. Throws when it cannot be reached. */
export async function openDatabase({ url, entities, log, poolSize = 10 }: DatabaseOptions): Promise<Database> {
  const pool = openPool({ url, log, poolSize });
  try {
    const orm = await MikroORM.init({
      clientUrl: url,
      entities,
      pool: { min: 0, max: poolSize },
      discovery: { warnWhenNoEntities: false },
      metadataCache: { enabled: false },
      logger: (message) => log.debug({ orm: message }, 'orm'),
      colors: false,
    });
    await pool.query('select 1'); // MikroORM connects on first use; a wrong URL should be known now.
    return {
      orm,
      pool,
      close: async () => {
        await Promise.all([orm.close(), pool.end()]);
      },
    };
  } catch (cause) {
    await pool.end();
    throw new Error(`The database cannot be opened: ${cause instanceof Error ? cause.message : cause}`, { cause });
  }
}

/** A pool of plain connections with exact types: no integer becomes a float and no date a local midnight. */
export function openPool({ url, log, poolSize }: { url: string; log: Log; poolSize: number }): pg.Pool {
  const types = new pg.TypeOverrides();
  types.setTypeParser(pg.types.builtins.INT8, BigInt);
  types.setTypeParser(pg.types.builtins.DATE, String);
  const pool = new pg.Pool({
    connectionString: url,
    max: poolSize,
    types,
    keepAlive: true,
    connectionTimeoutMillis: 10_000,
    application_name: 'tallygate',
  });
  // A connection that breaks is replaced at the next use; unheard, its error would end the process. The pool hears of idle ones
  // only, and of one that is lent out, between two statements of a transaction say, nobody would.
  pool.on('connect', (client) => client.on('error', (failure) => log.warn({ err: failure }, 'a database connection broke')));
  pool.on('error', () => {});
  return pool;
}
