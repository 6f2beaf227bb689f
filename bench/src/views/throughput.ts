import type { Gateway } from '../gateway.ts';
import { closedLoop } from '../load.ts';
import { cpuTime, cpuTimeOfFamily, residentMemory } from '../proc.ts';
import type { Row } from '../report.ts';
import type { Settings } from '../settings.ts';
import { median } from '../statistics.ts';
import { NAMES, type Name, type Subjects } from '../subjects.ts';

interface Round {
  readonly name: Name;
  readonly perSecond: number;
  /** CPU microseconds a request: of the subject's process, and of its main thread. */
  readonly process: number;
  readonly mainThread: number;
}

/**
 * As many requests as go through. The gateway's CPU time is taken when its ledger has caught up, so that nothing put off for later is left out.
 */
export async function throughput(subjects: Subjects, settings: Settings['throughput']): Promise<{ load: Row[]; ledger: Row[] }> {
  const rounds: Round[] = [];
  const lags: number[] = [];
  const database: number[] = [];
  const { gateway } = subjects;
  // What earlier views have left to do is not this one's.
  await gateway.drained();
  for (let round = 0; round < settings.rounds; round += 1) {
    for (const { name, pid, plain } of subjects.all) {
      const before = pid === undefined ? undefined : cpuTime(pid);
      const databaseBefore = cpuTimeOfFamily(gateway.postmasterPid);
      const { requests, seconds } = await closedLoop(plain, settings.connections, settings.ms);
      if (name === 'gateway') {
        lags.push(await gateway.drained());
        database.push((cpuTimeOfFamily(gateway.postmasterPid) - databaseBefore) / requests);
      }
      const after = pid === undefined ? undefined : cpuTime(pid);
      const spent = (of: 'process' | 'mainThread') => ((after?.[of] ?? 0) - (before?.[of] ?? 0)) / requests;
      rounds.push({ name, perSecond: requests / seconds, process: spent('process'), mainThread: spent('mainThread') });
    }
  }
  return { load: loadRows(rounds), ledger: ledgerRows(lags, database, subjects.all.find(({ name }) => name === 'bare')?.pid, gateway) };
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
  ];
}

function ledgerRows(lags: readonly number[], database: readonly number[], barePid: number | undefined, gateway: Gateway): Row[] {
  const memory = residentMemory(gateway.pid);
  const bare = barePid === undefined ? undefined : residentMemory(barePid);
  return [
    { what: 'until every record is in PostgreSQL, median', unit: 'ms', values: { gateway: median(lags) } },
    { what: 'until every record is in PostgreSQL, longest', unit: 'ms', values: { gateway: Math.max(...lags) } },
    { what: 'PostgreSQL’s own CPU a request, median', unit: 'µs', values: { gateway: median(database) } },
    { what: 'resident memory after the load', unit: 'MB', values: { ...(bare && { bare: bare.nowMb }), gateway: memory.nowMb } },
    { what: 'resident memory at its peak', unit: 'MB', values: { ...(bare && { bare: bare.peakMb }), gateway: memory.peakMb } },
  ];
}
