import { setTimeout as delay } from 'node:timers/promises';
import type { Log } from '../../kernel/log.ts';
import type { Cluster } from './cluster.ts';
import { guardAgainstOrphans, type OrphanGuard } from './orphan-guard.ts';
import { findPostmaster, launchPostmaster, type Postmaster, seemsAlive, stopPostmaster } from './postmaster.ts';
import type { Programs } from './programs.ts';
import { boundLog } from './server-log.ts';

export const START_TIMEOUT_MS = 120_000; // crash recovery after a power cut may take a while
const LOOK_MS = 1_000;
const LOG_CHECK_MS = 3_600_000;

interface OwnerDeps {
  readonly cluster: Cluster;
  readonly programs: Programs;
  /** Server settings of the postmasters that it launches. */
  readonly settings: Readonly<Record<string, string>>;
  readonly orphanGraceMs: number;
  /** How long to wait before each try to start a dead postmaster again. */
  readonly restartDelaysMs: readonly number[];
  readonly log: Log | undefined;
  readonly onGone: (() => void) | undefined;
}

/**
 * The postmaster that this process answers for, launched or adopted. It is looked at every second; one that is gone without
 * `stop()` is started again on the same port, so that everybody who has the URL reconnects and nobody needs a new one.
 */
export class OwnedPostmaster {
  readonly #deps: OwnerDeps;
  readonly #stopping = new AbortController();
  readonly #watch: NodeJS.Timeout;
  readonly #logCheck: NodeJS.Timeout;
  #postmaster: Postmaster;
  #guard: OrphanGuard;
  #restart: Promise<void> | undefined;
  #stopped: Promise<void> | undefined;

  constructor(deps: OwnerDeps, postmaster: Postmaster) {
    this.#deps = deps;
    this.#postmaster = postmaster;
    this.#guard = guardAgainstOrphans(deps.cluster, postmaster, deps.orphanGraceMs);
    this.#watch = setInterval(() => this.#look(), LOOK_MS).unref();
    this.#logCheck = setInterval(() => this.#boundLog(), LOG_CHECK_MS).unref();
  }

  /** Fast shutdown, of a restart under way too; resolves when the postmaster is gone. Calling it again waits for the same end. */
  stop(): Promise<void> {
    this.#stopped ??= this.#stop();
    return this.#stopped;
  }

  async #stop(): Promise<void> {
    clearInterval(this.#watch);
    clearInterval(this.#logCheck);
    this.#stopping.abort();
    await this.#restart;
    await stopPostmaster(this.#deps.cluster, this.#deps.programs, this.#postmaster);
    this.#guard.dismiss();
  }

  /** On a full disk it fails, which must not end the gateway. */
  #boundLog(): void {
    try {
      boundLog(this.#deps.cluster.logFile);
    } catch (error) {
      this.#deps.log?.warn({ err: error }, "embedded PostgreSQL's log cannot be kept small");
    }
  }

  #look(): void {
    if (this.#restart || seemsAlive(this.#deps.cluster, this.#postmaster)) return;
    const { pid, port } = this.#postmaster;
    this.#deps.log?.error({ pid, port }, 'embedded PostgreSQL is gone; starting it again');
    this.#restart = this.#startAgain().finally(() => {
      this.#restart = undefined;
    });
  }

  /** Never rejects: when no try succeeds, `onGone` is told. */
  async #startAgain(): Promise<void> {
    const { cluster, restartDelaysMs, orphanGraceMs, log, onGone } = this.#deps;
    const { signal } = this.#stopping;
    for (const delayMs of restartDelaysMs) {
      await delay(delayMs, undefined, { signal }).catch(() => {});
      if (signal.aborted) return;
      try {
        // Who took the lease meanwhile answers for the cluster now: it may have been stopped on purpose.
        if (!this.#guard.isLeaseHeld()) break;
        const postmaster = await this.#launchOrFind();
        this.#postmaster = postmaster;
        this.#guard.dismiss();
        this.#guard = guardAgainstOrphans(cluster, postmaster, orphanGraceMs);
        log?.info({ pid: postmaster.pid, port: postmaster.port }, 'embedded PostgreSQL is running again');
        return;
      } catch (failure) {
        if (!signal.aborted) log?.warn({ err: failure }, 'embedded PostgreSQL did not start again');
      }
    }
    if (signal.aborted) return;
    clearInterval(this.#watch);
    log?.fatal({ port: this.#postmaster.port }, 'embedded PostgreSQL is permanently gone');
    onGone?.();
  }

  async #launchOrFind(): Promise<Postmaster> {
    const { cluster, programs, settings } = this.#deps;
    const { port } = this.#postmaster;
    const { signal } = this.#stopping;
    const deadline = Date.now() + START_TIMEOUT_MS;
    const running = await findPostmaster(cluster, deadline, signal);
    if (running && running.port !== port) throw new Error(`Another process started PostgreSQL in ${cluster.data} on port ${running.port}.`);
    if (running) return running;
    const launch = await launchPostmaster(cluster, programs, { settings, port, deadline, signal });
    if (!launch.started) throw new Error(`PostgreSQL did not start in ${cluster.data}: ${launch.said}`);
    return launch.postmaster;
  }
}
