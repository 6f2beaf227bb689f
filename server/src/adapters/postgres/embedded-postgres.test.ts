import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { pino } from 'pino';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import type { Log } from '../../kernel/log.ts';
import { type EmbeddedPostgres, startEmbeddedPostgres } from './embedded-postgres.ts';

const settings = { fsync: 'off' };
const children: ChildProcess[] = [];
let parent: string;
let dir: string;

beforeAll(() => {
  parent = mkdtempSync(join(tmpdir(), 'tallygate-embedded-'));
  dir = join(parent, 'postgres');
});

afterAll(async () => {
  for (const child of children) child.kill('SIGKILL');
  await (await start()).stop();
  rmSync(parent, { recursive: true, force: true });
});

const start = () => startEmbeddedPostgres({ dir, settings, orphanGraceMs: 60_000 });

/** Starts PostgreSQL in a process of its own, which leads a process group. */
async function startElsewhere(orphanGraceMs = 60_000): Promise<{ owner: ChildProcess; url: string }> {
  const script = `
    import { startEmbeddedPostgres } from ${JSON.stringify(new URL('./embedded-postgres.ts', import.meta.url).href)};
    const { url } = await startEmbeddedPostgres(${JSON.stringify({ dir, settings, orphanGraceMs })});
    console.log(url);
    setInterval(() => {}, 60_000);`;
  const args = ['--conditions=tallygate-source', '--input-type=module-typescript', '-e', script];
  const owner = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'], detached: true });
  children.push(owner);
  const [url] = await once(owner.stdout, 'data');
  return { owner, url: String(url).trim() };
}

async function kill(child: ChildProcess): Promise<void> {
  child.kill('SIGKILL');
  await once(child, 'exit');
}

async function query(url: string, sql: string): Promise<unknown[]> {
  const client = new pg.Client({ connectionString: url });
  client.on('error', () => {});
  try {
    await client.connect();
    return (await client.query({ text: sql, rowMode: 'array' })).rows.flat();
  } finally {
    await client.end().catch(() => {});
  }
}

async function listenAt(port: number): Promise<Server> {
  const server = createServer().listen(port, '127.0.0.1');
  await once(server, 'listening');
  return server;
}

/** Resolves with what it answers as soon as it does. */
const answerOf = (url: string, sql: string) => vi.waitFor(() => query(url, sql), { timeout: 60_000, interval: 20 });

/** A log that is not written, and waits for a line. */
function watchedLog(awaited: string): { log: Log; line: Promise<void> } {
  const { promise: line, resolve } = Promise.withResolvers<void>();
  const write = (text: string) => {
    if (text.includes(awaited)) resolve();
  };
  return { log: pino({}, { write }), line };
}

const postmasterPid = () => Number(readFileSync(join(dir, 'cluster/data/postmaster.pid'), 'utf8').split('\n')[0]);

test('the first start creates a database that only the password opens', async () => {
  const postgres = await start();
  const url = new URL(postgres.url);
  expect(url.hostname).toBe('127.0.0.1');
  expect(await query(postgres.url, 'show listen_addresses')).toEqual(['127.0.0.1']);
  expect(await query(postgres.url, 'show unix_socket_directories')).toEqual(['']);
  url.password = 'guess';
  await expect(query(url.href, 'select 1')).rejects.toThrow(/password authentication failed/);
  if (process.platform !== 'win32') expect(statSync(join(dir, 'cluster/password')).mode & 0o777).toBe(0o600);
  await postgres.stop();
});

test('a restart keeps the data', async () => {
  const before = await start();
  await query(before.url, 'create table kept as select 42 as n');
  await before.stop();
  await expect(query(before.url, 'select 1')).rejects.toThrow();
  const after = await start();
  expect(await query(after.url, 'select n from kept')).toEqual([42]);
  await after.stop();
});

test('of two first starts at once both get the same database', async () => {
  const fresh = join(parent, 'raced');
  const [one, other] = await Promise.all([1, 2].map(() => startEmbeddedPostgres({ dir: fresh, settings })));
  expect(one?.url).toBe(other?.url);
  await Promise.all([one?.stop(), other?.stop()]);
});

test('adopts the postmaster of an owner that was killed, and can stop it', async () => {
  const { owner, url } = await startElsewhere();
  await kill(owner);
  const adopted: EmbeddedPostgres = await start();
  expect(adopted.url).toBe(url);
  await adopted.stop();
  await expect(query(url, 'select 1')).rejects.toThrow();
});

