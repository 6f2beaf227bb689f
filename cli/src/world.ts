import { access, constants, mkdir, open, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { homedir, hostname } from 'node:os';
import { dirname, join } from 'node:path';
import { EXIT } from './exit-codes.ts';
import { failureText } from './failure.ts';
import { type Keyring, platformKeyring } from './keyring.ts';

export interface Output {
  /** A person is looking; otherwise a pipe or a file. */
  readonly isTty: boolean;
  /** How many characters a line of the terminal holds; undefined where nobody looks, or the terminal does not say (it says 0). */
  readonly columns?: number | undefined;
  write(text: string): void;
}

export interface Input {
  readonly isTty: boolean;
  /** Everything until the end. */
  readAll(): Promise<string>;
  /** Asks a person; the question goes to stderr, so that stdout stays clean. */
  ask(question: string): Promise<string>;
  /** The same without showing what is typed. */
  askSecret(question: string): Promise<string>;
}

export interface Environment {
  readonly apiKey: string | undefined;
  readonly sessionToken: string | undefined;
  readonly baseUrl: string | undefined;
  /** Of `TALLYGATE_PROFILE`. */
  readonly profile: string | undefined;
  /** Any other variable, for options that name one. */
  variable(name: string): string | undefined;
  /** Where credentials are kept. */
  readonly configDirectory: string;
  /** Of Node, without the `v`. */
  readonly nodeVersion: string;
  /** Of this computer, for those who approve its login. */
  readonly hostName: string;
  /** False under NO_COLOR (no-color.org) and on dumb terminals. */
  readonly hasColor: boolean;
}

export interface PrivateFile {
  readonly content: string;
  /** Others on this computer could read it until now. */
  readonly wasExposed: boolean;
}

/** Everything outside the program that a command may touch. */
export interface World {
  readonly env: Environment;
  readonly input: Input;
  readonly out: Output;
  readonly err: Output;
  /** Aborts when the person presses Ctrl-C. */
  readonly signal: AbortSignal;
  /**
   * Called by a command whose exit code is its answer: it runs to its end also where nobody reads its output any more. Other commands end
   * then, since the reader has seen enough.
   */
  finishUnread(): void;
  /** Undefined where the computer has none, and with `TALLYGATE_KEYRING=off`. */
  readonly keyring: Keyring | undefined;
  now(): Date;
  /** Opens a page in the person's browser. @returns false where there is none, and for what is no address of a page */
  openPage(url: string): Promise<boolean>;
  /** Resolves to `undefined` when there is no such file. */
  readFile(path: string): Promise<string | undefined>;
  /** A file that nobody but its owner should read. One that others may read is theirs alone no more; `wasExposed` says so. */
  readPrivateFile(path: string): Promise<PrivateFile | undefined>;
  /** A file to be read piece by piece; `undefined` when there is none. */
  openFile(path: string): Promise<Blob | undefined>;
  /** Writes bytes piece by piece: to stdout for `-`, else in place of the file, which is the old one until all is there. */
  saveBytes(path: string, bytes: AsyncIterable<Uint8Array>): Promise<void>;
  /** Why no file can be put there, in the middle of a sentence; `undefined` when one can. */
  hindranceAt(path: string): Promise<string | undefined>;
  /** Replaces the file in one step, so that a crash leaves the old one or the new one. `isPrivate`: for the owner's eyes only. */
  writeFile(path: string, content: string, options?: { readonly isPrivate?: boolean }): Promise<void>;
}

/** The world of a real process. The environment is read here and nowhere else. */
export function processWorld(): World {
  const { env, stdout } = process;
  const interrupt = new AbortController();
  process.once('SIGINT', () => interrupt.abort());
  let finishesUnread = false;
  let isUnread = false;
  stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'EPIPE') {
      isUnread = true;
      // A reader that has seen enough (`tallygate models | head -1`) is no failure; a command that has failed by itself has.
      if (!finishesUnread) process.exit(process.exitCode ?? EXIT.ok);
      return;
    }
    const message = `The output cannot be written: ${error.message}.`;
    process.stderr.write(failureText({ code: 'output_failed', message, exit_code: EXIT.failure }));
    process.exit(EXIT.failure);
  });
  return {
    env: {
      apiKey: env['TALLYGATE_API_KEY'] || undefined,
      sessionToken: env['TALLYGATE_SESSION_TOKEN'] || undefined,
      baseUrl: env['TALLYGATE_BASE_URL'] || undefined,
      profile: env['TALLYGATE_PROFILE'] || undefined,
      variable: (name) => env[name] || undefined,
      configDirectory: join(env['XDG_CONFIG_HOME'] || join(homedir(), '.config'), 'tallygate'),
      nodeVersion: process.versions.node,
      hostName: hostname(),
      hasColor: !env['NO_COLOR'] && env['TERM'] !== 'dumb',
    },
    input: {
      // Asked for when it is needed: making the stream takes a while, and few commands read.
      get isTty() {
        return process.stdin.isTTY === true;
      },
      readAll: async () => (await import('node:stream/consumers')).text(process.stdin),
      ask: async (question) => (await import('./questions.ts')).ask(question, process.stderr, interrupt.signal),
      askSecret: async (question) => (await import('./questions.ts')).askSecret(question, process.stderr, interrupt.signal),
    },
    out: {
      isTty: stdout.isTTY === true,
      columns: stdout.columns || undefined,
      write: (content) => void (isUnread || stdout.write(content)),
    },
    err: {
      get isTty() {
        return process.stderr.isTTY === true;
      },
      write: (content) => void process.stderr.write(content),
    },
    signal: interrupt.signal,
    finishUnread: () => {
      finishesUnread = true;
    },
    keyring: env['TALLYGATE_KEYRING'] === 'off' ? undefined : platformKeyring(process.platform),
    now: () => new Date(),
    openPage,
    readFile: (path) => readFile(path, 'utf8').catch(undefinedIfMissing),
    readPrivateFile: (path) => readPrivateFile(path).catch(undefinedIfMissing),
    openFile: async (path) =>
      (await stat(path).catch(undefinedIfMissing))?.isFile() ? (await import('node:fs')).openAsBlob(path) : undefined,
    saveBytes,
    hindranceAt,
    writeFile: replaceFile,
  };
}

