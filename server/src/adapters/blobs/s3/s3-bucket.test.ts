import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { ListMultipartUploadsCommand } from '@aws-sdk/client-s3';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { isStoreFailure } from '../../../kernel/store-failure.ts';
import { chunks, describeBlobStoreConformance, keysOf, textOf } from '../conformance.ts';
import { sealedBlobs } from '../sealed-blobs.ts';
import { openClient } from './client.ts';
import { openS3Bucket } from './s3-bucket.ts';
import { type S3Server, s3Program, startS3 } from './testing/s3-server.ts';

const MIB = 1024 * 1024;
const LIMITS = { maxBytes: 100 * MIB };
const program = await s3Program();
let server: S3Server;
beforeAll(async () => {
  if (program !== undefined) server = await startS3(program);
});
afterAll(() => server?.stop());

/** An empty part of the bucket. */
function newBucket() {
  const settings = { ...server.settings, prefix: `${randomUUID()}/` };
  const store = openS3Bucket(settings);
  return { settings, store };
}

async function unfinishedOf({ prefix, ...settings }: { prefix: string } & S3Server['settings']): Promise<number> {
  const client = openClient({ ...settings, prefix });
  const { Uploads } = await client.send(new ListMultipartUploadsCommand({ Bucket: settings.bucket }));
  client.destroy();
  return (Uploads ?? []).filter(({ Key }) => Key?.startsWith(prefix)).length;
}

if (program !== undefined)
  describeBlobStoreConformance('a bucket', async () => {
    const { settings, store } = newBucket();
    return {
      store,
      close: async () => {
        expect(await unfinishedOf(settings)).toBe(0);
        store.close();
      },
    };
  });

describe.skipIf(program === undefined)('a bucket', () => {
  test('has a sealed blob of several parts, and gives any part of it', async () => {
    const { store: bucket } = newBucket();
    const store = sealedBlobs(bucket, () => Buffer.alloc(32, 7));
    const bytes = Buffer.from(Array.from({ length: 20 * MIB }, (_, at) => (at * 31 + (at >> 8)) & 255));
    const pieces = Array.from({ length: 20 }, (_, at) => bytes.subarray(at * MIB, (at + 1) * MIB));
    expect(await store.put('org/a', chunks(...pieces), LIMITS)).toMatchObject({ stored: true, size: bytes.length });
    for (const [start, end] of [
      [8 * MIB - 10, 8 * MIB + 10],
      [0, 20 * MIB - 1],
      [20 * MIB - 1, 30 * MIB],
    ] as const) {
      const blob = await store.get('org/a', { range: { start, end } });
      expect(Buffer.concat((await blob?.stream.toArray()) ?? []).equals(bytes.subarray(start, end + 1))).toBe(true);
    }
    bucket.close();
  });

  test('keeps no part of an upload whose content fails, and what the key held before', async () => {
    const { settings, store } = newBucket();
    await store.put('org/a', chunks('before'), LIMITS);
    async function* failing() {
      yield Buffer.alloc(17 * MIB);
      expect(await unfinishedOf(settings)).toBe(1);
      throw new Error('The client hung up');
    }
    await expect(store.put('org/a', failing(), LIMITS)).rejects.toThrow('hung up');
    expect(await unfinishedOf(settings)).toBe(0);
    expect(await textOf(store, 'org/a')).toBe('before');
    store.close();
  });

  test('loses uploads that a killed process left, and none that is younger', async () => {
    const { settings, store } = newBucket();
    const begun = Promise.withResolvers<void>();
    const goOn = Promise.withResolvers<void>();
    async function* content() {
      yield Buffer.alloc(9 * MIB);
      begun.resolve();
      await goOn.promise;
    }
    const put = store.put('org/a', content(), LIMITS);
    await begun.promise;
    await store.sweepUnfinished(new Date(Date.now() - 60_000));
    expect(await unfinishedOf(settings)).toBe(1);
    await store.sweepUnfinished(new Date(Date.now() + 60_000));
    expect(await unfinishedOf(settings)).toBe(0);
    goOn.resolve();
    await expect(put).rejects.toThrow();
    expect(await keysOf(store)).toEqual([]);
    store.close();
  });

  test('that is not there, or whose secret is wrong, is a refusal and no outage', async () => {
    const wrongSecret = { accessKeyId: 'test', secretAccessKey: 'wrong' };
    const unknownKey = { accessKeyId: 'unknown', secretAccessKey: 'secret' };
    for (const wrong of [{ bucket: 'another' }, { credentials: wrongSecret }, { credentials: unknownKey }]) {
      const store = openS3Bucket({ ...server.settings, ...wrong });
      for (const work of [() => store.check(), () => store.get('org/a'), () => store.put('org/a', chunks('x'), LIMITS)]) {
        const error = await work().then(
          () => undefined,
          (thrown: unknown) => thrown,
        );
        expect(error).toMatchObject({ name: 'BucketRefused' });
        expect(isStoreFailure(error)).toBe(false);
      }
      store.close();
    }
  });
});

describe.skipIf(program === undefined)('a bucket that is away', () => {
  const listening: { close(): void }[] = [];
  afterEach(() => {
    for (const one of listening.splice(0)) one.close();
  });
  /** A service that answers every request with this. */
  async function answering(status: number) {
    const asked: string[] = [];
    const service = createServer((req, res) => {
      asked.push(String(req.method));
      req.resume();
      res.writeHead(status, { 'content-type': 'application/xml' }).end();
    }).listen(0, '127.0.0.1');
    await new Promise((resolve) => service.once('listening', resolve));
    listening.push(service);
    const { port } = service.address() as AddressInfo;
    return { store: openS3Bucket({ ...server.settings, endpoint: `http://127.0.0.1:${port}` }), asked, service };
  }

  test('is an outage for every method, after the request was repeated', async () => {
    const { store, asked } = await answering(503);
    const works = [() => store.get('org/a'), () => store.put('org/a', chunks('x'), LIMITS), () => store.delete('org/a')];
    for (const work of [...works, () => store.check(), () => keysOf(store)]) {
      asked.length = 0;
      const error = await work().then(
        () => undefined,
        (thrown: unknown) => thrown,
      );
      expect(isStoreFailure(error)).toBe(true);
      expect(asked).toHaveLength(3);
    }
    store.close();
  });

  test('with nothing that listens is an outage', async () => {
    const { store, service } = await answering(200);
    await new Promise((resolve) => service.close(resolve));
    await expect(store.check()).rejects.toSatisfy(isStoreFailure);
    store.close();
  });
});
