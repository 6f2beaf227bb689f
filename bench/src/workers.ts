import { readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { CONNECTIONS } from './counted-gateway.ts';
import { Gateway } from './gateway.ts';
import { closedLoop } from './load.ts';
import { childrenOf, cpuTime } from './proc.ts';
import { Stage } from './stage.ts';
import { median } from './statistics.ts';
import { chatShot, startProvider } from './subjects.ts';

const NUMBERS = [1, 2] as const;
const WARM_UP_MS = 4_000;
const ROUND_MS = 2_000;
const IDLE_MS = 3_000;
const MICROS_A_SECOND = 1_000_000;

interface Measured {
  readonly perSecond: number;
  /** How much of its time the main thread of the process that has the caps is busy without any request. */
  readonly idleShare: number;
  /** CPU a request, microseconds: of the main thread of the process that has the caps, of all main threads of workers, and of whole processes. */
  readonly authority: number;
  readonly workers: number;
  readonly whole: number;
}

/**
 * What one process and two workers take of the CPU for a chat. A main thread is what bounds a process: so these figures say how many requests a
 * second there could be on as many free cores, however few the measuring machine has.
 */
export async function measureWorkers(rounds: number, print: (text: string) => void): Promise<boolean> {
  const found = new Map<number, Measured>();
  let isSound = true;
  for (const workers of NUMBERS) {
    print(`… WORKERS=${workers}`);
    // Nothing is pinned: the processes of a gateway are to have all cores.
    const stage = new Stage(undefined);
    const { ready: origin } = await startProvider(stage, 'instant');
    const gateway = await Gateway.start(stage, { instant: origin, paced: origin, long: origin }, { WORKERS: String(workers) });
    found.set(workers, await measured(gateway, rounds));
    const { requests, receipts } = await gateway.recorded();
    isSound &&= requests === gateway.tally.answers && receipts === requests;
    await gateway.disconnect();
    await stage.strike();
  }
  for (const [workers, one] of found) print(lineOf(workers, one));
  const [one, two] = NUMBERS.map((workers) => boundOf(workers, found.get(workers)));
  if (one !== undefined && two !== undefined) print(`two workers on free cores ÷ one process: ${(two / one).toFixed(2)}×`);
  return isSound;
}

async function measured(gateway: Gateway, rounds: number): Promise<Measured> {
  const { key } = await gateway.newKey();
  const shot = chatShot({ origin: gateway.origin, key, tally: gateway.tally });
  await closedLoop(shot, CONNECTIONS, WARM_UP_MS);
  await gateway.drained();
  // What they do without a request is done once a second, however many requests there are.
  const idle = await spentDuring(gateway, async () => {
    await delay(IDLE_MS);
    return { requests: 0, seconds: IDLE_MS / 1_000 };
  });
  const all: Measured[] = [];
  for (let round = 0; round < rounds; round += 1) {
    const busy = await spentDuring(gateway, () => closedLoop(shot, CONNECTIONS, ROUND_MS));
    const eachOf = (figure: 'authority' | 'workers' | 'whole') =>
      (busy[figure] - (idle[figure] * busy.elapsed) / idle.elapsed) / Math.max(1, busy.requests);
    const idleShare = idle.authority / idle.elapsed;
    all.push({
      ...{ perSecond: busy.requests / busy.seconds, idleShare },
      ...{ authority: eachOf('authority'), workers: eachOf('workers'), whole: eachOf('whole') },
    });
  }
  const middle = (figure: keyof Measured) => median(all.map((one) => one[figure]));
  return {
    ...{ perSecond: middle('perSecond'), idleShare: middle('idleShare') },
    ...{ authority: middle('authority'), workers: middle('workers'), whole: middle('whole') },
  };
}

/** CPU time of a load, until all of it is in the ledger: microseconds, as `elapsed` is. */
async function spentDuring(gateway: Gateway, load: () => Promise<{ requests: number; seconds: number }>) {
  const pids = [gateway.pid, ...workersOf(gateway.pid)];
  const [before, startedTick] = [pids.map(cpuTime), performance.now()];
  const { requests, seconds } = await load();
  await gateway.drained();
  const spent = pids.map(cpuTime).map(({ mainThread, process }, index) => ({
    mainThread: mainThread - (before[index]?.mainThread ?? 0),
    process: process - (before[index]?.process ?? 0),
  }));
  const [authority, ...others] = spent;
  return {
    ...{ requests, seconds, elapsed: (performance.now() - startedTick) * 1_000 },
    authority: authority?.mainThread ?? 0,
    workers: others.reduce((sum, { mainThread }) => sum + mainThread, 0),
    whole: spent.reduce((sum, { process }) => sum + process, 0),
  };
}

/** Children that run the same program: PostgreSQL is one as well. */
const workersOf = (pid: number): number[] =>
  childrenOf(pid).filter((child) => readFileSync(`/proc/${child}/cmdline`, 'latin1').includes('gateway.mjs'));

/** Requests a second until a main thread is busy all the time. */
function boundOf(workers: number, one: Measured | undefined): number | undefined {
  if (!one) return undefined;
  const byAuthority = ((1 - one.idleShare) * MICROS_A_SECOND) / one.authority;
  return one.workers === 0 ? byAuthority : Math.min(byAuthority, (workers * MICROS_A_SECOND) / one.workers);
}

const lineOf = (workers: number, one: Measured): string =>
  [
    `WORKERS=${workers}: ${one.perSecond.toFixed(0)} requests a second here, ${one.whole.toFixed(0)} µs a request in all processes;`,
    `main threads: ${one.workers === 0 ? '' : `${one.workers.toFixed(0)} µs of the workers, `}${one.authority.toFixed(0)} µs of the process with the caps;`,
    `at most ${boundOf(workers, one)?.toFixed(0)} a second on free cores`,
  ].join(' ');
