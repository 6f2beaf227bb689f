import { createHash } from 'node:crypto';
import { text } from 'node:stream/consumers';
import { setImmediate as turn } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type BlobStore, InvalidBlobKey } from './port.ts';

/** A store under test. It starts empty. */
export interface BlobStoreUnderTest {
  readonly store: BlobStore;
  close(): Promise<void>;
}

const MIB = 1024 * 1024;
const LIMITS = { maxBytes: MIB };
/** Of buffers, that a store may take for a blob of any size. */
const MOST_BYTES = 32 * MIB;
const KEY = 'org/0197-a/0197-b';

export async function* chunks(...parts: (string | Uint8Array)[]): AsyncGenerator<Uint8Array, void, undefined> {
  for (const part of parts) yield Buffer.from(part);
}

export async function keysOf(store: BlobStore, prefix = ''): Promise<string[]> {
  const keys: string[] = [];
  for await (const key of store.list(prefix)) keys.push(key);
  return keys.sort();
}

export async function textOf(store: BlobStore, key: string): Promise<string | undefined> {
  const blob = await store.get(key);
  return blob && text(blob.stream);
}

async function bytesOf(stream: AsyncIterable<Buffer>): Promise<Buffer> {
  const parts: Buffer[] = [];
  for await (const part of stream) parts.push(part);
  return Buffer.concat(parts);
}

/**
 * Node hands it out only when asked by a flag; contexts that are made after that have it. `minor` takes what is young, at once also where other
 * tests of the process have left much.
 */
function garbageCollector(): (options?: { type: 'minor' }) => void {
  setFlagsFromString('--expose-gc');
  const collect: unknown = runInNewContext('gc');
  if (typeof collect !== 'function') throw new Error('This Node has no gc()');
  return (options) => collect(options);
}

const sha256 = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex');

/** Content that yields its first part and then waits to be let go on. */
function paused(first: string, second: string) {
  const reached = Promise.withResolvers<void>();
  const goOn = Promise.withResolvers<void>();
  async function* content() {
    yield Buffer.from(first);
    reached.resolve();
    await goOn.promise;
    yield Buffer.from(second);
  }
  return { content: content(), reached: reached.promise, goOn: goOn.resolve };
}

/** No driver may let any of these near a file system, a URL or a signature. */
const BAD_KEYS = [
  ...['', '/', '.', '..', '../x', 'a/..', 'a/../b', '../../etc/passwd', '/etc/passwd', './a', 'a/./b', 'a//b', 'a/', '/a', '.hidden'],
  ...['a/.b', 'a\\b', '..\\x', 'C:\\x', 'C:x', '%2e%2e/x', 'a\0b', 'a b', 'a\nb', 'a\n', 'ä', 'ａ', 'a@blob', '~', 'a?b', 'a*', 'a#b'],
  ...['a'.repeat(129), Array(300).fill('ab').join('/')],
];

