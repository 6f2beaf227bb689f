import cluster, { type Worker } from 'node:cluster';
import { once } from 'node:events';
import { Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import type { LaneAuthority } from '../../adapters/lanes/authority/lane-authority.ts';
import { laneOperations } from '../../adapters/lanes/authority/remote-lanes.ts';
import { freePort } from '../../kernel/free-port.ts';
import type { Log } from '../../kernel/log.ts';
import { Calls } from '../../kernel/process-calls.ts';
import type { Bootstrap } from '../bootstrap.ts';
import type { Config } from '../config.ts';
import type { Addresses } from '../listeners.ts';
import type { ProcessMetrics } from '../metrics.ts';
import { LINK_FD } from './authority-link.ts';
import type { AuthorityOperations, WorkerOperations } from './operations.ts';
import { endUntaken } from './untaken-connections.ts';

const FIRST_DELAY_MS = 100;
const LONGEST_DELAY_MS = 30_000;
/** A worker that has served for so long did not die of its start. */
const STABLE_MS = 10_000;
/** How long a worker has for its figures: a reading of the metrics goes on without one that is busy or dies. */
const METRICS_MS = 1_000;

interface FleetDeps {
  readonly count: number;
  readonly config: Pick<Config, 'host' | 'port' | 'dedicated' | 'operations'>;
  readonly lanes: LaneAuthority;
  /** What is the same for all workers. */
  readonly operations: Omit<AuthorityOperations, keyof ReturnType<typeof laneOperations> | 'listening'>;
  readonly log: Log;
  /** How long a worker that is told to stop may take; then it is killed. */
  readonly stopMs: number;
}

type Ports = Readonly<Record<string, string>>;

/** Where any free port is wanted it is chosen here: workers that each chose one would not have the same. */
async function portsOf({ host, port, dedicated, operations }: FleetDeps['config']): Promise<Ports> {
  const chosen = async (wanted: number, at = host) => String(wanted === 0 ? await freePort(at) : wanted);
  return {
    PORT: await chosen(port),
    ...(dedicated && { ENTERPRISE_PORT: await chosen(dedicated.port) }),
    ...(operations && { OPERATIONS_PORT: await chosen(operations.port, operations.host) }),
  };
}

/** A worker that listens. */
interface Member {
  readonly calls: Calls<WorkerOperations>;
}

/**
 * The processes that serve requests: children of this one, which accepts their connections and deals them out in turn, and does for them whatever
 * only one process may do. One that dies is started again.
 */
export class Fleet {
  readonly #deps: FleetDeps;
  readonly #members = new Set<Member>();
  readonly #seats: Promise<void>[] = [];
  readonly #stopping = new AbortController();
  #bootstrap: Bootstrap | undefined;
  /** Where they listen, as their environment names it: those that are started later listen at the same. */
  #ports: Ports = {};

  constructor(deps: FleetDeps) {
    this.#deps = deps;
    cluster.schedulingPolicy = cluster.SCHED_RR;
    cluster.setupPrimary({ stdio: ['inherit', 'inherit', 'inherit', 'ipc', 'pipe'] });
  }

  /** @returns where they listen, all of them at the same addresses @throws where one of them cannot start */
  async start(): Promise<Addresses> {
    this.#ports = await portsOf(this.#deps.config);
    const listening = Array.from({ length: this.#deps.count }, () => {
      const { promise, resolve, reject } = Promise.withResolvers<Addresses>();
      this.#seats.push(this.#keepSeat(resolve, reject));
      return promise;
    });
    const [addresses] = await Promise.all(listening);
    if (!addresses) throw new Error('A gateway has one worker at least');
    return addresses;
  }

  /** From now on they are ready, and so is each that is started again. */
  serve(bootstrap: Bootstrap): void {
    this.#bootstrap = bootstrap;
    for (const { calls } of this.#members) calls.call('serve', bootstrap).catch(() => {});
  }

  /** The figures of all that listen. */
  async metrics(): Promise<readonly ProcessMetrics[]> {
    const read = [...this.#members].map(({ calls }) =>
      Promise.race([calls.call('metrics'), delay(METRICS_MS, undefined, { ref: false })]).catch(() => undefined),
    );
    return (await Promise.all(read)).filter((metrics) => metrics !== undefined);
  }

  /** Lets them answer what is running, and stop. */
  async close(): Promise<void> {
    this.#stopping.abort();
    await Promise.all(this.#seats);
  }

  /** One worker after the other, until this process stops. */
  async #keepSeat(onListening: (addresses: Addresses) => void, onFailed: (error: Error) => void): Promise<void> {
    let hasListened = false;
    let delayMs = FIRST_DELAY_MS;
    while (!this.#stopping.signal.aborted) {
      const startedAt = performance.now();
      const ended = await this.#run((addresses) => {
        hasListened = true;
        onListening(addresses);
      });
      if (this.#stopping.signal.aborted) return;
      if (!hasListened) return onFailed(new Error(`A worker did not start (${ended}): what it said is above`));
      if (performance.now() - startedAt >= STABLE_MS) delayMs = FIRST_DELAY_MS;
      this.#deps.log.error({ ended, againInMs: delayMs }, 'a worker has ended and is started again');
      await delay(delayMs, undefined, { signal: this.#stopping.signal }).catch(() => {});
      delayMs = Math.min(2 * delayMs, LONGEST_DELAY_MS);
    }
  }

  /** A worker from its start to its end. @returns how it ended */
  async #run(onListening: (addresses: Addresses) => void): Promise<string> {
    const worker = cluster.fork(this.#ports);
    endUntaken(worker);
    const stop = () => void this.#stop(worker);
    this.#stopping.signal.addEventListener('abort', stop);
    const exit = once(worker, 'exit');
    this.#join(worker, onListening);
    const [code, signal] = await exit;
    this.#stopping.signal.removeEventListener('abort', stop);
    return signal ?? `exit code ${code}`;
  }

  #join(worker: Worker, onListening: (addresses: Addresses) => void): void {
    const stream = worker.process.stdio[LINK_FD];
    if (!(stream instanceof Socket)) throw new Error('A worker has no link to its authority');
    const { lanes, operations, log } = this.#deps;
    const holds = lanes.worker();
    const listening = (addresses: Addresses): void => {
      this.#members.add(member);
      log.info({ worker: worker.process.pid }, 'a worker is listening');
      onListening(addresses);
      if (this.#bootstrap) calls.call('serve', this.#bootstrap).catch(() => {});
    };
    const calls = new Calls<WorkerOperations>(stream, { ...operations, ...laneOperations(holds), listening }, () => {
      this.#members.delete(member);
      void lanes.end(holds);
    });
    const member: Member = { calls };
  }

  async #stop(worker: Worker): Promise<void> {
    worker.process.kill('SIGTERM');
    const ended = once(worker, 'exit').catch(() => {});
    await Promise.race([ended, delay(this.#deps.stopMs, undefined, { ref: false })]);
    if (!worker.isDead()) worker.process.kill('SIGKILL');
  }
}
