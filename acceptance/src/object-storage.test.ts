import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import OpenAI, { toFile } from 'openai';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openLocalDisk } from '../../server/src/adapters/blobs/local-disk.ts';
import { moveBlobs } from '../../server/src/adapters/blobs/moving-blobs.ts';
import type { BlobStore } from '../../server/src/adapters/blobs/port.ts';
import { openS3Bucket } from '../../server/src/adapters/blobs/s3/s3-bucket.ts';
import { type S3Server, s3Program, startS3 } from '../../server/src/adapters/blobs/s3/testing/s3-server.ts';
import { ask, HELLO } from './chat.ts';
import { Gateway } from './gateway.ts';
import { admin } from './operator.ts';

const program = await s3Program();
const LARGE_BYTES = 12 * 1024 * 1024;

/** Gateways whose files are in a bucket of a server of S3’s API. */
describe.skipIf(program === undefined)('files in a bucket', () => {
  let s3: S3Server;
  let gateway: Gateway;
  let openai: OpenAI;
  let bucket: BlobStore & { close(): void };

  beforeAll(async () => {
    s3 = await startS3(program ?? '');
    bucket = openS3Bucket({ ...s3.settings, prefix: 'gateway/' });
    gateway = await Gateway.start({ process: 'shared', env: variables() });
    const { base_url: baseURL, test_api_key: apiKey } = gateway.bootstrap;
    openai = new OpenAI({ baseURL, apiKey, maxRetries: 0 });
  });
  afterAll(async () => {
    await gateway?.remove();
    bucket?.close();
    await s3?.stop();
  });

  const variables = () => ({
    ...{ S3_BUCKET: s3.settings.bucket, S3_ENDPOINT: s3.settings.endpoint ?? '', S3_PREFIX: 'gateway/' },
    ...{ S3_ACCESS_KEY_ID: s3.settings.credentials?.accessKeyId ?? '' },
    ...{ S3_SECRET_ACCESS_KEY: s3.settings.credentials?.secretAccessKey ?? '' },
  });
  const upload = async (bytes: Buffer) => (await openai.files.create({ file: await toFile(bytes, 'a.txt'), purpose: 'evals' })).id;
  const textOf = async (id: string) => (await openai.files.content(id)).text();
  const contentOf = (id: string, headers: Record<string, string>) =>
    fetch(`${gateway.bootstrap.base_url}/files/${id}/content`, {
      headers: { authorization: `Bearer ${gateway.bootstrap.test_api_key}`, ...headers },
    });
  const countOf = async (store: BlobStore) => {
    let count = 0;
    for await (const _ of store.list('files')) count += 1;
    return count;
  };

  test('are there alone, encrypted, and read whole and in part', async () => {
    const bytes = Buffer.alloc(LARGE_BYTES, 'the launch codes are 0000. ');
    const id = await upload(bytes);
    const part = await contentOf(id, { range: `bytes=${LARGE_BYTES - 20}-` });
    expect(part.status).toBe(206);
    expect(await part.text()).toBe(bytes.subarray(-20).toString());
    expect(await textOf(id)).toBe(bytes.toString());
    expect(await countOf(await openLocalDisk(join(gateway.dataDir, 'blobs')))).toBe(0);
    for await (const key of bucket.list('files')) {
      const stored = Buffer.concat((await (await bucket.get(key))?.stream.toArray()) ?? []);
      expect(stored.length).toBeGreaterThan(LARGE_BYTES);
      expect(stored.includes('launch codes')).toBe(false);
    }
    await openai.files.delete(id);
    expect(await countOf(bucket)).toBe(0);
  });

  test('are refused with 503 while the bucket is away, chats are answered, and nothing is lost', async () => {
    const id = await upload(Buffer.from('kept'));
    await s3.kill();
    await expect(upload(Buffer.from('refused'))).rejects.toMatchObject({ status: 503, code: 'storage_unavailable' });
    await expect(textOf(id)).rejects.toMatchObject({ status: 503, code: 'storage_unavailable' });
    expect((await ask(gateway, gateway.bootstrap.test_api_key, HELLO)).status).toBe(200);
    const ready = await fetch(new URL('/health/ready', gateway.bootstrap.base_url));
    expect([ready.status, await ready.json()]).toMatchObject([200, { checks: { blobs: 'unavailable' } }]);
    await s3.start();
    expect(await textOf(id)).toBe('kept');
    await openai.files.delete(id);
  });

  test('wait for a bucket that hangs, and nothing else does', async () => {
    s3.pause();
    const waiting = upload(Buffer.from('late'));
    expect((await ask(gateway, gateway.bootstrap.test_api_key, HELLO)).status).toBe(200);
    s3.resume();
    const id = await waiting;
    expect(await textOf(id)).toBe('late');
    await openai.files.delete(id);
  });

  test('move there from the disk while they are read', async () => {
    const ids: string[] = [];
    for (let n = 0; n < 10; n += 1) ids.push(await upload(Buffer.from(`file ${n}`)));
    await gateway.stop();
    const folder = join(gateway.dataDir, 'blobs');
    // As they were before there was a bucket.
    await moveBlobs(bucket, await openLocalDisk(folder));
    await gateway.start();
    openai.baseURL = gateway.bootstrap.base_url;
    expect(await countOf(bucket)).toBe(0);
    for (const [n, id] of ids.entries()) expect(await textOf(id)).toBe(`file ${n}`);
    let isMoving = true;
    const move = admin(['blobs', 'move'], { ...gateway.places, ...variables() }).finally(() => {
      isMoving = false;
    });
    do for (const [n, id] of ids.entries()) expect(await textOf(id)).toBe(`file ${n}`);
    while (isMoving);
    expect(await move).toMatchObject({
      exitCode: 0,
      stdout: expect.stringMatching(/^Moved 10 blobs, \d+ bytes, into the bucket tallygate\.\n$/),
    });
    expect([await countOf(await openLocalDisk(folder)), await countOf(bucket)]).toEqual([0, 10]);
    await openai.files.delete(ids[0] ?? '');
    expect(await countOf(bucket)).toBe(9);
  });

  test('that a wrong secret keeps it from are told at the start', async () => {
    const dir = mkdtempSync(join(tmpdir(), 'tallygate-refused-'));
    const starting = Gateway.start({ env: { ...variables(), DATA_DIR: dir, S3_SECRET_ACCESS_KEY: 'wrong' } });
    await expect(starting).rejects.toThrow(/The bucket tallygate refuses/);
    rmSync(dir, { recursive: true, force: true });
  });
});
