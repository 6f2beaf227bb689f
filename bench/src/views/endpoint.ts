import { closedLoop, openLoop } from '../load.ts';
import { cpuTime, cpuTimeOfFamily } from '../proc.ts';
import type { Row } from '../report.ts';
import type { Settings } from '../settings.ts';
import { median, quantile } from '../statistics.ts';
import { type Kind, NAMES, type Name, type Subjects } from '../subjects.ts';

/** One kind of request, and what it left to do behind the gateway: one value a round. */
export interface EndpointFindings {
  readonly rows: readonly Row[];
  /** Until the last record was in PostgreSQL, milliseconds. */
  readonly lagsMs: readonly number[];
  /** PostgreSQL's own CPU a request, microseconds. */
  readonly databaseMicros: readonly number[];
}

interface Round {
  readonly name: Name;
  readonly perSecond: number;
  /** CPU microseconds a request: of the subject's process, and of its main thread. */
  readonly process: number;
  readonly mainThread: number;
}

type Latencies = Readonly<Record<Name, number[]>>;

/** As many requests of a kind as go through, then so many a second as leave everybody idle most of the time. */
export async function endpoint(subjects: Subjects, kind: Kind, settings: Pick<Settings, 'load' | 'steady'>): Promise<EndpointFindings> {
  const { rounds, lagsMs, databaseMicros } = await load(subjects, kind, settings.load);
  const latencies = await steady(subjects, kind, settings.steady);
  return { rows: [...loadRows(rounds), ...latencyRows(latencies, settings.steady.perSecond)], lagsMs, databaseMicros };
}

/** The gateway's CPU time is taken when its ledger has caught up, so that nothing put off for later is left out. */
async function load({ all, gateway }: Subjects, kind: Kind, settings: Settings['load']) {
  const rounds: Round[] = [];
  const lagsMs: number[] = [];
  const databaseMicros: number[] = [];
  // What earlier views have left to do is not this one's.
  await gateway.drained();
  for (let round = 0; round < settings.rounds; round += 1) {
    for (const { name, pid, shots } of all) {
      const before = pid === undefined ? undefined : cpuTime(pid);
      const databaseBefore = cpuTimeOfFamily(gateway.postmasterPid);
      const { requests, seconds } = await closedLoop(shots[kind], settings.connections, settings.ms);
      if (name === 'gateway') {
        lagsMs.push(await gateway.drained());
        databaseMicros.push((cpuTimeOfFamily(gateway.postmasterPid) - databaseBefore) / requests);
      }
      const after = pid === undefined ? undefined : cpuTime(pid);
      const spent = (of: 'process' | 'mainThread') => ((after?.[of] ?? 0) - (before?.[of] ?? 0)) / requests;
      rounds.push({ name, perSecond: requests / seconds, process: spent('process'), mainThread: spent('mainThread') });
    }
  }
  return { rounds, lagsMs, databaseMicros };
}

/** What a user meets on an ordinary day: from sending to the last byte, milliseconds. */
async function steady({ all }: Subjects, kind: Kind, { perSecond, rounds, ms }: Settings['steady']): Promise<Latencies> {
  const latencies: Latencies = { direct: [], bare: [], gateway: [] };
  for (let round = 0; round < rounds; round += 1) {
    for (const { name, shots } of all) {
      const answers = await openLoop(shots[kind], perSecond, ms);
      latencies[name].push(...answers.map(({ totalMs }) => totalMs));
    }
  }
  return latencies;
}

function loadRows(rounds: readonly Round[]): Row[] {
  const valuesBy = (take: (values: number[]) => number, of: Exclude<keyof Round, 'name'>, names: readonly Name[]) =>
    Object.fromEntries(names.map((name) => [name, take(rounds.filter((round) => round.name === name).map((round) => round[of]))]));
  const highest = (values: readonly number[]): number => Math.max(...values);
  const lowest = (values: readonly number[]): number => Math.min(...values);
  const proxies = ['bare', 'gateway'] as const;
  return [
    { what: 'requests a second, best round', unit: '/s', values: valuesBy(highest, 'perSecond', NAMES) },
    { what: 'requests a second, median round', unit: '/s', values: valuesBy(median, 'perSecond', NAMES) },
    { what: 'CPU a request, best round', unit: 'µs', values: valuesBy(lowest, 'process', proxies) },
    { what: 'CPU a request, median round', unit: 'µs', values: valuesBy(median, 'process', proxies) },
    { what: '  of it on the main thread, best round', unit: 'µs', values: valuesBy(lowest, 'mainThread', proxies) },
    { what: '  of it on the main thread, median round', unit: 'µs', values: valuesBy(median, 'mainThread', proxies) },
  ];
}

function latencyRows(latencies: Latencies, perSecond: number): Row[] {
  const at = (share: number) => ({
    direct: quantile(latencies.direct, share),
    bare: quantile(latencies.bare, share),
    gateway: quantile(latencies.gateway, share),
  });
  return [0.5, 0.95, 0.99].flatMap((share): Row[] => {
    const values = at(share);
    const name = `p${share * 100}`;
    return [
      { what: `latency at ${perSecond} a second, ${name}`, unit: 'ms', values },
      { what: `  added to the bare proxy, ${name}`, unit: 'ms', values: { gateway: values.gateway - values.bare } },
    ];
  });
}
