import { execFile } from 'node:child_process';
import { existsSync, globSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { promisify } from 'node:util';
import type { CutOff } from '../cut-off.ts';
import type { Draws } from '../random.ts';
import { flush, passTime, rememberFiles } from './redis.ts';
import type { Service, Topology } from './service.ts';

const run = promisify(execFile);

export interface Fault {
  readonly name: string;
  /** Where it can happen. */
  readonly in: readonly Topology[];
  /** Of the service: a clock that can be set. */
  readonly needsClock?: true;
  /** Of the service: a PostgreSQL that can be killed. */
  readonly needsPostgres?: true;
  /** Ends a process whose holds wait for ten minutes until they are settled. */
  readonly leavesDoubt?: true;
  /** Breaks it and mends it again, but for gateways that have ended: they are started again by `heal`. */
  strike(service: Service, draws: Draws): Promise<void>;
}

const EVERYWHERE: readonly Topology[] = ['alone', 'single', 'sentinel', 'cluster'];
const OVER_REDIS: readonly Topology[] = ['single', 'sentinel', 'cluster'];
const ALONE: readonly Topology[] = ['alone'];
const SINGLE: readonly Topology[] = ['single'];
/** Longer than the lease of a hold. */
const LONG_MS = [32_000, 45_000] as const;

/** Mostly short; now and then longer than a lease. */
const duration = (draws: Draws): number => (draws.happens(0.06) ? draws.between(...LONG_MS) : draws.between(200, 3_000));

const anyNode = async ({ redis }: Service, draws: Draws) => {
  if (!redis) throw new Error('There is no Redis');
  return draws.oneOf(await redis.nodes());
};

function signalAll(pids: readonly number[], signal: NodeJS.Signals): void {
  for (const pid of pids) {
    try {
      process.kill(pid, signal);
    } catch {
      // It has ended meanwhile.
    }
  }
}

async function stopFor(pids: readonly number[], ms: number): Promise<void> {
  signalAll(pids, 'SIGSTOP');
  await pause(ms);
  signalAll(pids, 'SIGCONT');
}

const cutFor = async (way: CutOff | undefined, draws: Draws): Promise<void> => {
  way?.cut();
  await pause(duration(draws));
  way?.open();
};

const stallFor = async (way: CutOff | undefined, draws: Draws): Promise<void> => {
  way?.stall();
  await pause(duration(draws));
  way?.open();
};

/** Every write to a file fails, as on a disk that is full; `prlimit` (util-linux) does it to a process that runs. */
async function fillDisk({ last }: Service, draws: Draws): Promise<void> {
  const limit = (bytes: string) => run('prlimit', ['--pid', `${last.process.pid}`, `--fsize=${bytes}:unlimited`]);
  await limit('1');
  await pause(draws.between(200, 3_000));
  await limit('unlimited');
}

async function failOver({ redis }: Service, draws: Draws): Promise<void> {
  await redis?.watched?.severReplica();
  await pause(draws.between(50, 800));
  await redis?.watched?.failOver();
}

async function setBackRedis(service: Service, draws: Draws): Promise<void> {
  const node = await anyNode(service, draws);
  const older = rememberFiles(node);
  await pause(draws.between(100, 1_000));
  await older.restore();
  older.forget();
}

async function setClock(service: Service, draws: Draws, offsets: readonly string[]): Promise<void> {
  service.setClock(draws.oneOf(offsets));
  await pause(draws.between(1_500, 3_000));
  service.setClock('+0');
}

export const FAULTS: readonly Fault[] = [
  { name: 'nothing', in: EVERYWHERE, strike: (_service, draws) => pause(draws.between(100, 1_500)) },
  {
    name: 'gateway-stop',
    in: EVERYWHERE,
    strike: ({ last }, draws) => stopFor([last.process.pid ?? 0], duration(draws)),
  },
  {
    name: 'machine-suspend',
    in: ALONE,
    needsPostgres: true,
    strike: (service, draws) => stopFor([service.last.process.pid ?? 0, ...service.postgresProcesses()], duration(draws)),
  },
  { name: 'gateway-kill', in: EVERYWHERE, leavesDoubt: true, strike: async ({ last }) => void (await last.kill()) },
  {
    name: 'gateway-gone',
    in: OVER_REDIS,
    leavesDoubt: true,
    strike: async ({ last }) => {
      await last.kill();
      rmSync(join(last.dataDir, 'journal'), { recursive: true, force: true });
    },
  },
  { name: 'gateway-restart', in: EVERYWHERE, strike: async ({ last }) => void (await last.stop()) },
  {
    name: 'redis-stop',
    in: OVER_REDIS,
    strike: async (service, draws) => {
      const node = await anyNode(service, draws);
      node.pause();
      await pause(duration(draws));
      node.resume();
    },
  },
  {
    name: 'redis-kill',
    in: OVER_REDIS,
    strike: async (service, draws) => {
      const node = await anyNode(service, draws);
      await node.kill();
      await pause(draws.between(50, 2_000));
      await node.start();
    },
  },
  { name: 'redis-flush', in: OVER_REDIS, strike: async (service, draws) => void (await flush(await anyNode(service, draws))) },
  { name: 'redis-older', in: ['single', 'cluster'], strike: setBackRedis },
  { name: 'redis-failover', in: ['sentinel'], strike: failOver },
  {
    name: 'redis-clock',
    in: OVER_REDIS,
    strike: async ({ redis }, draws) => {
      if (redis) await passTime(redis, draws.oneOf([40_000, 700_000, 86_400_000]));
      await pause(draws.between(100, 1_000));
    },
  },
  { name: 'redis-cut', in: SINGLE, strike: ({ ways }, draws) => cutFor(ways.redis, draws) },
  { name: 'redis-stall', in: SINGLE, strike: ({ ways }, draws) => stallFor(ways.redis, draws) },
  { name: 'postgres-cut', in: EVERYWHERE, strike: ({ ways }, draws) => cutFor(ways.postgres, draws) },
  { name: 'postgres-stall', in: EVERYWHERE, strike: ({ ways }, draws) => stallFor(ways.postgres, draws) },
  {
    name: 'postgres-stop',
    in: ALONE,
    needsPostgres: true,
    strike: (service, draws) => stopFor(service.postgresProcesses(), duration(draws)),
  },
  {
    name: 'postgres-kill',
    in: ALONE,
    needsPostgres: true,
    strike: async (service) => signalAll(service.postgresProcesses().slice(0, 1), 'SIGKILL'),
  },
  { name: 'provider-cut', in: EVERYWHERE, strike: ({ ways }, draws) => cutFor(ways.provider, draws) },
  { name: 'provider-stall', in: EVERYWHERE, strike: ({ ways }, draws) => stallFor(ways.provider, draws) },
  { name: 'disk-full', in: EVERYWHERE, strike: fillDisk },
  {
    name: 'clock-leap',
    in: ['alone', 'single'],
    needsClock: true,
    strike: (service, draws) => setClock(service, draws, ['+40s', '-40s', '+1h', '-1h']),
  },
];

const FAKETIME = '/usr/lib/{,*/}faketime/libfaketimeMT.so.1';

/** The library that sets the clock of one process; undefined where it is not installed. */
export const fakeClockLibrary = (): string | undefined => globSync(FAKETIME)[0];

const hasPrlimit = (): boolean => (process.env['PATH'] ?? '').split(':').some((folder) => existsSync(join(folder, 'prlimit')));

/** Why it cannot be tried on this machine; undefined where it can. */
export function missingFor({ name, needsClock }: Fault): string | undefined {
  if (process.platform !== 'linux') return 'it takes Linux';
  if (needsClock && fakeClockLibrary() === undefined) return 'libfaketime is not installed';
  return name === 'disk-full' && !hasPrlimit() ? 'prlimit (util-linux) is not installed' : undefined;
}
