import { setTimeout as delay } from 'node:timers/promises';
import type { Log } from '../../kernel/log.ts';
import { type Cluster, openCluster } from './cluster.ts';
import { guardAgainstOrphans } from './orphan-guard.ts';
import { findPostmaster, launchPostmaster, type Postmaster, stopPostmaster, urlOf } from './postmaster.ts';
import { findPrograms, type Programs } from './programs.ts';
import { boundLog } from './server-log.ts';

const START_TIMEOUT_MS = 120_000; // crash recovery after a power cut may take a while
const RETRY_MS = 250;
const LOG_CHECK_MS = 3_600_000;

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
}

export interface EmbeddedPostgres {
  /** The superuser's connection URL, password included. */
  readonly url: string;
  /** Fast shutdown; resolves when the postmaster is gone. Calling it again does nothing. */
  stop(): Promise<void>;
}

/**
 * PostgreSQL without a service to install, on a random port of 127.0.0.1. A postmaster that an earlier process left behind
 * (`kill -9`) is adopted, a dead one is replaced and recovers. One process at a time may own a folder: `stop()` stops the
 * database for everybody. Throws when the platform has no binaries or PostgreSQL does not start.
 */
export async function startEmbeddedPostgres(options: EmbeddedPostgresOptions): Promise<EmbeddedPostgres> {
  const deadline = Date.now() + START_TIMEOUT_MS;
  const programs = await findPrograms();
  const cluster = await openCluster(options.dir, programs);
  const postmaster = await findOrLaunch(cluster, programs, { ...SETTINGS, ...options.settings }, deadline);
  options.log?.info({ pid: postmaster.pid, port: postmaster.port, data: cluster.data }, 'embedded PostgreSQL is running');
  return own(cluster, programs, postmaster, options.orphanGraceMs ?? 300_000);
}

async function findOrLaunch(cluster: Cluster, programs: Programs, settings: Record<string, string>, deadline: number): Promise<Postmaster> {
  for (;;) {
    const running = await findPostmaster(cluster, deadline);
    if (running) return running;
    const launch = await launchPostmaster(cluster, programs, settings, deadline);
    if (launch.started) continue;
    if (!launch.mayRetry || Date.now() > deadline) throw new Error(`PostgreSQL did not start in ${cluster.data}: ${launch.said}`);
    await delay(RETRY_MS);
  }
}

function own(cluster: Cluster, programs: Programs, postmaster: Postmaster, graceMs: number): EmbeddedPostgres {
  const dismissGuard = guardAgainstOrphans(cluster, postmaster, graceMs);
  const logCheck = setInterval(() => boundLog(cluster.logFile), LOG_CHECK_MS).unref();
  let stopped: Promise<void> | undefined;
  const stop = async () => {
    clearInterval(logCheck);
    await stopPostmaster(cluster, programs, postmaster);
    dismissGuard();
  };
  return {
    url: urlOf(cluster, postmaster),
    stop: () => {
      stopped ??= stop();
      return stopped;
    },
  };
}
