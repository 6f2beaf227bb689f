import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { chownSync, existsSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import type { Programs } from './programs.ts';

const run = promisify(execFile);

export const SUPERUSER = 'tallygate';

/** One initialised PostgreSQL data directory and what belongs to it. */
export interface Cluster {
  /** PostgreSQL's own files (PGDATA), a real path. */
  readonly data: string;
  /** Password of `SUPERUSER`, 48 hex digits. */
  readonly password: string;
  /** Names the process that answers for stopping the postmaster (see orphan-guard.ts). */
  readonly leaseFile: string;
  readonly logFile: string;
}

/** Whether `openCluster` would find one. */
export const hasCluster = (dir: string): boolean => existsSync(join(dir, 'cluster'));

/** Opens the cluster under `dir`, creating it on the first start. Safe against another process that does the same. */
export async function openCluster(dir: string, programs: Programs): Promise<Cluster> {
  mkdirSync(dir, { recursive: true, mode: 0o700 });
  const root = realpathSync(resolve(dir));
  if (programs.owner) chownSync(root, programs.owner.uid, programs.owner.gid);
  const home = join(root, 'cluster');
  if (!existsSync(home)) await createCluster(root, home, programs);
  return {
    data: join(home, 'data'),
    password: readFileSync(join(home, 'password'), 'utf8'),
    leaseFile: join(home, 'lease'),
    logFile: join(root, 'postgres.log'),
  };
}

/**
 * initdb works in a folder of its own that is then renamed into place. So a cluster is there whole, with its password, or not
 * at all: a kill in the middle leaves only rubbish beside it, and of two first starts one rename wins.
 */
async function createCluster(root: string, home: string, programs: Programs): Promise<void> {
  const staging = mkdtempSync(join(root, 'new-'));
  const passwordFile = join(staging, 'password');
  try {
    writeFileSync(passwordFile, randomBytes(24).toString('hex'), { mode: 0o600 });
    if (programs.owner) for (const path of [staging, passwordFile]) chownSync(path, programs.owner.uid, programs.owner.gid);
    // Any local user can reach a port on the loopback interface, so the password is asked for there too.
    const { file, args, options } = programs.commandLine('initdb', [
      ...['-D', join(staging, 'data'), '-U', SUPERUSER, '--auth=scram-sha-256', `--pwfile=${passwordFile}`],
      ...['--encoding=UTF8', '--locale=C', '--no-instructions'],
    ]);
    await run(file, args, options);
    if (!existsSync(home)) renameSync(staging, home);
  } catch (cause) {
    if (!existsSync(home)) throw new Error(`PostgreSQL could not be initialised in ${root}: ${detailOf(cause)}`, { cause });
  } finally {
    rmSync(staging, { recursive: true, force: true });
  }
}

/** What the program itself said, when it said anything. */
function detailOf(failure: unknown): string {
  if (failure instanceof Error && 'stderr' in failure && typeof failure.stderr === 'string' && failure.stderr) return failure.stderr.trim();
  return String(failure);
}
