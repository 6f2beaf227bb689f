import { chmodSync, mkdtempSync, readdirSync, rmSync, statfsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isPidInUse } from '../server/src/adapters/postgres/pid.ts';

const PREFIX = 'tallygate-test-';
const MEMORY = '/dev/shm';
/** A run keeps less than 1 GiB of files at a time. */
const ENOUGH_BYTES = 4 * 1024 ** 3;

/**
 * One folder for all temporary files of a test run, in memory where there is enough: databases, data directories and blobs are written
 * hundreds of times, and nothing of them outlives the run. What is left by a run whose main process was killed, the next one removes.
 */
export default function setup(): () => void {
  const original = process.env['TMPDIR'];
  const root = hasRoomInMemory() ? MEMORY : tmpdir();
  for (const place of new Set([root, tmpdir()])) removeLeftovers(place);
  const folder = mkdtempSync(join(root, `${PREFIX}${process.pid}-`));
  chmodSync(folder, 0o711); // PostgreSQL, which may run as another user, has its own folder in it.
  process.env['TMPDIR'] = folder;
  return () => {
    if (original === undefined) delete process.env['TMPDIR'];
    else process.env['TMPDIR'] = original;
    rmSync(folder, { recursive: true, force: true });
  };
}

function hasRoomInMemory(): boolean {
  try {
    const { bavail, bsize } = statfsSync(MEMORY);
    return bavail * bsize >= ENOUGH_BYTES;
  } catch {
    return false;
  }
}

/** Folders of runs whose main process has ended. */
function removeLeftovers(place: string): void {
  for (const name of readdirSync(place)) {
    const pid = name.startsWith(PREFIX) ? Number(name.slice(PREFIX.length).split('-')[0]) : Number.NaN;
    if (pid > 0 && !isPidInUse(pid)) rmSync(join(place, name), { recursive: true, force: true });
  }
}
