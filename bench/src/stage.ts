import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { type Cores, pin } from './cores.ts';

const { PATH, HOME } = process.env;
const ROOT = join(import.meta.dirname, '../..');
const STOP_TIMEOUT_MS = 20_000;
const START_TIMEOUT_MS = 60_000;
const POLL_MS = 20;

interface Program {
  readonly name: string;
  /** Relative to the root of the repository. */
  readonly script: string;
  readonly args?: readonly string[];
  /** All it gets besides PATH and HOME: provider keys and addresses of the person's own shell are none of a bench's business. */
  readonly env?: Readonly<Record<string, string>>;
  readonly isSubject: boolean;
}

/** As `npm start` runs the gateway, and the bare proxy alike: what a request leaves behind then dies young, before it is moved to the old generation. */
const SUBJECT_OPTIONS = ['--max-semi-space-size=32'];

/** Everything a run leaves lying about: processes and one folder, gone when it is struck. */
export class Stage {
  readonly folder = mkdtempSync(join(tmpdir(), 'tallygate-bench-'));
  readonly cores: Cores | undefined;
  readonly #children: ChildProcess[] = [];
  #struck: Promise<void> | undefined;

  constructor(cores: Cores | undefined) {
    this.cores = cores;
    if (cores) pin(process.pid, cores.surroundings);
  }

  /** Starts a program of the repository, and waits until `isReady` makes something of what it has printed. */
  async start<T>({ name, script, args = [], env = {}, isSubject }: Program, isReady: (printed: string) => T | undefined) {
    const logFile = join(this.folder, `${name}.log`);
    const log = openSync(logFile, 'a');
    const options = isSubject ? [...SUBJECT_OPTIONS, '--conditions=tallygate-source'] : ['--conditions=tallygate-source'];
    const command = [process.execPath, ...options, join(ROOT, script), ...args];
    const [file = '', ...rest] = this.cores && isSubject ? ['taskset', '--cpu-list', this.cores.subject, ...command] : command;
    const child = spawn(file, rest, { cwd: this.folder, env: { PATH, HOME, ...env }, stdio: ['ignore', log, log] });
    this.#children.push(child);
    await once(child, 'spawn');
    const deadline = Date.now() + START_TIMEOUT_MS;
    for (;;) {
      const printed = readFileSync(logFile, 'utf8');
      const ready = isReady(printed);
      // taskset replaces itself by the program, so the pid is the program's.
      if (ready !== undefined && child.pid !== undefined) return { pid: child.pid, ready };
      if (child.exitCode !== null || Date.now() > deadline) throw new Error(`${name} did not start. It said:\n${printed.slice(-2000)}`);
      await delay(POLL_MS);
    }
  }

  /** Ends the processes, the last one started first, and removes the folder. Calling it again waits for the same end. */
  strike(): Promise<void> {
    this.#struck ??= this.#end();
    return this.#struck;
  }

  get isStruck(): boolean {
    return this.#struck !== undefined;
  }

  async #end(): Promise<void> {
    for (const child of this.#children.toReversed()) {
      if (child.exitCode !== null || child.signalCode !== null) continue;
      child.kill('SIGTERM');
      const timer = setTimeout(() => child.kill('SIGKILL'), STOP_TIMEOUT_MS);
      await once(child, 'exit');
      clearTimeout(timer);
    }
    rmSync(this.folder, { recursive: true, force: true });
  }
}

/** The one line of JSON that a program prints when it listens. */
export function firstLine(printed: string): unknown {
  const end = printed.indexOf('\n');
  return end < 0 ? undefined : JSON.parse(printed.slice(0, end));
}
