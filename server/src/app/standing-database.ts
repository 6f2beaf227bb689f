import { join } from 'node:path';
import { identityEntities } from '../access/identity/index.ts';
import { keyEntities } from '../access/keys/index.ts';
import { openDatabase } from '../adapters/postgres/database.ts';
import { findEmbeddedPostgres, hasEmbeddedPostgres, startEmbeddedPostgres } from '../adapters/postgres/embedded-postgres.ts';
import type { Database } from '../adapters/postgres/port.ts';
import type { Log } from '../kernel/log.ts';
import type { Closing } from './closing.ts';
import type { Config } from './config.ts';
import { DataDirInUse, openDataDir } from './data-dir.ts';

interface StandingDatabaseDeps {
  readonly config: Pick<Config, 'databaseUrl' | 'dataDir'>;
  readonly log: Log;
  readonly closing: Closing;
}

/** Neither `DATABASE_URL` nor a database in the data directory. */
export class NoDatabase extends Error {
  override readonly name = 'NoDatabase';

  constructor(dataDir: string) {
    super(`There is no running or stopped database of a gateway in ${dataDir}. Set DATABASE_URL or DATA_DIR as the gateway has them.`);
  }
}

/**
 * The gateway's database for a command of the operator, whether the gateway runs or not: `DATABASE_URL`, the embedded database of the gateway
 * that runs in `DATA_DIR`, or, if none runs, that database, started for the duration of the command.
 * @throws NoDatabase when the data directory holds none: a mistyped one must not become a new, empty gateway
 */
export async function openStandingDatabase({ config, log, closing }: StandingDatabaseDeps): Promise<Database> {
  const url = config.databaseUrl ?? (await embeddedUrl(config.dataDir, log, closing));
  const database = await openDatabase({ url, entities: [...identityEntities, ...keyEntities], log });
  closing.add('database', () => database.close());
  return database;
}

async function embeddedUrl(dataDir: string, log: Log, closing: Closing): Promise<string> {
  const dir = join(dataDir, 'postgres');
  if (!hasEmbeddedPostgres(dir)) throw new NoDatabase(dataDir);
  try {
    // The lock shows whether a gateway runs, and prevents one from starting meanwhile.
    const held = openDataDir(dataDir);
    closing.add('data directory', async () => held.release());
  } catch (failure) {
    if (!(failure instanceof DataDirInUse)) throw failure;
    const url = await findEmbeddedPostgres(dir);
    if (url === undefined) throw new NoDatabase(dataDir);
    return url;
  }
  const postgres = await startEmbeddedPostgres({ dir, log });
  closing.add('embedded PostgreSQL', () => postgres.stop());
  return postgres.url;
}
