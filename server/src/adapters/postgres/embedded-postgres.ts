import { setTimeout as delay } from 'node:timers/promises';
import type { Log } from '../../kernel/log.ts';
import { type Cluster, hasCluster, openCluster } from './cluster.ts';
import { OwnedPostmaster, START_TIMEOUT_MS } from './owned-postmaster.ts';
import { findPostmaster, launchPostmaster, type Postmaster, urlOf } from './postmaster.ts';
import { findPrograms, type Programs } from './programs.ts';

const RETRY_MS = 250;
/** Half a minute in all: the backends of a killed postmaster may need a while to leave, and a port or memory to become free. */
const RESTART_DELAYS_MS = [0, 250, 500, 1_000, 2_000, 4_000, 8_000, 16_000];

const SETTINGS = {
  listen_addresses: '127.0.0.1',
  unix_socket_directories: '',
  max_connections: '200',
  // The log is for the operator of the server, not for customers' data: no statements, no values of violated keys.
  log_min_error_statement: 'panic',
  log_error_verbosity: 'terse',
  log_checkpoints: 'off',
};

interface EmbeddedPostgresOptions {
  /** A folder for this alone; created with mode 0700. Data and password in `cluster/`, the log in `postgres.log`. */
  dir: string;
  log?: Log;
  /** Further server settings, e.g. `{ fsync: 'off' }` for a throwaway database. Only a postmaster launched by this call takes them. */
  settings?: Record<string, string>;
  /** How long an orphaned postmaster waits to be adopted before it is shut down. Default: five minutes. */
  orphanGraceMs?: number;
  /** A postmaster that died could not be started again, or another process took over the folder: the URL will not answer any more. */
  onGone?: () => void;
  /** How long to wait before each try to start a dead postmaster again. Default: eight tries within half a minute. */
  restartDelaysMs?: readonly number[];
}

export interface EmbeddedPostgres {
  /** The superuser's connection URL, password included. */
  readonly url: string;
  /** Fast shutdown; resolves when the postmaster is gone, and it stays gone. Calling it again does nothing. */
  stop(): Promise<void>;
}

/**
 * PostgreSQL without a service to install, on a random port of 127.0.0.1. A postmaster that an earlier process left behind
 * (`kill -9`) is adopted, a dead one is replaced and recovers, also when it dies later: then on the same port. One process at a time may own a folder: `stop()` stops the
 * database for everybody. Throws when the platform has no binaries or PostgreSQL does not start.
 */
export async function startEmbeddedPostgres(options: EmbeddedPostgresOptions): Promise<EmbeddedPostgres> {
  const deadline = Date.now() + START_TIMEOUT_MS;
  const programs = await findPrograms();
  const cluster = await openCluster(options.dir, programs);
  const settings = { ...SETTINGS, ...options.settings };
  const postmaster = await findOrLaunch(cluster, programs, settings, deadline);
  const { log, onGone, orphanGraceMs = 300_000, restartDelaysMs = RESTART_DELAYS_MS } = options;
  log?.info({ pid: postmaster.pid, port: postmaster.port, data: cluster.data }, 'embedded PostgreSQL is running');
  const owned = new OwnedPostmaster({ cluster, programs, settings, orphanGraceMs, restartDelaysMs, log, onGone }, postmaster);
  return { url: urlOf(cluster, postmaster), stop: () => owned.stop() };
}

/** Whether there is a database in that folder, running or not. */
export const hasEmbeddedPostgres = (dir: string): boolean => hasCluster(dir);

/** The URL of the database that another process runs in that folder; one that is starting is waited for. Undefined when none runs. */
export async function findEmbeddedPostgres(dir: string): Promise<string | undefined> {
  const cluster = await openCluster(dir, await findPrograms());
  const running = await findPostmaster(cluster, Date.now() + START_TIMEOUT_MS);
  return running && urlOf(cluster, running);
}

async function findOrLaunch(cluster: Cluster, programs: Programs, settings: Record<string, string>, deadline: number): Promise<Postmaster> {
  for (;;) {
    const running = await findPostmaster(cluster, deadline);
    if (running) return running;
    const launch = await launchPostmaster(cluster, programs, { settings, deadline });
    if (launch.started) return launch.postmaster;
    if (!launch.mayRetry || Date.now() > deadline) throw new Error(`PostgreSQL did not start in ${cluster.data}: ${launch.said}`);
    await delay(RETRY_MS);
  }
}
