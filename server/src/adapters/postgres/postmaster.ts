import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync, readFileSync, realpathSync, rmSync, statSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';
import pg from 'pg';
import * as z from 'zod';
import { freePort } from '../../kernel/free-port.ts';
import { checkedRow } from '../../kernel/statements.ts';
import { type Cluster, SUPERUSER } from './cluster.ts';
import { isPidInUse } from './pid.ts';
import type { Programs } from './programs.ts';
import { boundLog } from './server-log.ts';

const run = promisify(execFile);
const POLL_MS = 20;

/** The main process of a running PostgreSQL. */
export interface Postmaster {
  readonly pid: number;
  /** On 127.0.0.1 only. */
  readonly port: number;
}

export const urlOf = ({ password }: Cluster, { port }: Postmaster): string =>
  `postgresql://${SUPERUSER}:${password}@127.0.0.1:${port}/postgres`;

/**
 * The postmaster that serves this cluster now, whoever started it; one that is still starting, recovering or stopping is waited
 * for. Undefined when there is none, and then a pid file that would keep a new one from starting is out of the way.
 */
export async function findPostmaster(cluster: Cluster, deadline: number, signal?: AbortSignal): Promise<Postmaster | undefined> {
  while (Date.now() < deadline && !signal?.aborted) {
    const seen = readPidFile(cluster);
    if (!seen) return undefined;
    if (!(await isPostmasterOf(cluster, seen.pid))) {
      removeStalePidFile(cluster, seen.pid);
      return undefined;
    }
    if (seen.ready && (await answersFor(cluster, seen))) return seen;
    await delay(POLL_MS);
  }
  throw new Error(`PostgreSQL in ${cluster.data} is running but does not answer; see ${cluster.logFile}.`);
}

interface LaunchOptions {
  readonly settings: Readonly<Record<string, string>>;
  /** Default: a free one. */
  readonly port?: number;
  readonly deadline: number;
  /** Calls the launch off: what was started is gone again when the launch returns. */
  readonly signal?: AbortSignal;
}

type Launch = { started: true; postmaster: Postmaster } | { started: false; mayRetry: boolean; said: string };

/**
 * Starts a postmaster and waits until it answers or is gone. It is a session of its own, so the terminal's Ctrl-C does not reach
 * it, and it writes to a file, so it does not fail when this process dies.
 */
export async function launchPostmaster(
  cluster: Cluster,
  programs: Programs,
  { settings, port, deadline, signal }: LaunchOptions,
): Promise<Launch> {
  const atPort = String(port ?? (await freePort()));
  const flags = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
  const { file, args, options } = programs.commandLine('postgres', ['-D', cluster.data, '-p', atPort, ...flags]);
  boundLog(cluster.logFile);
  const log = openSync(cluster.logFile, 'a', 0o600);
  const before = statSync(cluster.logFile).size;
  const child = spawn(file, args, { ...options, detached: true, stdio: ['ignore', log, log] });
  closeSync(log);
  child.unref();
  const exit = once(child, 'exit').then(
    () => true,
    () => true, // `error`: it could not be spawned at all
  );
  while (Date.now() < deadline && !signal?.aborted) {
    if (await Promise.race([exit, delay(POLL_MS, false)])) {
      const said = readFileSync(cluster.logFile).subarray(before).toString().trim();
      // Another starter was faster, backends of a killed postmaster are still leaving, or somebody took the port meanwhile.
      return { started: false, mayRetry: /lock file|shared memory block|could not bind/.test(said), said };
    }
    const seen = readPidFile(cluster);
    if (seen?.pid === child.pid && seen?.ready && (await answersFor(cluster, seen))) return { started: true, postmaster: seen };
  }
  child.kill('SIGQUIT');
  while (!(await Promise.race([exit, delay(POLL_MS, false)])));
  return { started: false, mayRetry: false, said: signal?.aborted ? 'It was called off.' : 'It did not become ready in time.' };
}

/**
 * Whether it is still there, told cheaply enough for every second: no other program is asked. In doubt it is; a zombie, which an
 * adopted postmaster remains where nobody reaps orphans, is not.
 */
export function seemsAlive({ data }: Cluster, { pid }: Postmaster): boolean {
  if (!isPidInUse(pid)) return false;
  if (process.platform !== 'linux') return true;
  try {
    return linuxCommandOf(pid).includes(`-D ${data} `);
  } catch {
    return true;
  }
}

