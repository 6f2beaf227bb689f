import type { EntityManager } from '@mikro-orm/postgresql';
import type { Pool } from 'pg';
import { identityEntities } from '../access/identity/index.ts';
import { keyEntities } from '../access/keys/index.ts';
import type { BlobStore } from '../adapters/blobs/port.ts';
import { openDatabase } from '../adapters/postgres/database.ts';
import { startEmbeddedPostgres } from '../adapters/postgres/embedded-postgres.ts';
import { ServerPulse } from '../adapters/postgres/server-pulse.ts';
import { Archive } from '../archive/index.ts';
import type { Clock } from '../kernel/clock.ts';
import type { Log } from '../kernel/log.ts';
import { openBlobs } from './blobs.ts';
import type { Closing } from './closing.ts';
import type { Config } from './config.ts';
import { type DataDir, dataDirOfAuthority, openDataDir } from './data-dir.ts';
import { keepTime } from './keep-time.ts';
import { createMetrics, type Metrics } from './metrics.ts';
import { migrate } from './migrate.ts';
import { migrations } from './migrations/index.ts';
import { openRedis, type SharedRedis } from './shared-redis.ts';
import { beSoleGateway } from './sole-gateway.ts';
import type { AuthorityLink } from './workers/authority-link.ts';

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
  /** Of a worker: the process that has started it, and does for it what only one process may do. Undefined: this one does. */
  readonly authority: AuthorityLink | undefined;
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
  readonly rawBlobs: BlobStore;
  /** Not sealed: what is in it was not in the database either. */
  readonly archive: Archive;
  readonly metrics: Metrics;
  /** By how much the time of day, or the database's clock, is ahead of `clock`; negative where it is behind. */
  readonly clockDifferenceMs: () => number;
}

/** Data directory, Redis and a migrated database, each locked against a second owner: by this process, or by the one that has started it. */
export async function openFoundation(process: Process): Promise<Foundation> {
  const { authority } = process;
  const base = authority ? baseOfAuthority(process, authority) : await openBase(process);
  return openOn(base, process);
}

/** What is locked. */
type Base = Pick<Foundation, 'dataDir' | 'redis' | 'databaseUrl'>;

function baseOfAuthority({ config, closing }: Process, authority: AuthorityLink): Base {
  closing.add('link to the authority', async () => authority.close());
  return { dataDir: dataDirOfAuthority(config.dataDir), redis: undefined, databaseUrl: authority.welcome.databaseUrl };
}

async function openBase(process: Process): Promise<Base> {
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
  return { dataDir, redis, databaseUrl };
}

async function openOn({ dataDir, redis, databaseUrl }: Base, process: Process): Promise<Foundation> {
  const { config, log, closing } = process;
  const pulse = new ServerPulse(databaseUrl);
  const database = await openDatabase({ url: databaseUrl, entities: [...identityEntities, ...keyEntities], log, pulse });
  closing.add('database', async () => {
    await database.close();
    pulse.close();
  });
  const clockDifferenceMs = await keepTime(process, database.pool);
  const rawBlobs = await openBlobs({ folder: dataDir.file('blobs'), bucket: config.bucket, log, closing });
  // Alone with its folder: what an earlier process was storing there will never be finished.
  if (!redis && !process.authority && !config.bucket) await rawBlobs.sweepUnfinished(new Date());
  return {
    ...process,
    rawBlobs,
    archive: new Archive(database.pool, rawBlobs),
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

/** Connections that a worker may open, its queue's and its listener's among them. */
const CONNECTIONS_PER_WORKER = 32;

async function startEmbedded(dir: string, { config, log, closing, onFatal }: Process): Promise<string> {
  const settings = config.workers > 1 ? { max_connections: `${200 + config.workers * CONNECTIONS_PER_WORKER}` } : {};
  const postgres = await startEmbeddedPostgres({ dir, log, onGone: onFatal, settings });
  closing.add('embedded PostgreSQL', () => postgres.stop());
  return postgres.url;
}