test('recovers from the death of the postmaster', async () => {
  const before = await start();
  await query(before.url, 'create table recovered as select 7 as n');
  process.kill(postmasterPid(), 'SIGKILL');
  const after = await start();
  expect(await query(after.url, 'select n from recovered')).toEqual([7]);
  await after.stop();
  await before.stop();
});

test('a pid file whose pid now belongs to a stranger does not keep it from starting', async () => {
  const before = await start();
  const pidFile = join(dir, 'cluster/data/postmaster.pid');
  const [, ...rest] = readFileSync(pidFile, 'utf8').split('\n');
  await before.stop();
  writeFileSync(pidFile, [process.pid, ...rest].join('\n'));
  const after = await start();
  expect(await query(after.url, 'select 1')).toEqual([1]);
  await after.stop();
});

test.skipIf(process.platform === 'win32')('a Ctrl-C in the terminal does not reach the postmaster', async () => {
  const { owner, url } = await startElsewhere();
  process.kill(-(owner.pid ?? Number.NaN), 'SIGINT');
  await once(owner, 'exit');
  expect(await query(url, 'select 1')).toEqual([1]);
  await (await start()).stop();
});

test.skipIf(process.platform === 'win32')('an orphan that nobody adopts in time shuts down', async () => {
  const { owner, url } = await startElsewhere(0);
  await kill(owner);
  await expect.poll(() => query(url, 'select 1').catch(() => 'gone'), { timeout: 60_000 }).toBe('gone');
});

test.skipIf(process.platform === 'win32')('an orphan that was adopted is not shut down by the guard of its first owner', async () => {
  const { owner, url } = await startElsewhere(1_000);
  await kill(owner);
  const adopted = await start();
  await query(url, 'select pg_sleep(1.5)'); // longer than the first owner's grace
  expect(await query(adopted.url, 'select 1')).toEqual([1]);
  await adopted.stop();
});

test('a postmaster that dies is started again on its port, with its data', async () => {
  const { log, line } = watchedLog('is running again');
  const postgres = await startEmbeddedPostgres({ dir, settings, log });
  await query(postgres.url, 'create table survived as select 5 as n');
  const pid = postmasterPid();
  process.kill(pid, 'SIGKILL');
  await line;
  expect(postmasterPid()).not.toBe(pid);
  expect(await query(postgres.url, 'select n from survived')).toEqual([5]);
  await postgres.stop();
  await expect(query(postgres.url, 'select 1')).rejects.toThrow();
});

test('so is one that was adopted, and one that dies again', async () => {
  const { owner, url } = await startElsewhere();
  await kill(owner);
  const adopted = await start();
  for (let death = 0; death < 2; death++) {
    const pid = postmasterPid();
    process.kill(pid, 'SIGKILL');
    await vi.waitFor(() => expect(postmasterPid()).not.toBe(pid), { timeout: 60_000 });
    expect(await answerOf(url, 'select 1')).toEqual([1]);
  }
  await adopted.stop();
});

test('stopped during such a restart, it stays stopped', async () => {
  const { log, line } = watchedLog('starting it again');
  const onGone = vi.fn();
  const postgres = await startEmbeddedPostgres({ dir, settings, log, onGone });
  process.kill(postmasterPid(), 'SIGKILL');
  await line;
  await postgres.stop();
  await expect(query(postgres.url, 'select 1')).rejects.toThrow();
  expect(onGone).not.toHaveBeenCalled();
  // Whatever the interrupted start left behind, the next one copes.
  const after = await start();
  expect(await query(after.url, 'select 1')).toEqual([1]);
  await after.stop();
});

test('is given up when it does not start again, and says so once', async () => {
  const { promise: gone, resolve } = Promise.withResolvers<void>();
  const onGone = vi.fn(resolve);
  const postgres = await startEmbeddedPostgres({ dir, settings, onGone, restartDelaysMs: [0, 10] });
  process.kill(postmasterPid(), 'SIGKILL');
  const squatter = await vi.waitFor(() => listenAt(Number(new URL(postgres.url).port)), { timeout: 60_000, interval: 5 });
  await gone;
  await postgres.stop();
  squatter.close();
  expect(onGone).toHaveBeenCalledOnce();
});

test('is left to the process that took it over', async () => {
  const { promise: gone, resolve: onGone } = Promise.withResolvers<void>();
  const before = await startEmbeddedPostgres({ dir, settings, onGone });
  const { owner } = await startElsewhere();
  process.kill(postmasterPid(), 'SIGKILL');
  await gone;
  expect(await answerOf(before.url, 'select 1')).toEqual([1]);
  await before.stop();
  expect(await query(before.url, 'select 1')).toEqual([1]);
  await kill(owner);
});
