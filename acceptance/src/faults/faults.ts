import { execFile } from 'node:child_process';
import { existsSync, globSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { promisify } from 'node:util';
import type { CutOff } from '../cut-off.ts';
import type { Draws } from '../random.ts';
import { flush, passTime, rememberFiles } from './redis.ts';
import type { Service, Topology } from './service.ts';

const run = promisify(execFile);

type Part = 'gateway' | 'redis' | 'postgres' | 'provider' | 'clock';

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
  /** It can go on for as long as one likes. */
  readonly lasts?: true;
  /** Two faults that break the same thing cannot strike at once. */
  readonly breaks: readonly Part[];
  /**
   * Breaks it and mends it again, but for gateways that have ended: they are started again by `heal`.
   *
   * @param forMs for how long, where it lasts
   */
  strike(service: Service, draws: Draws, forMs: number): Promise<void>;
}

const EVERYWHERE: readonly Topology[] = ['alone', 'workers', 'single', 'sentinel', 'cluster'];
const OVER_REDIS: readonly Topology[] = ['single', 'sentinel', 'cluster'];
const ALONE: readonly Topology[] = ['alone', 'workers'];
const WORKERS: readonly Topology[] = ['workers'];
const SINGLE: readonly Topology[] = ['single'];
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

async function cutFor(way: CutOff | undefined, ms: number): Promise<void> {
  way?.cut();
  await pause(ms);
  way?.open();
}

async function stallFor(way: CutOff | undefined, ms: number): Promise<void> {
  way?.stall();
  await pause(ms);
  way?.open();
}

/** Every write to a file fails, as on a disk that is full; `prlimit` (util-linux) does it to a process that runs. */
const limitFiles = (pid: number, bytes: string) => run('prlimit', ['--pid', `${pid}`, `--fsize=${bytes}:unlimited`]);

async function fillDisk({ broken }: Service, draws: Draws): Promise<void> {
  // An earlier fault of the round may have ended it.
  const limit = (bytes: string) => limitFiles(broken.process.pid ?? 0, bytes).catch(() => {});
  await limit('1');
  await pause(draws.between(200, 3_000));
  await limit('unlimited');
}

/** Some bytes of the newest file that has any are no longer those that were written. */
function damageJournal(folder: string, draws: Draws): void {
  const files = globSync(join(folder, 'settlements-*.log')).filter((file) => statSync(file).size > 0);
  const newest = files.toSorted((one, other) => statSync(one).mtimeMs - statSync(other).mtimeMs).at(-1);
  if (newest === undefined) return;
  const bytes = readFileSync(newest);
  const from = draws.between(0, bytes.length - 1);
  for (let at = from; at < Math.min(bytes.length, from + draws.between(1, 4_096)); at += 1) bytes[at] = draws.between(0, 255);
  writeFileSync(newest, bytes);
}