/** Fast shutdown: sessions are cut, everything acknowledged is on disk. Returns when the postmaster is gone. */
export async function stopPostmaster(cluster: Cluster, programs: Programs, { pid }: Postmaster): Promise<void> {
  if (process.platform === 'win32') {
    if (!isPidInUse(pid)) return; // pg_ctl fails when there is nothing to stop.
    const { file, args, options } = programs.commandLine('pg_ctl', ['stop', '-m', 'fast', '-w', '-D', cluster.data]);
    await run(file, args, options);
    return;
  }
  const patience = Date.now() + 30_000;
  let signal: NodeJS.Signals = 'SIGINT';
  let isSignalled = false;
  // The pid file goes last. Its absence says more than the pid, which stays visible as a zombie where nobody reaps orphans.
  while (readPidFile(cluster)?.pid === pid && (await isPostmasterOf(cluster, pid))) {
    if (!isSignalled) process.kill(pid, signal);
    isSignalled = true;
    await delay(POLL_MS);
    if (signal === 'SIGINT' && Date.now() > patience) [signal, isSignalled] = ['SIGQUIT', false];
  }
}

/** `postmaster.pid`: line 1 pid, 4 port, 8 state (PostgreSQL's miscadmin.h). Undefined when there is none or it is half written. */
function readPidFile({ data }: Cluster): (Postmaster & { ready: boolean }) | undefined {
  let lines: string[];
  try {
    lines = readFileSync(`${data}/postmaster.pid`, 'utf8').split('\n');
  } catch {
    return undefined;
  }
  const pid = Number(lines[0]);
  return pid > 0 ? { pid, port: Number(lines[3] ?? 0), ready: lines[7]?.trim() === 'ready' } : undefined;
}

/**
 * Only for a pid file whose pid now belongs to a stranger: PostgreSQL, which looks no further than whether the pid is in use,
 * would refuse to start for as long as the stranger lives. It clears away dead pids itself.
 */
function removeStalePidFile(cluster: Cluster, pid: number): void {
  if (isPidInUse(pid) && readPidFile(cluster)?.pid === pid) rmSync(`${cluster.data}/postmaster.pid`, { force: true });
}

/** Whether that process was started as the server of this very data directory: pids are recycled, command lines are not. */
async function isPostmasterOf({ data }: Cluster, pid: number): Promise<boolean> {
  return isPidInUse(pid) && (await commandOf(pid)).includes(`-D ${data} `);
}

/** The command line of a process; empty for one that is gone or a zombie. */
async function commandOf(pid: number): Promise<string> {
  if (process.platform === 'linux') return linuxCommandOf(pid);
  try {
    if (process.platform === 'win32') {
      const query = `(Get-CimInstance Win32_Process -Filter 'ProcessId=${pid}').CommandLine`;
      return (await run('powershell.exe', ['-NoProfile', '-Command', query], { windowsHide: true })).stdout.replaceAll('"', '');
    }
    return (await run('ps', ['-ww', '-o', 'args=', '-p', String(pid)])).stdout;
  } catch {
    return '';
  }
}

/** @throws when it cannot be told, for want of a file descriptor say: whoever took that for a death would start a second server */
function linuxCommandOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ');
  } catch (failure) {
    const isGone = failure instanceof Error && 'code' in failure && (failure.code === 'ENOENT' || failure.code === 'ESRCH');
    if (isGone) return '';
    throw failure;
  }
}

const Shown = z.object({ data_directory: z.string() });

/** Whether the server on that port knows our password and serves our data directory. (SCRAM tells a stranger nothing.) */
async function answersFor(cluster: Cluster, postmaster: Postmaster): Promise<boolean> {
  const client = new pg.Client({ connectionString: urlOf(cluster, postmaster), connectionTimeoutMillis: 5_000 });
  client.on('error', () => {}); // The connection may be cut at any time; the query below fails then.
  try {
    await client.connect();
    const shown = await checkedRow(client, Shown, 'show data_directory');
    return realpathSync(shown?.data_directory ?? '/') === realpathSync(cluster.data);
  } catch {
    return false;
  } finally {
    await client.end().catch(() => {});
  }
}
