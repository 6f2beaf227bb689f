import { spawn } from 'node:child_process';
import { once } from 'node:events';
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

type Environment = Readonly<Record<string, string>>;

/** What a terminal showed. */
export interface Sitting {
  readonly screen: string;
  readonly exitCode: number | null;
}

/** A command under way. */
export interface Running {
  readonly ended: Promise<Typed>;
  /** Resolves once it has written that. */
  said(where: 'stdout' | 'stderr', wanted: string): Promise<void>;
  /** Ctrl-C. */
  interrupt(): void;
}

/** The command line of one person: a process per command, a folder for logins, pipes instead of a terminal. */
export class Terminal {
  readonly #home = mkdtempSync(join(tmpdir(), 'tallygate-terminal-'));
  readonly #env: Readonly<Record<string, string>>;

  constructor(env: Readonly<Record<string, string>>) {
    this.#env = env;
  }

  async type(argv: readonly string[], { stdin = '', env = {} }: { stdin?: string; env?: Environment } = {}): Promise<Typed> {
    const child = spawn(process.execPath, [...COMMAND, ...argv], { cwd: ROOT, env: this.#environment(env) });
    const ended = new Promise<number | null>((resolve) => child.on('exit', resolve));
    child.stdin.on('error', () => {}); // A command that reads nothing may end before it is written to.
    child.stdin.end(stdin);
    const [stdout, stderr, exitCode] = await Promise.all([text(child.stdout), text(child.stderr), ended]);
    return { stdout, stderr, exitCode };
  }

  /** The same at a terminal that `script` of util-linux lends. @param onScreen called with the screen's text when it grows */
  async sit(argv: readonly string[], onScreen: (screen: string) => void = () => {}, env: Environment = {}): Promise<Sitting> {
    const command = [process.execPath, ...COMMAND, ...argv].map((word) => `'${word}'`).join(' ');
    const child = spawn('/usr/bin/script', ['-qec', command, '/dev/null'], {
      cwd: ROOT,
      env: { ...this.#environment(env), NO_COLOR: '1', SHELL: '/bin/sh' },
    });
    const exited = new Promise<number | null>((resolve) => child.on('exit', resolve));
    let screen = '';
    for await (const piece of child.stdout.setEncoding('utf8')) {
      screen += piece;
      onScreen(screen);
    }
    return { screen, exitCode: await exited };
  }

  /** A command that runs until it is interrupted. */
  start(argv: readonly string[], env: Environment = {}): Running {
    const child = spawn(process.execPath, [...COMMAND, ...argv], { cwd: ROOT, env: this.#environment(env) });
    const heard = { stdout: '', stderr: '' };
    for (const name of ['stdout', 'stderr'] as const)
      child[name].setEncoding('utf8').on('data', (piece: string) => {
        heard[name] += piece;
        child.emit('heard');
      });
    return {
      ended: new Promise((resolve) => child.on('close', (exitCode) => resolve({ ...heard, exitCode }))),
      said: async (where, wanted) => {
        while (!heard[where].includes(wanted)) {
          if (child.exitCode !== null) throw new Error(`tallygate ${argv.join(' ')} ended: ${heard.stderr}`);
          await Promise.race([once(child, 'heard'), once(child, 'close')]);
        }
      },
      interrupt: () => void child.kill('SIGINT'),
    };
  }

  #environment(env: Environment) {
    const { PATH, TMPDIR, NODE_COMPILE_CACHE } = process.env;
    return { ...{ PATH, TMPDIR, NODE_COMPILE_CACHE, XDG_CONFIG_HOME: this.#home, TALLYGATE_KEYRING: 'off' }, ...this.#env, ...env };
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
