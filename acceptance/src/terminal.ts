import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const COMMAND = ['--conditions=tallygate-source', 'cli/src/main.ts'];

/** What a command line left behind. */
export interface Typed {
  readonly stdout: string;
  readonly stderr: string;
  readonly exitCode: number | null;
}

/** The command line of one person: a process per command, a folder for logins, pipes instead of a terminal. */
export class Terminal {
  readonly #home = mkdtempSync(join(tmpdir(), 'tallygate-terminal-'));
  readonly #env: Readonly<Record<string, string>>;

  constructor(env: Readonly<Record<string, string>>) {
    this.#env = env;
  }

  async type(
    argv: readonly string[],
    { stdin = '', env = {} }: { stdin?: string; env?: Readonly<Record<string, string>> } = {},
  ): Promise<Typed> {
    const { PATH, TMPDIR } = process.env;
    const child = spawn(process.execPath, [...COMMAND, ...argv], {
      cwd: ROOT,
      env: { ...{ PATH, TMPDIR, XDG_CONFIG_HOME: this.#home, TALLYGATE_KEYRING: 'off' }, ...this.#env, ...env },
    });
    const ended = new Promise<number | null>((resolve) => child.on('exit', resolve));
    child.stdin.on('error', () => {}); // A command that reads nothing may be gone before it is written to.
    child.stdin.end(stdin);
    const [stdout, stderr, exitCode] = await Promise.all([text(child.stdout), text(child.stderr), ended]);
    return { stdout, stderr, exitCode };
  }

  /** The same for what has to work. @returns its stdout without the line end */
  async must(...[argv, input]: Parameters<Terminal['type']>): Promise<string> {
    const { stdout, stderr, exitCode } = await this.type(argv, input);
    if (exitCode !== 0) throw new Error(`tallygate ${argv.join(' ')} exited with ${exitCode}: ${stderr}`);
    return stdout.replace(/\n$/, '');
  }

  remove(): void {
    rmSync(this.#home, { recursive: true, force: true });
  }
}
