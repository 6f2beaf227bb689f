import { mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { chunks, describeBlobStoreConformance, textOf } from './conformance.ts';
import { openLocalDisk } from './local-disk.ts';
import type { BlobStore } from './port.ts';
import { sealedBlobs } from './sealed-blobs.ts';

const KEY = Buffer.alloc(32, 7);
const LIMITS = { maxBytes: 1024 * 1024 };
const newFolder = () => realpathSync(mkdtempSync(join(tmpdir(), 'tallygate-sealed-')));

describeBlobStoreConformance('the local disk, sealed', async () => {
  const folder = newFolder();
  return {
    store: sealedBlobs(await openLocalDisk(folder), () => KEY),
    close: async () => {
      expect(readdirSync(join(folder, 'incoming'))).toEqual([]);
      rmSync(folder, { recursive: true });
    },
  };
});

describe('a sealed blob', () => {
  let folder: string;
  let plain: BlobStore;
  let store: BlobStore;
  beforeEach(async () => {
    folder = newFolder();
    plain = await openLocalDisk(folder);
    store = sealedBlobs(plain, () => KEY);
  });
  afterEach(() => rmSync(folder, { recursive: true }));
  const fileOf = (key: string) => join(folder, 'objects', `${key}@blob`);
  const read = async (key: string, range?: { start: number; end?: number }) => {
    const blob = await store.get(key, range && { range });
    return blob && Buffer.concat(await blob.stream.toArray());
  };

  test('has nothing of its content on the disk', async () => {
    await store.put('a/b', chunks('the launch codes are 0000'), LIMITS);
    expect(readFileSync(fileOf('a/b')).includes('launch codes')).toBe(false);
    expect(await textOf(store, 'a/b')).toBe('the launch codes are 0000');
  });

  test('is read whole and in any part as it was written, whatever its size', async () => {
    const sizes = fc.oneof(
      fc.integer({ min: 0, max: 40 }),
      fc.integer({ min: 65_530, max: 65_545 }),
      fc.integer({ min: 131_060, max: 131_085 }),
    );
    await fc.assert(
      fc.asyncProperty(sizes, fc.nat(140_000), fc.nat(140_000), fc.integer({ min: 1, max: 70_000 }), async (size, start, more, step) => {
        const bytes = Buffer.from(Array.from({ length: size }, (_, at) => (at * 31 + (at >> 8)) & 255));
        const pieces = Array.from({ length: Math.ceil(size / step) }, (_, at) => bytes.subarray(at * step, (at + 1) * step));
        expect(await store.put('a', chunks(...pieces), LIMITS)).toMatchObject({ stored: true, size });
        expect(await read('a')).toEqual(bytes);
        expect((await read('a', { start, end: start + more }))?.equals(bytes.subarray(start, start + more + 1))).toBe(true);
        const whole = await store.get('a');
        whole?.stream.destroy();
        expect(whole?.size).toBe(size);
      }),
      { numRuns: 40 },
    );
  });

  test.each([
    ['a changed byte', (bytes: Buffer) => bytes.fill(bytes.readUInt8(100) ^ 1, 100, 101)],
    ['another salt', (bytes: Buffer) => bytes.fill(0, 20, 24)],
    ['its last piece cut off', (bytes: Buffer) => bytes.subarray(0, 48 + 2 * 65_552)],
    ['a part of a piece cut off', (bytes: Buffer) => bytes.subarray(0, -1)],
    [
      'two pieces in each other’s place',
      (bytes: Buffer) =>
        Buffer.concat([
          bytes.subarray(0, 48),
          bytes.subarray(48 + 65_552, 48 + 2 * 65_552),
          bytes.subarray(48, 48 + 65_552),
          bytes.subarray(48 + 2 * 65_552),
        ]),
    ],
  ])('with %s is not read', async (_what, changed) => {
    await store.put('a', chunks(Buffer.alloc(200_000, 'x')), LIMITS);
    writeFileSync(fileOf('a'), changed(readFileSync(fileOf('a'))));
    await expect(read('a')).rejects.toThrow();
  });

  test('opens under no other key, and with no other account’s key', async () => {
    await store.put('a', chunks('mine'), LIMITS);
    writeFileSync(fileOf('b'), readFileSync(fileOf('a')));
    await expect(read('b')).rejects.toThrow();
    const others = await sealedBlobs(plain, () => Buffer.alloc(32, 8)).get('a');
    await expect(others?.stream.toArray()).rejects.toThrow();
  });

  test('from before blobs were sealed is read as it is', async () => {
    await plain.put('old', chunks('an older file'), LIMITS);
    expect(await textOf(store, 'old')).toBe('an older file');
    expect((await read('old', { start: 3, end: 7 }))?.toString()).toBe('older');
  });
});
