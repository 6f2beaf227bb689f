import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';
import { freePort } from '../../../../kernel/free-port.ts';
import type { BucketSettings } from '../bucket-settings.ts';

const run = promisify(execFile);

/** A server with the API of S3 on loopback, and a bucket there. */
export interface S3Server {
  readonly settings: BucketSettings;
  /** It hangs, with its connections open. */
  pause(): void;
  resume(): void;
  /** `kill -9`; what it has stays. */
  kill(): Promise<void>;
  /** On the same port and files. */
  start(): Promise<void>;
  stop(): Promise<void>;
}

const BUCKET = 'tallygate';
const CREDENTIALS = { accessKeyId: 'test', secretAccessKey: 'secret' };
const MODULE = 'github.com/versity/versitygw/cmd/versitygw@v1.8.0';
const BUILT_WITHIN_MS = 900_000;
/** The server goes with the process that started it, however that ends: its end of the pipe closes. */
const GUARD = '"$0" "$@" & echo "server $!"; read -r _; { kill -9 $!; wait $!; } 2>/dev/null';

/**
 * The Versity S3 Gateway, a server that companies run: the one on PATH or of an earlier run. With `S3_SERVER=1` it is built where there is none, by
 * Go, which takes 106 seconds of CPU time. Undefined where there is none.
 */
export async function s3Program(): Promise<string | undefined> {
  const ofPath = await run('versitygw', ['--version']).catch(() => undefined);
  if (ofPath) return 'versitygw';
  const folders = await run('go', ['env', 'GOPATH']).catch(() => undefined);
  if (!folders) return undefined;
  const program = join(folders.stdout.trim(), 'bin', 'versitygw');
  if (!existsSync(program) && process.env['S3_SERVER']) await run('go', ['install', MODULE], { timeout: BUILT_WITHIN_MS });
  return existsSync(program) ? program : undefined;
}

export async function startS3(program: string): Promise<S3Server> {
  const folder = mkdtempSync(join(tmpdir(), 'tallygate-s3-'));
  mkdirSync(join(folder, BUCKET));
  const port = await freePort();
  let running = await launch(program, port, folder);
  return {
    settings: {
      ...{ bucket: BUCKET, endpoint: `http://127.0.0.1:${port}`, region: 'us-east-1', credentials: CREDENTIALS },
      ...{ prefix: '', isPathStyle: true },
    },
    pause: () => process.kill(running.pid, 'SIGSTOP'),
    resume: () => process.kill(running.pid, 'SIGCONT'),
    kill: () => running.kill(),
    async start() {
      running = await launch(program, port, folder);
    },
    async stop() {
      await running.kill();
      rmSync(folder, { recursive: true });
    },
  };
}

async function launch(program: string, port: number, folder: string) {
  const env = { ...process.env, ROOT_ACCESS_KEY: CREDENTIALS.accessKeyId, ROOT_SECRET_KEY: CREDENTIALS.secretAccessKey };
  const child = spawn('sh', ['-c', GUARD, program, '--quiet', '--port', `127.0.0.1:${port}`, 'posix', folder], {
    stdio: ['pipe', 'pipe', 'inherit'],
    env,
  });
  const [said] = await once(child.stdout, 'data');
  await listens(child, port);
  return {
    pid: Number(/^server (\d+)$/m.exec(String(said))?.[1]),
    async kill() {
      if (child.exitCode !== null) return;
      const gone = once(child, 'exit');
      child.stdin.end();
      await gone;
    },
  };
}

async function listens(child: ChildProcess, port: number): Promise<void> {
  while (child.exitCode === null) {
    const isThere = await fetch(`http://127.0.0.1:${port}/`).then(
      () => true,
      () => false,
    );
    if (isThere) return;
    await delay(20);
  }
  throw new Error(`The S3 server ended with ${child.exitCode}`);
}