const OPENERS: Partial<Record<NodeJS.Platform, readonly [string, ...string[]]>> = {
  darwin: ['open'],
  // `start` would read an address with & as several commands.
  win32: ['rundll32', 'url.dll,FileProtocolHandler'],
};

/** The address comes from the service: only pages are opened, and no shell reads it. */
async function openPage(url: string): Promise<boolean> {
  if (!URL.canParse(url) || !/^https?:$/.test(new URL(url).protocol)) return false;
  const { spawn } = await import('node:child_process');
  const [command, ...args] = OPENERS[process.platform] ?? ['xdg-open'];
  return new Promise((resolve) => {
    const child = spawn(command, [...args, new URL(url).href], { stdio: 'ignore', detached: true });
    child.once('error', () => resolve(false));
    child.once('spawn', () => {
      child.unref();
      resolve(true);
    });
  });
}

async function replaceFile(path: string, content: string, { isPrivate = false } = {}): Promise<void> {
  if (isPrivate) await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  const temporary = `${path}.${crypto.randomUUID()}.tmp`;
  await writeFile(temporary, content, { mode: isPrivate ? 0o600 : 0o666, flag: 'wx' });
  await rename(temporary, path);
}

/** Through one handle, so that what is tightened is what is read. Windows has no such modes. */
async function readPrivateFile(path: string): Promise<PrivateFile> {
  const file = await open(path, 'r');
  try {
    const { mode } = await file.stat();
    const wasExposed = process.platform !== 'win32' && (mode & 0o077) !== 0;
    if (wasExposed) await file.chmod(0o600);
    return { content: await file.readFile('utf8'), wasExposed };
  } finally {
    await file.close();
  }
}

async function saveBytes(path: string, bytes: AsyncIterable<Uint8Array>): Promise<void> {
  const [{ pipeline }, { createWriteStream }] = await Promise.all([import('node:stream/promises'), import('node:fs')]);
  if (path === '-') return pipeline(bytes, process.stdout, { end: false });
  const temporary = `${path}.${crypto.randomUUID()}.tmp`;
  try {
    await pipeline(bytes, createWriteStream(temporary, { flags: 'wx' }));
    await rename(temporary, path);
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
}

/** Files are written beside their place and then moved there: it is the folder that has to be writable. */
async function hindranceAt(path: string): Promise<string | undefined> {
  if ((await stat(path).catch(() => undefined))?.isDirectory()) return 'it is a folder';
  const folder = dirname(path);
  if (!(await stat(folder).catch(() => undefined))?.isDirectory()) return `there is no folder ${folder}`;
  return access(folder, constants.W_OK).then(
    () => undefined,
    () => `the folder ${folder} is not yours to write to`,
  );
}

function undefinedIfMissing(error: NodeJS.ErrnoException): undefined {
  if (error.code !== 'ENOENT') throw error;
}
