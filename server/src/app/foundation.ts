import type { EntityManager } from '@mikro-orm/postgresql';
import type { Pool } from 'pg';
import { identityEntities } from '../access/identity/index.ts';
import { keyEntities } from '../access/keys/index.ts';
import { openLocalDisk } from '../adapters/blobs/local-disk.ts';
import type { BlobStore } from '../adapters/blobs/port.ts';
import { openDatabase } from '../adapters/postgres/database.ts';
import { startEmbeddedPostgres } from '../adapters/postgres/embedded-postgres.ts';
import { ServerPulse } from '../adapters/postgres/server-pulse.ts';
import { Archive } from '../archive/index.ts';
import type { Clock } from '../kernel/clock.ts';
import type { Log } from '../kernel/log.ts';
import type { Closing } from './closing.ts';
import type { Config } from './config.ts';
import { type DataDir, openDataDir } from './data-dir.ts';
import { keepTime } from './keep-time.ts';
import { createMetrics, type Metrics } from './metrics.ts';
import { migrate } from './migrate.ts';
import { migrations } from './migrations/index.ts';
import { openRedis, type SharedRedis } from './shared-redis.ts';
import { beSoleGateway } from './sole-gateway.ts';

/** The base of every part of the process. */
export interface Process {
  readonly config: Config;
  readonly log: Log;
  readonly clock: Clock;
  /** Milliseconds that only go forward, as `steadyMs`. */
  readonly steady: () => number;
  readonly closing: Closing;
  /** Ends the process: what it lost it cannot go on without. */
  readonly onFatal: () => void;
}

export interface Foundation extends Process {
  readonly dataDir: DataDir;
  /** Undefined where this is the only gateway of its database. */
  readonly redis: SharedRedis | undefined;
  readonly databaseUrl: string;
  /** Whether PostgreSQL answers. */
  readonly pulse: ServerPulse;
  readonly pool: Pool;
  readonly em: EntityManager;
  /** Where blobs are, sealed or not. */
  readonly disk: BlobStore;
  /** Not sealed: what is in it was not in the database either. */
  readonly archive: Archive;
  readonly metrics: Metrics;
  /** By how much the time of day, or the database's clock, is ahead of `clock`; negative where it is behind. */
  readonly clockDifferenceMs: () => number;
}

/** Data directory, Redis and a migrated database, each locked against a second owner. */
export async function openFoundation(process: Process): Promise<Foundation> {
  const { config, log, closing, onFatal } = process;
  // The folder first: it refuses a second server before anything of the first one's is touched.
  const dataDir = openDataDir(config.dataDir);
  closing.add('data directory', async () => dataDir.release());

  // Before the database is locked: that lock is shared by all whose lanes are in Redis.
  const redis = config.redisUrl === undefined ? undefined : await openRedis(config.redisUrl, log, closing);
  const databaseUrl = config.databaseUrl ?? (await startEmbedded(dataDir.file('postgres'), process));
  // The embedded one too: another gateway's DATABASE_URL may point at it.
  const sole = await beSoleGateway({
    url: databaseUrl,
    log,
    onLost: onFatal,
    isEmbedded: config.databaseUrl === undefined,
    mayShare: redis !== undefined,
  });
  closing.add('gateway lock', () => sole.release());
  await migrate(databaseUrl, migrations, log);
  const pulse = new ServerPulse(databaseUrl);
  const database = await openDatabase({ url: databaseUrl, entities: [...identityEntities, ...keyEntities], log, pulse });
  closing.add('database', async () => {
    await database.close();
    pulse.close();
  });
  const clockDifferenceMs = await keepTime(process, database.pool);
  const disk = await openLocalDisk(dataDir.file('blobs'));
  return {
    ...process,
    disk,
    archive: new Archive(database.pool, disk),
    clockDifferenceMs,
    dataDir,
    redis,
    databaseUrl,
    pulse,
    pool: database.pool,
    em: database.orm.em,
    metrics: createMetrics(),
  };
}

async function startEmbedded(dir: string, { log, closing, onFatal }: Process): Promise<string> {
  const postgres = await startEmbeddedPostgres({ dir, log, onGone: onFatal });
  closing.add('embedded PostgreSQL', () => postgres.stop());
  return postgres.url;
}