async function failOver({ redis }: Service, draws: Draws): Promise<void> {
  await redis?.severReplica?.();
  await pause(draws.between(50, 800));
  await redis?.failOver?.();
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
  { name: 'nothing', in: EVERYWHERE, breaks: [], strike: (_service, draws) => pause(draws.between(100, 1_500)) },
  {
    ...{ name: 'gateway-stop', in: EVERYWHERE, lasts: true, breaks: ['gateway'] },
    strike: ({ broken }, _draws, forMs) => stopFor([broken.process.pid ?? 0], forMs),
  },
  {
    ...{ name: 'machine-suspend', in: ALONE, lasts: true, breaks: ['gateway', 'postgres'], needsPostgres: true },
    strike: (service, _draws, forMs) =>
      stopFor([service.broken.process.pid ?? 0, ...service.workers(), ...service.postgresProcesses()], forMs),
  },
  {
    ...{ name: 'gateway-kill', in: EVERYWHERE, breaks: ['gateway'], leavesDoubt: true },
    strike: async ({ broken }) => void (await broken.kill()),
  },
  {
    ...{ name: 'worker-kill', in: WORKERS, breaks: ['gateway'] },
    strike: async (service, draws) => signalAll([draws.oneOf(service.workers())], 'SIGKILL'),
  },
  {
    ...{ name: 'worker-stop', in: WORKERS, lasts: true, breaks: ['gateway'] },
    strike: (service, draws, forMs) => stopFor([draws.oneOf(service.workers())], forMs),
  },
  {
    ...{ name: 'gateway-gone', in: OVER_REDIS, breaks: ['gateway'], leavesDoubt: true },
    strike: async ({ broken }) => {
      await broken.kill();
      rmSync(join(broken.dataDir, 'journal'), { recursive: true, force: true });
    },
  },
  {
    // For longer than a session lasts: the others may not go on without what it holds.
    ...{ name: 'gateway-absent', in: OVER_REDIS, breaks: ['gateway', 'redis'] },
    strike: async (service, draws) => {
      const stopped = stopFor([service.broken.process.pid ?? 0], draws.between(18_000, 26_000));
      await pause(draws.between(0, 17_000));
      await flush(await anyNode(service, draws));
      await stopped;
    },
  },
  {
    // What the journal has, Redis has as well.
    ...{ name: 'journal-damage', in: OVER_REDIS, breaks: ['gateway'], leavesDoubt: true },
    strike: async ({ broken }, draws) => {
      await broken.kill();
      damageJournal(join(broken.dataDir, 'journal'), draws);
    },
  },
  { name: 'gateway-restart', in: EVERYWHERE, breaks: ['gateway'], strike: async ({ broken }) => void (await broken.stop()) },
  {
    ...{ name: 'redis-stop', in: OVER_REDIS, lasts: true, breaks: ['redis'] },
    strike: async (service, draws, forMs) => {
      const node = await anyNode(service, draws);
      node.pause();
      await pause(forMs);
      node.resume();
    },
  },
  {
    ...{ name: 'redis-kill', in: OVER_REDIS, breaks: ['redis'] },
    strike: async (service, draws) => {
      const node = await anyNode(service, draws);
      await node.kill();
      await pause(draws.between(50, 2_000));
      await node.start();
    },
  },
  {
    ...{ name: 'redis-flush', in: OVER_REDIS, breaks: ['redis'] },
    strike: async (service, draws) => void (await flush(await anyNode(service, draws))),
  },
  { name: 'redis-older', in: ['single', 'cluster'], breaks: ['redis'], strike: setBackRedis },
  { name: 'redis-failover', in: ['sentinel', 'cluster'], breaks: ['redis'], strike: failOver },
  {
    ...{ name: 'redis-clock', in: OVER_REDIS, breaks: ['redis'] },
    strike: async ({ redis }, draws) => {
      if (redis) await passTime(redis, draws.oneOf([40_000, 700_000, 86_400_000]));
      await pause(draws.between(100, 1_000));
    },
  },
  { name: 'redis-cut', in: SINGLE, lasts: true, breaks: ['redis'], strike: ({ ways }, _draws, forMs) => cutFor(ways.redis, forMs) },
  { name: 'redis-stall', in: SINGLE, lasts: true, breaks: ['redis'], strike: ({ ways }, _draws, forMs) => stallFor(ways.redis, forMs) },
  {
    ...{ name: 'postgres-cut', in: EVERYWHERE, lasts: true, breaks: ['postgres'] },
    strike: ({ ways }, _draws, forMs) => cutFor(ways.postgres, forMs),
  },
  {
    ...{ name: 'postgres-stall', in: EVERYWHERE, lasts: true, breaks: ['postgres'] },
    strike: ({ ways }, _draws, forMs) => stallFor(ways.postgres, forMs),
  },
  {
    ...{ name: 'postgres-stop', in: ALONE, lasts: true, breaks: ['postgres'], needsPostgres: true },
    strike: (service, _draws, forMs) => stopFor(service.postgresProcesses(), forMs),
  },
  {
    ...{ name: 'postgres-disk-full', in: ALONE, lasts: true, breaks: ['postgres'], needsPostgres: true },
    strike: async (service, _draws, forMs) => {
      const limit = (bytes: string) => Promise.all(service.postgresProcesses().map((pid) => limitFiles(pid, bytes).catch(() => {})));
      await limit('1');
      await pause(forMs);
      await limit('unlimited');
    },
  },
  {
    ...{ name: 'postgres-kill', in: ALONE, breaks: ['postgres'], needsPostgres: true },
    strike: async (service) => signalAll(service.postgresProcesses().slice(0, 1), 'SIGKILL'),
  },
  {
    ...{ name: 'provider-cut', in: EVERYWHERE, lasts: true, breaks: ['provider'] },
    strike: ({ ways }, _draws, forMs) => cutFor(ways.provider, forMs),
  },
  {
    ...{ name: 'provider-stall', in: EVERYWHERE, lasts: true, breaks: ['provider'] },
    strike: ({ ways }, _draws, forMs) => stallFor(ways.provider, forMs),
  },
  { name: 'disk-full', in: EVERYWHERE, breaks: ['gateway'], strike: fillDisk },
  {
    ...{ name: 'clock-leap', in: ['alone', 'single'], breaks: ['clock'], needsClock: true },
    strike: (service, draws) => setClock(service, draws, ['+40s', '-40s', '+1h', '-1h', '+31d', '-31d']),
  },
];

/** Until it is taken for dead, a gateway whose disk is gone is waited for at every loss of Redis. */
export const isDiskGone = ({ name }: Fault): boolean => name === 'gateway-gone';

/** If a machine is lost with its disk, or its journal is damaged, Redis has the only copy: if that is lost too, the stated margin is all of it. */
export const areMargin = (one: Fault, other: Fault): boolean =>
  [one, other].some((fault) => isDiskGone(fault) || fault.name === 'journal-damage') &&
  [one, other].some(({ breaks }) => breaks.includes('redis'));

/** Whether both can strike at once. */
export const areApart = (one: Fault, other: Fault): boolean =>
  one.name !== other.name && !one.breaks.some((part) => other.breaks.includes(part));

const FAKETIME = '/usr/lib/{,*/}faketime/libfaketimeMT.so.1';

/** The library that sets the clock of one process; undefined where it is not installed. */
export const fakeClockLibrary = (): string | undefined => globSync(FAKETIME)[0];

const hasPrlimit = (): boolean => (process.env['PATH'] ?? '').split(':').some((folder) => existsSync(join(folder, 'prlimit')));

/** Why it cannot be tried on this machine; undefined where it can. */
export function missingFor({ name, needsClock }: Fault): string | undefined {
  if (process.platform !== 'linux') return 'it takes Linux';
  if (needsClock && fakeClockLibrary() === undefined) return 'libfaketime is not installed';
  return name.endsWith('disk-full') && !hasPrlimit() ? 'prlimit (util-linux) is not installed' : undefined;
}
