import { access, constants, mkdir, open, rename, rm, stat, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { PrivateFile } from './world.ts';

export async function replaceFile(path: string, content: string, { isPrivate = false } = {}): Promise<void> {
  if (isPrivate) await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  const temporary = `${path}.${crypto.randomUUID()}.tmp`;
  await writeFile(temporary, content, { mode: isPrivate ? 0o600 : 0o666, flag: 'wx' });
  await rename(temporary, path);
}

/** Through one handle, so that what is tightened is what is read. Windows has no such modes. */
export async function readPrivateFile(path: string): Promise<PrivateFile> {
  const file = await open(path, 'r');
  try {
    const { mode } = await file.stat();
    const wasExposed = process.platform !== 'win32' && (mode & 0o077) !== 0;
    if (wasExposed) await file.chmod(0o600);
    return { content: await file.readFile('utf8'), wasExposed };
  } finally {
    await file.close();
  }
}

export async function saveBytes(path: string, bytes: AsyncIterable<Uint8Array>): Promise<void> {
  const [{ pipeline }, { createWriteStream }] = await Promise.all([import('node:stream/promises'), import('node:fs')]);
  if (path === '-') return pipeline(bytes, process.stdout, { end: false });
  const temporary = `${path}.${crypto.randomUUID()}.tmp`;
  try {
    await pipeline(bytes, createWriteStream(temporary, { flags: 'wx' }));
    await rename(temporary, path);
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
}

/** Files are written beside their place and then moved there: it is the folder that has to be writable. */
export async function hindranceAt(path: string): Promise<string | undefined> {
  if ((await stat(path).catch(() => undefined))?.isDirectory()) return 'it is a folder';
  const folder = dirname(path);
  if (!(await stat(folder).catch(() => undefined))?.isDirectory()) return `there is no folder ${folder}`;
  return access(folder, constants.W_OK).then(
    () => undefined,
    () => `the folder ${folder} is not yours to write to`,
  );
}

export function undefinedIfMissing(error: NodeJS.ErrnoException): undefined {
  if (error.code !== 'ENOENT') throw error;
}
