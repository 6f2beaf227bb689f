import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { chunks, describeBlobStoreConformance, keysOf, textOf } from './conformance.ts';
import { openLocalDisk } from './local-disk.ts';

const LIMITS = { maxBytes: 1024 * 1024 };
const isWindows = process.platform === 'win32';
const newFolder = () => realpathSync(mkdtempSync(join(tmpdir(), 'tallygate-blobs-')));

describeBlobStoreConformance('the local disk', async () => {
  const folder = newFolder();
  return {
    store: await openLocalDisk(folder),
    close: async () => {
      // Whatever a test did, finished or refused, nothing half-done may stay.
      expect(readdirSync(join(folder, 'incoming'))).toEqual([]);
      rmSync(folder, { recursive: true });
    },
  };
});

let parent: string;
let folder: string;
const children: ChildProcess[] = [];
beforeEach(() => {
  parent = newFolder();
  folder = join(parent, 'blobs');
});
afterEach(() => {
  for (const child of children.splice(0)) child.kill('SIGKILL');
  rmSync(parent, { recursive: true, force: true });
});

/** A process that opens the folder as `store` and runs the script; what it prints, line by line. */
function inProcess(script: string, [program, ...prefix]: [string, ...string[]] = [process.execPath]) {
  const source = `
    import { openLocalDisk } from ${JSON.stringify(new URL('./local-disk.ts', import.meta.url).href)};
    const store = await openLocalDisk(${JSON.stringify(folder)});
    ${script}`;
  const conditions = ['--conditions=tallygate-source', '--input-type=module-typescript', '-e', source];
  const child = spawn(program, [...prefix, ...conditions], { stdio: ['ignore', 'pipe', 'inherit'] });
  children.push(child);
  const lines = createInterface(child.stdout)[Symbol.asyncIterator]();
  return {
    nextLine: async () => (await lines.next()).value,
    kill: async () => {
      const gone = once(child, 'exit');
      child.kill('SIGKILL');
      await gone;
    },
  };
}

describe('a writer that is killed', () => {
  test('in the middle of a put leaves what the key held before, and its leftovers are swept', async () => {
    const writer = inProcess(`
      const content = async function* () { yield Buffer.alloc(500_000); console.log('half'); await new Promise(() => setInterval(() => {}, 60_000)); };
      await store.put('org/a', [Buffer.from('before')], { maxBytes: 1e6 });
      await Promise.all(['org/a', 'org/b'].map((key) => store.put(key, content(), { maxBytes: 1e6 })));`);
    expect([await writer.nextLine(), await writer.nextLine()]).toEqual(['half', 'half']);
    await writer.kill();
    expect(readdirSync(join(folder, 'incoming'))).toHaveLength(2);

    const store = await openLocalDisk(folder);
    await store.sweepUnfinished(new Date(Date.now() - 60_000));
    expect(readdirSync(join(folder, 'incoming'))).toHaveLength(2);
    await store.sweepUnfinished(new Date(Date.now() + 60_000));
    expect(readdirSync(join(folder, 'incoming'))).toEqual([]);
    expect(await textOf(store, 'org/a')).toBe('before');
    expect(await keysOf(store)).toEqual(['org/a']);
  });

  test('is not disturbed by another process that opens the folder', async () => {
    const goOn = Promise.withResolvers<void>();
    const begun = Promise.withResolvers<void>();
    async function* content() {
      yield Buffer.from('first, ');
      begun.resolve();
      await goOn.promise;
      yield Buffer.from('second');
    }
    const put = (await openLocalDisk(folder)).put('org/a', content(), LIMITS);
    await begun.promise;
    const other = await openLocalDisk(folder);
    goOn.resolve();
    expect(await put).toMatchObject({ stored: true });
    expect(await textOf(other, 'org/a')).toBe('first, second');
  });

  test('at any moment leaves every blob whole, and every one that it was told is stored', async () => {
    const length = 300_000;
    for (const puts of [1, 7, 20]) {
      const writer = inProcess(`
        for (let n = 0; ; n += 1) {
          const content = Array.from({ length: 3 }, () => Buffer.alloc(${length / 3}, String(n % 10)));
          await Promise.all(['org/same', 'org/' + n + '/own'].map((key) => store.put(key, content, { maxBytes: 1e6 })));
          console.log(n);
        }`);
      const told: string[] = [];
      while (told.length < puts) told.push(`org/${await writer.nextLine()}/own`);
      await writer.kill();

      const store = await openLocalDisk(folder);
      const keys = await keysOf(store);
      expect(keys).toEqual(expect.arrayContaining(told));
      for (const key of keys) expect(await textOf(store, key)).toMatch(new RegExp(`^(\\d)\\1{${length - 1}}$`));
      rmSync(folder, { recursive: true });
    }
  });
});

