import { readFile, stat } from 'node:fs/promises';
import { homedir, hostname } from 'node:os';
import { join } from 'node:path';
import { EXIT } from './exit-codes.ts';
import { failureText } from './failure.ts';
import { hindranceAt, readPrivateFile, replaceFile, saveBytes, undefinedIfMissing } from './files.ts';
import { platformKeyring } from './keyring.ts';
import type { World } from './world.ts';

/** The world of a real process. The environment is read here and nowhere else. */
export function processWorld(): World {
  const { env, stdout } = process;
  const configDirectory = join(env['XDG_CONFIG_HOME'] || join(homedir(), '.config'), 'tallygate');
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
      configDirectory,
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
    openLogStore: async () => (await import('@tallygate/receipts/node')).fileLogStore(join(configDirectory, 'logs')),
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
