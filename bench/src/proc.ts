import { readdirSync, readFileSync } from 'node:fs';

/** CPU time a process has used since its start, microseconds. */
export interface CpuTime {
  readonly process: number;
  /** Its main thread alone: the one that runs JavaScript. */
  readonly mainThread: number;
}

const NANO_PER_MICRO = 1000;

/** Reads `/proc/<pid>/task/<tid>/schedstat`, whose first number is nanoseconds on a CPU (proc(5)); `stat` counts in steps of 10 ms. */
export function cpuTime(pid: number): CpuTime {
  const spent = readdirSync(`/proc/${pid}/task`).map((tid) => {
    const nanoseconds = Number(readFileSync(`/proc/${pid}/task/${tid}/schedstat`, 'utf8').split(' ')[0]);
    return { tid: Number(tid), micros: nanoseconds / NANO_PER_MICRO };
  });
  return {
    process: spent.reduce((sum, { micros }) => sum + micros, 0),
    mainThread: spent.find(({ tid }) => tid === pid)?.micros ?? 0,
  };
}

/** CPU time of a process and its children (PostgreSQL's backends), microseconds. */
export function cpuTimeOfFamily(pid: number): number {
  return [pid, ...childrenOf(pid)].reduce((sum, each) => sum + cpuTimeIfThere(each), 0);
}

export function childrenOf(pid: number): number[] {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim();
  return children === '' ? [] : children.split(' ').map(Number);
}

const TICKS_PER_SECOND = 100;

/** CPU time of the children of a process that have ended, microseconds: `cutime` and `cstime` of proc(5), in steps of 10 ms. */
export function cpuTimeOfEnded(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  // The name of the program, in brackets, may have spaces.
  const [user, system] = stat
    .slice(stat.lastIndexOf(')') + 2)
    .split(' ')
    .slice(13, 15)
    .map(Number);
  return (((user ?? 0) + (system ?? 0)) * 1_000_000) / TICKS_PER_SECOND;
}

function cpuTimeIfThere(pid: number): number {
  try {
    return cpuTime(pid).process;
  } catch {
    return 0; // A backend may end between the two reads.
  }
}

/** Resident memory, megabytes: now, and at its highest. */
export function residentMemory(pid: number): { nowMb: number; peakMb: number } {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  const megabytes = (field: string): number => Number(new RegExp(`^${field}:\\s+(\\d+) kB`, 'm').exec(status)?.[1]) / 1024;
  return { nowMb: megabytes('VmRSS'), peakMb: megabytes('VmHWM') };
}
