import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, realpathSync, rmSync } from 'node:fs';
import { createServer, request as httpRequest, type IncomingMessage, type Server } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { openLocalDisk } from '../../adapters/blobs/local-disk.ts';
import type { BlobStore } from '../../adapters/blobs/port.ts';
import { newId } from '../../kernel/ids.ts';
import { Problem } from '../../kernel/problem.ts';
import { type MultipartForm, type MultipartLimits, readMultipart } from './multipart.ts';

const LIMITS: MultipartLimits = {
  maxBytes: 1_000_000,
  maxFileBytes: 100_000,
  maxFiles: 2,
  maxFields: 5,
  maxFieldBytes: 1000,
  idleTimeoutMs: 10_000,
  timeoutMs: 20_000,
};
type Outcome = { form: MultipartForm } | { problem: Problem };

let folder: string;
let blobs: BlobStore;
let limits: MultipartLimits;
let server: Server;
let url: string;
let outcomes: Promise<Outcome>[];
let received: PromiseWithResolvers<IncomingMessage>;

beforeEach(async () => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), 'tallygate-multipart-')));
  blobs = await openLocalDisk(folder);
  limits = LIMITS;
  outcomes = [];
  received = Promise.withResolvers();
  server = createServer((request, response) => {
    received.resolve(request);
    const outcome = readMultipart(request, { limits, blobs, newBlobKey: () => `form/${newId()}` }).then(
      (form) => ({ form }),
      (problem: unknown) => {
        if (!(problem instanceof Problem)) throw problem;
        return { problem };
      },
    );
    outcomes.push(outcome);
    void outcome.then((result) => {
      if ('form' in result) response.end(JSON.stringify(result.form));
      else response.writeHead(result.problem.status).end(result.problem.code);
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  url = `http://127.0.0.1:${portOf(server)}/`;
});
afterEach(async () => {
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
  expect(readdirSync(join(folder, 'incoming'))).toEqual([]);
  rmSync(folder, { recursive: true });
});

function portOf(listening: Server): number {
  const address = listening.address();
  if (typeof address !== 'object' || address === null) throw new Error('The server does not listen');
  return address.port;
}

async function stored(): Promise<string[]> {
  const keys: string[] = [];
  for await (const key of blobs.list('')) keys.push(key);
  return keys;
}
const sha256 = (bytes: string | Uint8Array) => createHash('sha256').update(bytes).digest('hex');
const fileOf = (content: string | Uint8Array<ArrayBuffer>, name = 'x.txt', type = 'text/plain') => new File([content], name, { type });

function formOf(...entries: [string, string | File][]): FormData {
  const form = new FormData();
  for (const [name, value] of entries) form.append(name, value);
  return form;
}

/** The result of a form: read, or refused with nothing left in the store. */
async function post(body: FormData | string | Uint8Array<ArrayBuffer>, headers: Record<string, string> = {}) {
  const response = await fetch(url, { method: 'POST', body, headers });
  if (response.status === 200) return { form: (await response.json()) as MultipartForm, code: undefined };
  expect(await stored()).toEqual([]);
  return { form: undefined, code: await response.text() };
}
const raw = (body: string) => post(body, { 'content-type': 'multipart/form-data; boundary=B' });

describe('a form', () => {
  test('is read with its fields, and its files whole in the store', async () => {
    const bytes = new Uint8Array(90_000).fill(7);
    const { form } = await post(
      formOf(['purpose', 'batch'], ['image[]', fileOf(bytes, 'Überblick.PNG', 'Image/PNG')], ['include[]', 'a'], ['image[]', fileOf('')]),
    );
    expect(form?.fields).toEqual({ purpose: 'batch', include: ['a'] });
    expect(form?.files).toEqual([
      {
        field: 'image',
        filename: 'Überblick.PNG',
        contentType: 'image/png',
        bytes: 90_000,
        sha256: sha256(bytes),
        blobKey: expect.anything(),
      },
      { field: 'image', filename: 'x.txt', contentType: 'text/plain', bytes: 0, sha256: sha256(''), blobKey: expect.anything() },
    ]);
    const blob = await blobs.get(form?.files[0]?.blobKey ?? '');
    expect(blob && (await text(blob.stream))).toBe(Buffer.from(bytes).toString());
  });

  test('says the SHA-256 and the length of the body as it was received, epilogue included', async () => {
    const body = '--B\r\nContent-Disposition: form-data; name="a"\r\n\r\n1\r\n--B--\r\nepilogue';
    const { form } = await raw(body);
    expect(form).toMatchObject({ fields: { a: '1' }, files: [], bodySha256: sha256(body), bytes: body.length });
  });

  test('leaves nothing in the store once it is discarded', async () => {
    await post(formOf(['file', fileOf('one')], ['mask', fileOf('two')]));
    expect(await stored()).toHaveLength(2);
    const [outcome] = await Promise.all(outcomes);
    if (outcome && 'form' in outcome) await outcome.form.discard();
    expect(await stored()).toEqual([]);
  });

  test('takes a part without a file name for a file when it says that it is bytes', async () => {
    const { form } = await raw(
      '--B\r\nContent-Disposition: form-data; name="data"\r\nContent-Type: application/octet-stream\r\n\r\n1\r\n--B--',
    );
    expect(form?.files).toMatchObject([{ field: 'data', filename: null, bytes: 1 }]);
  });
});

describe('nothing is stored of a form that', () => {
  const before: [string, File] = ['file', fileOf('whole before the fault')];

  test.each([
    ['has a file that is too large', formOf(before, ['more', fileOf(new Uint8Array(100_001))]), 'payload_too_large'],
    ['has too many files', formOf(before, ['a', fileOf('')], ['b', fileOf('')]), 'payload_too_large'],
    ['has a field that is too long', formOf(before, ['a', 'x'.repeat(1001)]), 'payload_too_large'],
    ['has too many fields', formOf(before, ...[1, 2, 3, 4, 5, 6].map((n): [string, string] => [`f${n}`, ''])), 'payload_too_large'],
    ['has a field twice', formOf(before, ['purpose', 'batch'], ['purpose', 'vision']), 'validation_failed'],
  ])('%s', async (_what, form, code) => expect((await post(form)).code).toBe(code));

  const wholeFile = '--B\r\nContent-Disposition: form-data; name="file"; filename="x"\r\n\r\ncontent\r\n';
  test.each([
    ['ends too early', wholeFile, 'malformed_multipart'],
    [
      'ends within a file',
      `${wholeFile}--B\r\nContent-Disposition: form-data; name="more"; filename="y"\r\n\r\nconte`,
      'malformed_multipart',
    ],
    ['has a part without a name', `${wholeFile}--B\r\nContent-Disposition: form-data\r\n\r\n1\r\n--B--`, 'malformed_multipart'],
    [
      'has a field that is not UTF-8',
      `${wholeFile}--B\r\nContent-Disposition: form-data; name="a"\r\n\r\n\xff\r\n--B--`,
      'malformed_multipart',
    ],
    [
      'has an encoded part',
      `${wholeFile}--B\r\nContent-Disposition: form-data; name="a"; filename="y"\r\nContent-Transfer-Encoding: base64\r\n\r\nQQ==\r\n--B--`,
      'unsupported_media_type',
    ],
  ])('%s', async (_what, body, code) => {
    expect((await post(new Uint8Array(Buffer.from(body, 'latin1')), { 'content-type': 'multipart/form-data; boundary=B' })).code).toBe(
      code,
    );
  });

  test.each([
    ['application/json', 'unsupported_media_type'],
    ['multipart/mixed; boundary=B', 'unsupported_media_type'],
    ['multipart/form-data', 'malformed_multipart'],
    ['multipart/form-data; boundary=', 'malformed_multipart'],
    [`multipart/form-data; boundary=${'b'.repeat(71)}`, 'malformed_multipart'],
    ['multipart/form-data; boundary="ends with a blank "', 'malformed_multipart'],
  ])('comes as %s', async (type, code) => expect((await post(wholeFile, { 'content-type': type })).code).toBe(code));

  test('is compressed', async () => {
    const headers = { 'content-type': 'multipart/form-data; boundary=B', 'content-encoding': 'gzip' };
    expect((await post(wholeFile, headers)).code).toBe('unsupported_media_type');
  });

  test('declares more than is accepted, before anything of it is read', async () => {
    limits = { ...LIMITS, maxBytes: 50 };
    expect((await raw(`${wholeFile}--B--`)).code).toBe('payload_too_large');
  });

  test('turns out to be more than is accepted', async () => {
    limits = { ...LIMITS, maxBytes: 120 };
    const request = httpRequest(url, { method: 'POST', headers: { 'content-type': 'multipart/form-data; boundary=B' } });
    for (let sent = 0; sent < 10; sent++) request.write(wholeFile);
    request.end('--B--');
    const [response] = await once(request, 'response');
    expect(await text(response)).toBe('payload_too_large');
    expect(await stored()).toEqual([]);
  });

  test('is broken off by its client', async () => {
    const request = httpRequest(url, {
      method: 'POST',
      headers: { 'content-type': 'multipart/form-data; boundary=B', 'content-length': 1000 },
    });
    request.on('error', () => {});
    request.write(`${wholeFile}--B\r\nContent-Disposition: form-data; name="more"; filename="y"\r\n\r\nconte`);
    await vi.waitUntil(async () => (await stored()).length === 1, { timeout: 60_000 });
    request.destroy();
    expect(await outcomes[0]).toMatchObject({ problem: { code: 'request_timeout' } });
    expect(await stored()).toEqual([]);
  });

  test.each([
    ['stops coming', { idleTimeoutMs: 20 }],
    ['comes too slowly', { timeoutMs: 20 }],
  ])('%s', async (_what, tight) => {
    limits = { ...LIMITS, ...tight };
    const request = httpRequest(url, {
      method: 'POST',
      headers: { 'content-type': 'multipart/form-data; boundary=B', 'content-length': 1000 },
    });
    request.write(`${wholeFile}--B\r\nContent-Disposition: form-data; name="more"; filename="y"\r\n\r\nconte`);
    const [response] = await once(request, 'response');
    expect(await text(response)).toBe('request_timeout');
    expect(await stored()).toEqual([]);
    request.destroy();
  });

  test('meets a store that fails, and is refused for as long as that lasts', async () => {
    const disk = blobs;
    let puts = 0;
    blobs = {
      put: async (key, content, options) => {
        if (++puts === 1) return disk.put(key, content, options);
        for await (const _chunk of content) throw Object.assign(new Error('no space left on device'), { code: 'ENOSPC' });
        throw new Error('not reached');
      },
      get: (key, options) => disk.get(key, options),
      delete: (key) => disk.delete(key),
      list: (prefix) => disk.list(prefix),
      check: () => disk.check(),
      sweepUnfinished: (before) => disk.sweepUnfinished(before),
    };
    expect((await post(formOf(before, ['more', fileOf(new Uint8Array(50_000))]))).code).toBe('storage_unavailable');
  });
});

test('a slow store holds back the client instead of filling the memory', async () => {
  limits = { ...LIMITS, maxBytes: 1e9, maxFileBytes: 1e9 };
  const disk = blobs;
  const goOn = Promise.withResolvers<void>();
  blobs = {
    ...disk,
    put: async (key, content, options) => {
      async function* slowly() {
        await goOn.promise;
        yield* content;
      }
      return disk.put(key, slowly(), options);
    },
  };
  const request = httpRequest(url, { method: 'POST', headers: { 'content-type': 'multipart/form-data; boundary=B' } });
  request.write('--B\r\nContent-Disposition: form-data; name="file"; filename="x"\r\n\r\n');
  const server = await received.promise;
  let sent = 0;
  // Until the socket takes no more, which without back-pressure would never be.
  const chunk = Buffer.alloc(1_000_000);
  while (request.writableLength < 20_000_000) {
    request.write(chunk);
    sent += chunk.length;
    await new Promise((resolve) => setImmediate(resolve));
    if (sent > 500_000_000) break;
  }
  expect(sent).toBeLessThan(100_000_000);
  expect(server.readableLength).toBeLessThan(1_000_000);
  goOn.resolve();
  request.end('\r\n--B--');
  const [response] = await once(request, 'response');
  expect(JSON.parse(await text(response))).toMatchObject({ files: [{ bytes: sent }] });
});