test.skipIf(isWindows)(
  'a disk that takes no more fails the put in the middle of a write, leaves what was there, and recovers',
  async () => {
    // The kernel cuts writes off behind 512 blocks of a file, the same way as on a full disk: first a short write, then an error.
    const writer = inProcess(
      `
    await store.put('org/a', [Buffer.from('before')], { maxBytes: 1e7 });
    const refusal = (key) => store.put(key, [Buffer.alloc(100_001), Buffer.alloc(1_000_000)], { maxBytes: 1e7 }).catch((error) => error.code);
    console.log(await refusal('org/a'), await refusal('org/b'));
    console.log(JSON.stringify(await store.put('org/c', [Buffer.from('fits')], { maxBytes: 1e7 })));`,
      ['sh', '-c', 'ulimit -f 512 && exec "$0" "$@"', process.execPath],
    );
    expect(await writer.nextLine()).toBe('EFBIG EFBIG');
    expect(await writer.nextLine()).toContain('"stored":true');
    expect(readdirSync(join(folder, 'incoming'))).toEqual([]);
    const store = await openLocalDisk(folder);
    expect(await keysOf(store)).toEqual(['org/a', 'org/c']);
    expect(await textOf(store, 'org/a')).toBe('before');
  },
);

test('reopens with everything that was stored', async () => {
  await (await openLocalDisk(folder)).put('org/a', chunks('content'), LIMITS);
  expect(await textOf(await openLocalDisk(folder), 'org/a')).toBe('content');
});

test.skipIf(isWindows)('nobody but the owner may read, whatever the umask', async () => {
  const umask = process.umask(0);
  try {
    const store = await openLocalDisk(folder);
    await store.put('org/a', chunks('content'), LIMITS);
  } finally {
    process.umask(umask);
  }
  const modes = ['.', 'incoming', 'objects', 'objects/org', 'objects/org/a@blob'].map((path) => statSync(join(folder, path)).mode & 0o777);
  expect(modes).toEqual([0o700, 0o700, 0o700, 0o700, 0o600]);
});

test('a folder that has gone fails the check and the put', async () => {
  const store = await openLocalDisk(folder);
  rmSync(folder, { recursive: true });
  await expect(store.check()).rejects.toThrow('ENOENT');
  await expect(store.put('org/a', chunks('content'), LIMITS)).rejects.toThrow('ENOENT');
});

test('many checks at once are one probe, and none is left behind', async () => {
  const store = await openLocalDisk(folder);
  const [first, second] = [store.check(), store.check()];
  expect(first).toBe(second);
  await first;
  expect(store.check()).not.toBe(first);
  await store.check();
  expect(readdirSync(join(folder, 'incoming'))).toEqual([]);
});

describe.skipIf(isWindows)('a symbolic link', () => {
  let outside: string;
  beforeEach(() => {
    outside = join(parent, 'outside');
    mkdirSync(outside);
    writeFileSync(join(outside, 'a@blob'), 'secret');
  });

  test('in place of a folder leads no method out', async () => {
    const store = await openLocalDisk(folder);
    mkdirSync(join(folder, 'objects/org'));
    for (const prefix of ['near', 'org/far']) {
      symlinkSync(outside, join(folder, 'objects', prefix));
      const key = `${prefix}/a`;
      await expect(store.get(key)).rejects.toThrow('symbolic link');
      await expect(store.delete(key)).rejects.toThrow('symbolic link');
      await expect(keysOf(store, prefix)).rejects.toThrow('symbolic link');
      for (const each of [key, `${prefix}/b/c`]) await expect(store.put(each, chunks('ours'), LIMITS)).rejects.toThrow('symbolic link');
    }
    expect(await keysOf(store)).toEqual([]);
    expect(readdirSync(outside)).toEqual(['a@blob']);
    expect(readFileSync(join(outside, 'a@blob'), 'utf8')).toBe('secret');
    expect(readdirSync(join(folder, 'incoming'))).toEqual([]);
  });

  test('in place of a blob is not read, listed or written through', async () => {
    const store = await openLocalDisk(folder);
    mkdirSync(join(folder, 'objects/org'));
    const secret = join(outside, 'a@blob');
    const link = join(folder, 'objects/org/a@blob');
    symlinkSync(secret, link);
    await expect(store.get('org/a')).rejects.toThrow('ELOOP');
    expect(await keysOf(store)).toEqual([]);
    await store.delete('org/a');
    symlinkSync(secret, link);
    await store.put('org/a', chunks('ours'), LIMITS);
    expect(await textOf(store, 'org/a')).toBe('ours');
    expect(readFileSync(secret, 'utf8')).toBe('secret');
  });

  test('to a folder elsewhere may be the whole store', async () => {
    symlinkSync(outside, folder);
    const store = await openLocalDisk(folder);
    await store.put('org/a', chunks('content'), LIMITS);
    expect(await textOf(store, 'org/a')).toBe('content');
    expect(await keysOf(store)).toEqual(['org/a']);
  });
});
