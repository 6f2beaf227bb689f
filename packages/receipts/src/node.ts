import { link, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { evidenceName, fileNameOf, type LogStore } from './history/log-store.ts';

/**
 * A {@link LogStore} in a folder, for the owner's eyes only. Any number of processes may share it: each version of what is kept is a file with
 * a number, and only one process can make the file of the next number.
 */
export const fileLogStore = (folder: string): LogStore => ({
  read: async (origin) => (await newest(join(folder, fileNameOf(origin))))?.text,
  replace: async (origin, before, next) => {
    const base = join(folder, fileNameOf(origin));
    await mkdir(base, { recursive: true, mode: 0o700 });
    const kept = await newest(base);
    if (kept?.text !== before) return false;
    const number = (kept?.number ?? 0) + 1;
    if (!(await makeOnce(base, number, next))) return false;
    const numbers = await numbersIn(base);
    // Either another process goes on from this version already, or this one was so slow that its number was cleared away and free again.
    if (numbers.some((other) => other > number)) {
      await rm(join(base, `${number}.json`), { force: true });
      return false;
    }
    await Promise.all(numbers.filter((other) => other < number).map((old) => rm(join(base, `${old}.json`), { force: true })));
    return true;
  },
  keepEvidence: async (origin, text) => {
    await mkdir(folder, { recursive: true, mode: 0o700 });
    const path = join(folder, evidenceName(origin, text));
    await writeFile(path, text, { mode: 0o600 });
    return path;
  },
});

/** False where the file is there already. A crash leaves the whole file or none. */
async function makeOnce(base: string, number: number, text: string): Promise<boolean> {
  const temporary = join(base, `${crypto.randomUUID()}.tmp`);
  await writeFile(temporary, text, { mode: 0o600, flag: 'wx' });
  try {
    await link(temporary, join(base, `${number}.json`));
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  } finally {
    await rm(temporary, { force: true });
  }
}

async function newest(base: string): Promise<{ readonly number: number; readonly text: string } | undefined> {
  for (;;) {
    const numbers = await numbersIn(base);
    if (numbers.length === 0) return undefined;
    const number = Math.max(...numbers);
    try {
      return { number, text: await readFile(join(base, `${number}.json`), 'utf8') };
    } catch (error) {
      // Replaced between the two looks.
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    }
  }
}

async function numbersIn(base: string): Promise<number[]> {
  const files = await readdir(base).catch((error: NodeJS.ErrnoException): string[] => {
    if (error.code === 'ENOENT') return [];
    throw error;
  });
  return files.flatMap((file) => {
    const number = Number(/^(\d+)\.json$/.exec(file)?.[1]);
    return number > 0 ? [number] : [];
  });
}
