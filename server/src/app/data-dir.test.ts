import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { DataDirInUse, openDataDir } from './data-dir.ts';

let parent: string;
let folder: string;
const children: ChildProcess[] = [];

beforeEach(() => {
  parent = mkdtempSync(join(tmpdir(), 'tallygate-data-dir-'));
  folder = join(parent, 'data');
});

afterEach(() => {
  for (const child of children.splice(0)) child.kill('SIGKILL');
  rmSync(parent, { recursive: true, force: true });
});

/** A process that opens the folder and, when it got it, holds it until it dies, though it forgets the handle. */
async function opener(): Promise<{ child: ChildProcess; said: string }> {
  const script = `
    import { openDataDir } from ${JSON.stringify(new URL('./data-dir.ts', import.meta.url).href)};
    try { openDataDir(${JSON.stringify(folder)}); setInterval(() => {}, 60_000); setImmediate(() => { gc(); console.log('open'); }); }
    catch (failure) { console.log(failure.name); }`;
  const child = spawn(process.execPath, ['--expose-gc', '--input-type=module-typescript', '-e', script], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  children.push(child);
  const [chunk] = await once(child.stdout, 'data');
  return { child, said: String(chunk).trim() };
}

test('creates the folder for its owner only, and unlocks it on release', () => {
  const first = openDataDir(folder);
  if (process.platform !== 'win32') expect(statSync(folder).mode & 0o777).toBe(0o700);
  expect(first.file('blobs', 'x')).toBe(join(first.path, 'blobs', 'x'));
  first.release();
  first.release();
  openDataDir(folder).release();
});

test('refuses a second server on the same folder and names folder, process and way out', async () => {
  const { child } = await opener();
  expect(() => openDataDir(folder)).toThrow(DataDirInUse);
  expect(() => openDataDir(folder)).toThrow(new RegExp(`${folder} is in use by process ${child.pid}\\. Stop that server, or set DATA_DIR`));
});

test('refuses a second opening within one process', () => {
  const first = openDataDir(folder);
  expect(() => openDataDir(folder)).toThrow(DataDirInUse);
  first.release();
});

test('is free again the moment its holder is killed', async () => {
  const { child } = await opener();
  child.kill('SIGKILL');
  await once(child, 'exit');
  openDataDir(folder).release();
});

test('is not fooled by the pid of a living stranger in a file left behind', async () => {
  const { child } = await opener();
  child.kill('SIGKILL');
  await once(child, 'exit');
  writeFileSync(join(folder, 'server.pid'), `${process.ppid}\n`);
  openDataDir(folder).release();
});

test('of several processes that start at once exactly one gets it', async () => {
  const answers = await Promise.all(Array.from({ length: 4 }, opener));
  expect(answers.map(({ said }) => said).sort()).toEqual(['DataDirInUse', 'DataDirInUse', 'DataDirInUse', 'open']);
  expect(existsSync(join(folder, 'server.pid'))).toBe(true);
});
