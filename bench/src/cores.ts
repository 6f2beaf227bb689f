import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

/** Which cores the subject has to itself, and which are for everything around it; both as taskset lists. */
export interface Cores {
  readonly subject: string;
  readonly surroundings: string;
}

/** Undefined where nothing can be pinned: one core, or no taskset. */
export function divideCores(): Cores | undefined {
  const [first, ...others] = allowedCores();
  if (first === undefined || others.length === 0) return undefined;
  try {
    execFileSync('taskset', ['--version'], { stdio: 'ignore' });
  } catch {
    return undefined;
  }
  return { subject: String(first), surroundings: others.join(',') };
}

/** Moves a running process, all its threads included; what it starts from now on stays there too. */
export function pin(pid: number, cores: string): void {
  execFileSync('taskset', ['--all-tasks', '--pid', '--cpu-list', cores, String(pid)], { stdio: 'ignore' });
}

/** `Cpus_allowed_list: 0-1,4` of proc(5). */
function allowedCores(): number[] {
  const list = /^Cpus_allowed_list:\s*(\S+)$/m.exec(readFileSync('/proc/self/status', 'utf8'))?.[1] ?? '';
  return list.split(',').flatMap((range) => {
    const [from = Number.NaN, to = from] = range.split('-').map(Number);
    return Number.isNaN(from) ? [] : Array.from({ length: to - from + 1 }, (_, index) => from + index);
  });
}
