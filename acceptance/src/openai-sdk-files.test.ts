import { createHash, randomBytes } from 'node:crypto';
import { createReadStream, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { request as httpRequest } from 'node:http';
import { join } from 'node:path';
import OpenAI, { toFile } from 'openai';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { Gateway } from './gateway.ts';

const MIB = 1024 * 1024;
let gateway: Gateway;
let openai: OpenAI;
const connect = () => {
  const { base_url: baseURL, test_api_key: apiKey } = gateway.bootstrap;
  openai = new OpenAI({ baseURL, apiKey, maxRetries: 0 });
};

beforeAll(async () => {
  gateway = await Gateway.start();
  connect();
});
afterAll(() => gateway?.remove());

const blobFiles = (folder = join(gateway.dataDir, 'blobs')): string[] =>
  readdirSync(folder, { recursive: true, withFileTypes: true }).flatMap((entry) => (entry.isFile() ? [entry.name] : []));

describe('the OpenAI SDK', () => {
  test('stores what it reads from the disk, and what it has in memory', async () => {
    const path = join(gateway.dataDir, '..', 'requests.jsonl');
    writeFileSync(path, '{"custom_id":"1"}\n'.repeat(10_000));
    const fromDisk = await openai.files.create({
      file: createReadStream(path),
      purpose: 'batch',
      expires_after: { anchor: 'created_at', seconds: 3600 },
    });
    expect(fromDisk).toMatchObject({ object: 'file', filename: 'requests.jsonl', bytes: 180_000, purpose: 'batch', status: 'processed' });
    expect(fromDisk.expires_at).toBe(fromDisk.created_at + 3600);
    expect(await (await openai.files.content(fromDisk.id)).text()).toBe(readFileSync(path, 'utf8'));

    const bytes = randomBytes(100_000);
    const fromMemory = await openai.files.create({ file: await toFile(bytes, '画像.png', { type: 'image/png' }), purpose: 'vision' });
    expect(await openai.files.retrieve(fromMemory.id)).toMatchObject({ id: fromMemory.id, filename: '画像.png' });
    expect(Buffer.from(await (await openai.files.content(fromMemory.id)).arrayBuffer()).equals(bytes)).toBe(true);
    expect(await openai.files.waitForProcessing(fromMemory.id)).toMatchObject({ status: 'processed' });
    for (const { id } of [fromDisk, fromMemory]) expect(await openai.files.delete(id)).toEqual({ id, object: 'file', deleted: true });
    await expect(openai.files.content(fromMemory.id)).rejects.toBeInstanceOf(OpenAI.NotFoundError);
  });

  test('walks over all files, page by page, and may delete them on the way', async () => {
    const ids: string[] = [];
    for (let n = 0; n < 5; n++)
      ids.push((await openai.files.create({ file: await toFile(Buffer.from(`${n}`), `${n}.txt`), purpose: 'evals' })).id);
    const seen: string[] = [];
    for await (const { id } of openai.files.list({ limit: 2, order: 'asc', purpose: 'evals' })) {
      seen.push(id);
      await openai.files.delete(id);
    }
    expect(seen).toEqual(ids);
    expect((await openai.files.list({ purpose: 'evals' })).data).toEqual([]);
  });

  test('uploads in parts, and completes them in the order that it says', async () => {
    const [first, second] = [randomBytes(3 * MIB), randomBytes(2 * MIB)];
    const upload = await openai.uploads.create({
      bytes: 5 * MIB,
      filename: 'big.bin',
      mime_type: 'application/octet-stream',
      purpose: 'user_data',
    });
    expect(upload).toMatchObject({ object: 'upload', status: 'pending' });
    const [b, a] = await Promise.all(
      [second, first].map(async (data) => openai.uploads.parts.create(upload.id, { data: await toFile(data, 'part') })),
    );
    const md5 = createHash('md5').update(first).update(second).digest('hex');
    const completed = await openai.uploads.complete(upload.id, { part_ids: [a?.id ?? '', b?.id ?? ''], md5 });
    expect(completed).toMatchObject({ status: 'completed', file: { bytes: 5 * MIB, filename: 'big.bin', status: 'processed' } });
    const content = Buffer.from(await (await openai.files.content(completed.file?.id ?? '')).arrayBuffer());
    expect(content.equals(Buffer.concat([first, second]))).toBe(true);

    const other = await openai.uploads.create({ bytes: 1, filename: 'x', mime_type: 'text/plain', purpose: 'user_data' });
    expect(await openai.uploads.cancel(other.id)).toMatchObject({ status: 'cancelled' });
    await expect(openai.uploads.complete(other.id, { part_ids: ['part_x'] })).rejects.toBeInstanceOf(OpenAI.ConflictError);
  });

  test('gets failures as its own error classes', async () => {
    const file = await toFile(Buffer.from('x'), 'x.txt');
    // @ts-expect-error The SDK knows that there is no such purpose.
    await expect(openai.files.create({ file, purpose: 'nonsense' })).rejects.toMatchObject({
      status: 400,
      code: 'validation_failed',
      param: 'purpose',
    });
    await expect(openai.files.retrieve('file-missing')).rejects.toMatchObject({
      status: 404,
      code: 'not_found',
      requestID: expect.stringMatching(/^req_/),
    });
  });
});

test('an upload that is cut by kill -9 leaves no file, and what was stored before is there after', async () => {
  const kept = await openai.files.create({ file: await toFile(randomBytes(MIB), 'kept.bin'), purpose: 'user_data' });
  const before = blobFiles().length;
  const request = httpRequest(`${gateway.bootstrap.base_url}/files`, {
    method: 'POST',
    headers: { authorization: `Bearer ${gateway.bootstrap.test_api_key}`, 'content-type': 'multipart/form-data; boundary=B' },
  });
  request.on('error', () => {});
  request.write('--B\r\nContent-Disposition: form-data; name="file"; filename="cut.bin"\r\n\r\n');
  request.write(randomBytes(2 * MIB));
  await vi.waitUntil(() => blobFiles().length === before + 1, { timeout: 120_000 });
  await gateway.kill();
  await gateway.start();
  connect();
  expect((await openai.files.list({ purpose: 'user_data' })).data.map(({ filename }) => filename)).not.toContain('cut.bin');
  expect(blobFiles()).toHaveLength(before);
  expect((await (await openai.files.content(kept.id)).arrayBuffer()).byteLength).toBe(MIB);
});

test.runIf(process.platform === 'linux')('a file of 256 MiB passes through a small part of that memory, in and out', async () => {
  const peakMib = () => Number(/VmHWM:\s+(\d+) kB/.exec(readFileSync(`/proc/${gateway.process.pid}/status`, 'utf8'))?.[1]) / 1024;
  writeFileSync(`/proc/${gateway.process.pid}/clear_refs`, '5');
  const before = peakMib();
  const file = new File([new Uint8Array(64 * MIB)], 'x');
  const { base_url: baseUrl, test_api_key: key } = gateway.bootstrap;
  const form = new FormData();
  form.append('purpose', 'user_data');
  // Parts of one blob: the client needs no quarter of a gigabyte either.
  form.append('file', new File(Array(4).fill(file), 'large.bin'));
  const response = await fetch(`${baseUrl}/files`, { method: 'POST', headers: { authorization: `Bearer ${key}` }, body: form });
  const { id, bytes } = JSON.parse(await response.text());
  expect([response.status, bytes]).toEqual([200, 256 * MIB]);
  const download = await fetch(`${baseUrl}/files/${id}/content`, { headers: { authorization: `Bearer ${key}` } });
  let read = 0;
  for await (const chunk of download.body ?? []) read += chunk.length;
  expect(read).toBe(256 * MIB);
  expect(peakMib() - before).toBeLessThan(128);
  await openai.files.delete(id);
});