/** What every blob store promises, whatever stands behind it. Call it from a test file. */
export function describeBlobStoreConformance(name: string, makeStore: () => Promise<BlobStoreUnderTest>): void {
  let store: BlobStore;
  let close: () => Promise<void>;
  beforeEach(async () => {
    ({ store, close } = await makeStore());
  });
  afterEach(() => close());

  describe(`${name} stores`, () => {
    test('any content in any pieces, and gives it back byte for byte with its size and SHA-256', async () => {
      const pieces = fc.array(fc.uint8Array({ maxLength: 200, size: 'max' }), { maxLength: 12 });
      const content = fc.tuple(pieces, fc.constantFrom(0, 1, 65_535, 65_536, 200_001));
      await fc.assert(
        fc.asyncProperty(content, async ([parts, more]) => {
          const whole = [...parts, new Uint8Array(more).fill(7)];
          const bytes = Buffer.concat(whole);
          const facts = { size: bytes.length, sha256: sha256(bytes) };
          expect(await store.put(KEY, chunks(...whole), LIMITS)).toEqual({ stored: true, ...facts });
          const blob = await store.get(KEY);
          expect(blob).toMatchObject({ size: bytes.length, length: bytes.length });
          expect(blob && bytes.equals(await bytesOf(blob.stream))).toBe(true);
        }),
        { numRuns: 40 },
      );
    });

    test('nothing that is longer than allowed, and reads no further and leaves what was there', async () => {
      await store.put(KEY, chunks('before'), LIMITS);
      const seen: string[] = [];
      async function* endless() {
        try {
          for (;;) {
            seen.push('read');
            yield Buffer.alloc(4);
          }
        } finally {
          seen.push('closed');
        }
      }
      expect(await store.put(KEY, endless(), { maxBytes: 10 })).toEqual({ stored: false, reason: 'too_large', maxBytes: 10 });
      expect(seen).toEqual(['read', 'read', 'read', 'closed']);
      expect(await store.put('org/other', endless(), { maxBytes: 10 })).toMatchObject({ stored: false });
      expect(await textOf(store, KEY)).toBe('before');
      expect(await keysOf(store)).toEqual([KEY]);
    });

    test('exactly as much as allowed', async () => {
      expect(await store.put(KEY, chunks('12345', '67890'), { maxBytes: 10 })).toMatchObject({ stored: true, size: 10 });
      expect(await store.put('empty', chunks(), { maxBytes: 0 })).toMatchObject({ stored: true, size: 0, sha256: sha256(Buffer.of()) });
      expect(await textOf(store, 'empty')).toBe('');
    });

    test('nothing of content that fails on the way, says why, and leaves what was there', async () => {
      await store.put(KEY, chunks('before'), LIMITS);
      const hungUp = new Error('The client hung up');
      async function* failing() {
        yield Buffer.alloc(100_000);
        throw hungUp;
      }
      await expect(store.put(KEY, failing(), LIMITS)).rejects.toBe(hungUp);
      await expect(store.put('org/other', failing(), LIMITS)).rejects.toBe(hungUp);
      expect(await textOf(store, KEY)).toBe('before');
      expect(await keysOf(store)).toEqual([KEY]);
    });

    test('unseen until it is whole', async () => {
      const { content, reached, goOn } = paused('first, ', 'second');
      const put = store.put(KEY, content, LIMITS);
      await reached;
      expect(await store.get(KEY)).toBeUndefined();
      expect(await keysOf(store)).toEqual([]);
      goOn();
      await put;
      expect(await textOf(store, KEY)).toBe('first, second');
    });

    test('of several puts of one key the last to end, and never a mixture', async () => {
      const slow = paused('slow ', 'put');
      const put = store.put(KEY, slow.content, LIMITS);
      await slow.reached;
      await store.put(KEY, chunks('quick ', 'put'), LIMITS);
      expect(await textOf(store, KEY)).toBe('quick put');
      slow.goOn();
      await put;
      expect(await textOf(store, KEY)).toBe('slow put');

      const letters = [...'abcdefghij'];
      await Promise.all(letters.map((letter) => store.put(KEY, chunks(...Array<string>(5).fill(letter.repeat(20_000))), LIMITS)));
      expect(letters.map((letter) => letter.repeat(100_000))).toContain(await textOf(store, KEY));
      expect(await keysOf(store)).toEqual([KEY]);
    });

    test('a key that is the beginning of another', async () => {
      await store.put('org/a', chunks('short'), LIMITS);
      await store.put('org/a/b', chunks('long'), LIMITS);
      await store.put('org', chunks('shortest'), LIMITS);
      expect(await Promise.all(['org', 'org/a', 'org/a/b'].map((key) => textOf(store, key)))).toEqual(['shortest', 'short', 'long']);
      await store.delete('org/a');
      expect(await keysOf(store)).toEqual(['org', 'org/a/b']);
    });

    test('100 MiB, and gives them back, in a small part of that memory', async () => {
      const chunkBytes = 64 * 1024;
      const collectGarbage = garbageCollector();
      let peak = 0;
      // Garbage that waits to be collected is not held by the store, and how much waits depends on how busy the machine is.
      const watch = (moved: number) => {
        if (moved % MIB === 0) collectGarbage({ type: 'minor' });
        if (process.memoryUsage().arrayBuffers - before > MOST_BYTES / 2) collectGarbage();
        peak = Math.max(peak, process.memoryUsage().arrayBuffers);
      };
      async function* large() {
        for (let sent = 0; sent < 100 * MIB; sent += chunkBytes) {
          watch(sent);
          yield Buffer.alloc(chunkBytes, 1); // A new one each: holding on to one and the same would cost a store nothing.
        }
      }
      collectGarbage();
      const before = process.memoryUsage().arrayBuffers;
      expect(await store.put(KEY, large(), { maxBytes: 100 * MIB })).toMatchObject({ stored: true, size: 100 * MIB });
      let read = 0;
      for await (const part of (await store.get(KEY))?.stream ?? []) {
        read += part.length;
        watch(read);
        await turn(); // A reader slower than the store: what is not held back piles up here.
      }
      expect(read).toBe(100 * MIB);
      expect(peak - before).toBeLessThan(MOST_BYTES);
    });
  });

  describe(`${name} gives`, () => {
    test('any part as HTTP would: inclusive, cut at the end, empty behind it', async () => {
      const bytes = Buffer.from(Array.from({ length: 1000 }, (_, index) => index % 251));
      await store.put(KEY, chunks(bytes), LIMITS);
      const range = fc.record({ start: fc.nat(1100), extra: fc.option(fc.nat(1100), { nil: undefined }) });
      await fc.assert(
        fc.asyncProperty(range, async ({ start, extra }) => {
          const end = extra === undefined ? undefined : start + extra;
          const expected = bytes.subarray(start, end === undefined ? undefined : end + 1);
          const blob = await store.get(KEY, { range: { start, ...(end !== undefined && { end }) } });
          expect(blob).toMatchObject({ size: 1000, length: expected.length });
          expect(blob && (await bytesOf(blob.stream))).toEqual(expected);
        }),
        { numRuns: 60, examples: [[{ start: 0, extra: 0 }], [{ start: 999, extra: 0 }], [{ start: 1000, extra: 5 }]] },
      );
    });

    test('an empty part of an empty blob', async () => {
      await store.put(KEY, chunks(), LIMITS);
      expect(await store.get(KEY, { range: { start: 0, end: 9 } })).toMatchObject({ size: 0, length: 0 });
    });

    test('no answer to a range that makes no sense, whether or not there is a blob', async () => {
      await store.put(KEY, chunks('content'), LIMITS);
      const senseless = [{ start: -1 }, { start: 1.5 }, { start: Number.NaN }, { start: 3, end: 2 }, { start: 0, end: Number.NaN }];
      for (const key of [KEY, 'missing'])
        for (const range of senseless) await expect(store.get(key, { range })).rejects.toThrow(RangeError);
    });

    test('nothing where there is nothing, also where other keys begin alike', async () => {
      await store.put('org/a/b', chunks('content'), LIMITS);
      for (const key of ['org', 'org/a', 'org/a/b/c', 'org/x', 'nobody/a']) expect(await store.get(key)).toBeUndefined();
    });

    test('the whole old content to a reader in whose middle the blob is replaced or deleted', async () => {
      const old = Buffer.alloc(MIB, 'old');
      await store.put(KEY, chunks(old), LIMITS);
      const [first, second] = [await store.get(KEY), await store.get(KEY)];
      await store.put(KEY, chunks('new'), LIMITS);
      expect(first && old.equals(await bytesOf(first.stream))).toBe(true);
      await store.delete(KEY);
      expect(second && old.equals(await bytesOf(second.stream))).toBe(true);
      expect(await store.get(KEY)).toBeUndefined();
    });
  });

  describe(`${name} manages`, () => {
    test('to delete what is there and what is not', async () => {
      await store.put(KEY, chunks('content'), LIMITS);
      await store.delete(KEY);
      await store.delete(KEY);
      await store.delete('nobody/ever');
      expect(await store.get(KEY)).toBeUndefined();
      await store.put(KEY, chunks('again'), LIMITS);
      expect(await textOf(store, KEY)).toBe('again');
    });

    test('to list what is below a prefix, and not what only begins with the same letters', async () => {
      const keys = ['org/1', 'org/1/a', 'org/1/b/c', 'org/12/a', 'org/1-2/a', 'top'];
      for (const key of keys) await store.put(key, chunks(key), LIMITS);
      expect(await keysOf(store)).toEqual(keys.toSorted());
      expect(await keysOf(store, 'org/1')).toEqual(['org/1/a', 'org/1/b/c']);
      expect(await keysOf(store, 'org/12')).toEqual(['org/12/a']);
      for (const nothing of ['org/2', 'top', 'o']) expect(await keysOf(store, nothing)).toEqual([]);
    });

    test('to list more keys than fit on a page, while they are deleted', async () => {
      const keys = Array.from({ length: 1100 }, (_, index) => `org/many/${index}`);
      for (let at = 0; at < keys.length; at += 50)
        await Promise.all(keys.slice(at, at + 50).map((key) => store.put(key, chunks('x'), LIMITS)));
      const listed: string[] = [];
      for await (const key of store.list('org/many')) {
        listed.push(key);
        await store.delete(key);
      }
      expect(listed.sort()).toEqual(keys.toSorted());
      expect(await keysOf(store)).toEqual([]);
    });

    test('to say that it can store', () => expect(store.check()).resolves.toBeUndefined());

    test.each(BAD_KEYS)('without the key %j', async (key) => {
      await expect(store.put(key, chunks('content'), LIMITS)).rejects.toThrow(InvalidBlobKey);
      await expect(store.get(key)).rejects.toThrow(InvalidBlobKey);
      await expect(store.delete(key)).rejects.toThrow(InvalidBlobKey);
      if (key !== '') await expect(keysOf(store, key)).rejects.toThrow(InvalidBlobKey);
      expect(await keysOf(store)).toEqual([]);
    });
  });
}
