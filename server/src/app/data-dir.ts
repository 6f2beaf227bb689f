import { mkdirSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { DatabaseSync } from 'node:sqlite';

/** The folder that holds everything this server keeps outside its database. It is ours until `release`. */
export interface DataDir {
  /** Absolute, symbolic links resolved. */
  readonly path: string;
  /** The absolute path of something inside. */
  file(...segments: string[]): string;
  /** Gives the folder up; the end of the process does so too, however it comes. */
  release(): void;
}

/** Another process serves from this folder. Two would corrupt each other's journals. */
export class DataDirInUse extends Error {
  constructor(path: string, pid: number | undefined) {
    const holder = pid === undefined ? 'another process' : `process ${pid}`;
    super(`The data directory ${path} is in use by ${holder}. Stop that server, or set DATA_DIR to another folder.`);
    this.name = 'DataDirInUse';
  }
}

const SQLITE_BUSY = 5;
// A database handle that nothing refers to is closed by the garbage collector, and the lock would go with it.
const held = new Set<DatabaseSync>();

/**
 * Opens the folder, creating it with mode 0700, for this process alone.
 *
 * A pid in a file is not reliable: after `kill -9` or a restart of the container the same pid soon belongs to another process. Only the
 * kernel knows who is alive, and it releases locks on files with the process that held them. Node has no call for such a lock,
 * but the SQLite inside Node takes one (fcntl on Unix, LockFileEx on Windows), so the lock is an open exclusive transaction on
 * an empty database. The pid beside it only makes the message better.
 *
 * @throws DataDirInUse
 */
export function openDataDir(folder: string): DataDir {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const path = realpathSync(resolve(folder));
  const pidFile = join(path, 'server.pid');
  const unlock = lock(join(path, 'server.lock'));
  if (!unlock) throw new DataDirInUse(path, pidIn(pidFile));
  writeFileSync(pidFile, `${process.pid}\n`, { mode: 0o600 });
  return {
    path,
    file: (...segments) => join(path, ...segments),
    release: () => {
      if (!unlock.isHeld()) return;
      rmSync(pidFile, { force: true }); // Before the lock goes: afterwards it may be the next server's.
      unlock.release();
    },
  };
}

/** The folder of the process that has started this one, and holds it. */
export function dataDirOfAuthority(folder: string): DataDir {
  const path = realpathSync(resolve(folder));
  return { path, file: (...segments) => join(path, ...segments), release: () => {} };
}

/** Undefined when another process holds the lock. */
function lock(path: string): { isHeld(): boolean; release(): void } | undefined {
  const database = new DatabaseSync(path);
  try {
    database.exec('pragma locking_mode = exclusive; begin exclusive');
    held.add(database);
    return {
      isHeld: () => held.has(database),
      release: () => {
        held.delete(database);
        database.close();
      },
    };
  } catch (failure) {
    database.close();
    if (failure instanceof Error && 'errcode' in failure && failure.errcode === SQLITE_BUSY) return undefined;
    throw failure;
  }
}

function pidIn(file: string): number | undefined {
  try {
    return Number.parseInt(readFileSync(file, 'utf8'), 10) || undefined;
  } catch {
    return undefined;
  }
}
