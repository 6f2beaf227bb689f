import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { Redis } from 'ioredis';
import { freePort } from '../../kernel/free-port.ts';

/** A server of a test's own. */
export interface RedisProcess {
  readonly port: number;
  readonly url: string;
  /** Of its append-only file. */
  readonly folder: string;
  /** Sends one command, over a connection of its own. */
  call(command: string, ...args: readonly (string | number)[]): Promise<unknown>;
  /** `kill -9`; what it has in its append-only file stays. */
  kill(): Promise<void>;
  /** It hangs, with its connections open. */
  pause(): void;
  resume(): void;
  /** On the same port and files. */
  start(): Promise<void>;
  stop(): Promise<void>;
}

/** The server goes with the process that started it, however that ends: its end of the pipe closes. */
const GUARD = '"$@" & echo "server $!"; read -r _; { kill -9 $!; wait $!; } 2>/dev/null';

/** Instead of settings: it is a sentinel. */
interface SentinelSettings {
  readonly sentinelOf: number;
  readonly name: string;
  readonly downAfterMs: number;
}

/** Starts a server on loopback. For tests only. */
export async function startRedis(program: string, settings: readonly string[] | SentinelSettings = []): Promise<RedisProcess> {
  const dir = mkdtempSync(join(tmpdir(), 'tallygate-redis-'));
  const port = await freePort();
  // A file, as servers have it: sentinels write into it who is whose replica now, so that a master that is started again is the master.
  const file = join(dir, 'server.conf');
  const isSentinel = 'sentinelOf' in settings;
  writeFileSync(file, isSentinel ? sentinelFile(settings, port, dir) : serverFile(settings, port, dir));
  let child: ChildProcess | undefined;
  let pid = 0;

  async function start(): Promise<void> {
    const started = spawn('sh', ['-c', GUARD, 'sh', program, file, ...(isSentinel ? ['--sentinel'] : [])], {
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    child = started;
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    let said = '';
    started.stdout.on('data', (chunk: Buffer) => {
      said += chunk.toString();
      pid = Number(/^server (\d+)$/m.exec(said)?.[1] ?? pid);
      if (/ready to accept connections|\+monitor master/i.test(said)) resolve();
    });
    started.once('exit', (code) => reject(new Error(`The Redis server ended with ${code}: ${said}`)));
    await promise;
  }

  async function kill(): Promise<void> {
    const running = child;
    child = undefined;
    if (!running || running.exitCode !== null) return;
    const gone = once(running, 'exit');
    running.stdin?.end();
    await gone;
  }

  await start();
  return {
    folder: dir,
    port,
    url: `redis://127.0.0.1:${port}`,
    call: (command, ...args) => ask(port, command, ...args),
    kill,
    pause: () => process.kill(pid, 'SIGSTOP'),
    resume: () => process.kill(pid, 'SIGCONT'),
    start,
    stop: async () => {
      await kill();
      rmSync(dir, { recursive: true, force: true });
    },
  };
}

async function ask(port: number, ...[command, ...args]: Parameters<RedisProcess['call']>): Promise<unknown> {
  const redis = new Redis(port, '127.0.0.1');
  try {
    return await redis.call(command, ...args);
  } finally {
    redis.disconnect();
  }
}

/**
 * Every command that a server is asked from now on, by anybody. For tests only. On a plain socket: ioredis takes a command that comes with the
 * answer to MONITOR for a reply to nothing.
 */
export async function watchCommands(url: string): Promise<{ readonly commands: readonly (readonly string[])[]; stop(): void }> {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  const lines = createInterface(socket);
  const commands: string[][] = [];
  const begun = Promise.withResolvers<void>();
  socket.once('error', begun.reject);
  lines.on('line', (line) => {
    if (line === '+OK') return begun.resolve();
    // What scripts do is not asked by anybody.
    if (!/^\+[\d.]+ \[\d+ lua\]/.test(line)) commands.push([...line.matchAll(/"((?:[^"\\]|\\.)*)"/g)].map(([, word = '']) => word));
  });
  socket.write('MONITOR\r\n');
  await begun.promise;
  return { commands, stop: () => socket.destroy() };
}

/** @param settings as arguments: `--name` and its values */
const serverFile = (settings: readonly string[], port: number, dir: string): string =>
  [
    `port ${port}`,
    'bind 127.0.0.1',
    `dir ${dir}`,
    `save ""${settings.map((word) => (word.startsWith('--') ? `\n${word.slice(2)}` : ` ${word}`)).join('')}`,
    '',
  ].join('\n');

const sentinelFile = ({ sentinelOf, name, downAfterMs }: SentinelSettings, port: number, dir: string): string =>
  [
    `port ${port}`,
    'bind 127.0.0.1',
    `dir ${dir}`,
    `sentinel monitor ${name} 127.0.0.1 ${sentinelOf} 1`,
    `sentinel down-after-milliseconds ${name} ${downAfterMs}`,
    `sentinel failover-timeout ${name} 5000`,
    '',
  ].join('\n');
