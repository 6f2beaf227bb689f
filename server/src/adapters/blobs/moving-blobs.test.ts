import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { chunks, describeBlobStoreConformance, keysOf, textOf } from './conformance.ts';
import { openLocalDisk } from './local-disk.ts';
import { moveBlobs, movingBlobs } from './moving-blobs.ts';
import type { BlobStore } from './port.ts';

const LIMITS = { maxBytes: 1024 * 1024 };

async function openTwo() {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'tallygate-moving-')));
  const [from, to] = [await openLocalDisk(join(folder, 'from')), await openLocalDisk(join(folder, 'to'))];
  return { from, to, close: async () => rmSync(folder, { recursive: true }) };
}

describeBlobStoreConformance('a store that blobs are moved into', async () => {
  const { from, to, close } = await openTwo();
  return { store: movingBlobs(from, to), close };
});

let from: BlobStore;
let to: BlobStore;
let both: BlobStore;
let close: () => Promise<void>;
beforeEach(async () => {
  ({ from, to, close } = await openTwo());
  both = movingBlobs(from, to);
});
afterEach(() => close());

test('a blob is readable, listed and deletable before, while and after it is moved', async () => {
  const keys = Array.from({ length: 20 }, (_, index) => `org/${index}`);
  for (const key of keys) await from.put(key, chunks(key), LIMITS);
  expect(await keysOf(both)).toEqual(keys.toSorted());
  await both.delete('org/0');
  let isMoving = true;
  const move = moveBlobs(from, to).finally(() => {
    isMoving = false;
  });
  let reads = 0;
  do {
    for (const key of keys.slice(1)) expect(await textOf(both, key)).toBe(key);
    reads += 1;
  } while (isMoving);
  expect(await move).toEqual({ blobs: 19, bytes: keys.slice(1).join('').length });
  expect(reads).toBeGreaterThan(0);
  expect(await keysOf(from)).toEqual([]);
  expect(await keysOf(to)).toEqual(keys.slice(1).toSorted());
  await both.delete('org/1');
  expect(await textOf(both, 'org/1')).toBeUndefined();
});

test('a blob that is deleted at any point of its move stays deleted', async () => {
  const steps = ['get', 'put', 'delete'] as const;
  for (const step of steps)
    for (const isBefore of [true, false]) {
      await from.put('org/a', chunks('content'), LIMITS);
      await moveBlobs(...interrupted(step, isBefore, () => both.delete('org/a')));
      expect(await textOf(both, 'org/a')).toBeUndefined();
      expect(await keysOf(both)).toEqual([]);
    }
});

test('a move that a failure ends goes on where it ended', async () => {
  for (const key of ['org/a', 'org/b']) await from.put(key, chunks(key), LIMITS);
  let puts = 0;
  const failing: BlobStore = { ...bound(to), put: (...of) => (++puts === 2 ? Promise.reject(new Error('away')) : to.put(...of)) };
  await expect(moveBlobs(from, failing)).rejects.toThrow('away');
  expect(await keysOf(from)).toHaveLength(1);
  expect(await moveBlobs(from, to)).toMatchObject({ blobs: 1 });
  expect(await keysOf(to)).toEqual(['org/a', 'org/b']);
});

/** The stores, with something that happens before or after the first such step of a move. */
function interrupted(step: 'get' | 'put' | 'delete', isBefore: boolean, happen: () => Promise<void>): [BlobStore, BlobStore] {
  const around = <A extends unknown[], T>(work: (...of: A) => Promise<T>) => {
    let isDone = false;
    const once = async () => {
      if (!isDone) await happen();
      isDone = true;
    };
    return async (...of: A): Promise<T> => {
      if (isBefore) await once();
      const result = await work(...of);
      if (!isBefore) await once();
      return result;
    };
  };
  const [first, second] = [bound(from), bound(to)];
  if (step === 'put') return [first, { ...second, put: around(second.put) }];
  if (step === 'get') return [{ ...first, get: around(first.get) }, second];
  return [{ ...first, delete: around(first.delete) }, second];
}

const bound = (store: BlobStore): BlobStore => ({
  put: (...of) => store.put(...of),
  get: (...of) => store.get(...of),
  delete: (...of) => store.delete(...of),
  list: (prefix) => store.list(prefix),
  check: () => store.check(),
  sweepUnfinished: (before) => store.sweepUnfinished(before),
});
