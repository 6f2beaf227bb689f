import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { request as httpRequest } from 'node:http';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { deleteAccountFiles, newFileBlobKey, newPassingBlobKey, sweepExpired, sweepOrphans } from '../../inference/files/index.ts';
import { newKey, send, signUp } from './testing/account-api.ts';
import { type FileWorld, openFileWorld, STORAGE_BYTES } from './testing/file-api.ts';

let world: FileWorld;
let owner: Awaited<ReturnType<typeof signUp>>;
let auth: Record<string, string>;

beforeAll(async () => {
  world = await openFileWorld();
});
beforeEach(async () => {
  owner = await signUp(world.api);
  ({ auth } = owner);
});
afterEach(async () => {
  for (const name of Object.keys(world.faults)) Reflect.deleteProperty(world.faults, name);
  world.clock.offsetMs = 0;
  for (const { rows } of [await world.pool.query<{ account_id: string; bytes: bigint }>('select account_id, bytes from file_storage')]) {
    // After every test, the counted storage is the used storage.
    for (const { account_id, bytes } of rows) {
      const sum = await world.pool.query<{ sum: string | null }>('select sum(bytes) from file_blobs where account_id = $1', [account_id]);
      expect(String(bytes)).toBe(sum.rows[0]?.sum ?? '0');
    }
  }
});
afterAll(() => world?.close());

interface Transfer {
  readonly method?: string;
  readonly headers?: Record<string, string>;
  readonly body?: FormData | string;
}
async function transfer(path: string, { method, headers, body }: Transfer = {}) {
  const response = await fetch(world.transferUrl + path, {
    method: method ?? (body === undefined ? 'GET' : 'POST'),
    headers: { ...auth, ...headers },
    ...(body !== undefined && { body }),
  });
  const bytes = Buffer.from(await response.arrayBuffer());
  const isJson = /json/.test(response.headers.get('content-type') ?? '');
  return {
    status: response.status,
    headers: response.headers,
    bytes,
    body: isJson && bytes.length > 0 ? JSON.parse(bytes.toString()) : undefined,
  };
}

function formOf(
  content: string | Uint8Array<ArrayBuffer>,
  fields: Record<string, string> = { purpose: 'user_data' },
  name = 'notes.txt',
): FormData {
  const form = new FormData();
  form.append('file', new File([content], name));
  for (const [field, value] of Object.entries(fields)) form.append(field, value);
  return form;
}
const upload = async (content: string | Uint8Array<ArrayBuffer>, fields?: Record<string, string>, name?: string) =>
  (await transfer('/v1/files', { body: formOf(content, fields, name) })).body;
const list = async (query = '') => (await send(world.api, `/v1/files${query}`, { headers: auth })).body;
const blobCount = async () => (await world.stored()).length;

describe('a file', () => {
  test('is what was sent, byte for byte, in OpenAI’s shape', async () => {
    const content = randomBytes(300_000);
    const { status, body } = await transfer('/v1/files', {
      body: formOf(new Uint8Array(content), { purpose: 'vision' }, 'Überblick.png'),
    });
    expect(status).toBe(200);
    expect(body).toEqual({
      id: expect.stringMatching(/^file-[0-9a-f]{32}$/),
      object: 'file',
      bytes: 300_000,
      created_at: expect.closeTo(Date.now() / 1000, -1),
      filename: 'Überblick.png',
      purpose: 'vision',
      status: 'processed',
    });
    expect((await send(world.api, `/v1/files/${body.id}`, { headers: auth })).body).toEqual(body);
    const downloaded = await transfer(`/v1/files/${body.id}/content`);
    expect(downloaded.status).toBe(200);
    expect(downloaded.bytes.equals(content)).toBe(true);
    expect(Object.fromEntries(downloaded.headers)).toMatchObject({
      'content-type': 'application/octet-stream',
      'content-length': '300000',
      'content-disposition': 'attachment; filename="_berblick.png"; filename*=UTF-8\'\'%C3%9Cberblick.png',
    });
  });

  test('may be empty, and of no name', async () => {
    const file = await upload('', { purpose: 'user_data' }, '');
    expect(file).toMatchObject({ bytes: 0, filename: 'unknown_file' });
    expect(await transfer(`/v1/files/${file.id}/content`)).toMatchObject({ status: 200, bytes: Buffer.of() });
  });

  test.each([
    ['../../etc/passwd', 'passwd'],
    ['a\r\nSet-Cookie: x=1.txt', 'aSet-Cookie: x=1.txt'],
    ['C:\\temp\\x".txt', 'x".txt'],
    ['日本語.jsonl', '日本語.jsonl'],
  ])('of the name %j can be downloaded without harm', async (given, name) => {
    const file = await upload('x', undefined, given);
    expect(file.filename).toBe(name);
    const { status, headers } = await transfer(`/v1/files/${file.id}/content`);
    expect(status).toBe(200);
    expect(headers.get('content-disposition')).toContain(`filename*=UTF-8''${encodeURIComponent(name)}`);
    expect(headers.get('set-cookie')).toBeNull();
  });

  test.each([
    ['bytes=0-3', 206, '0123', 'bytes 0-3/10'],
    ['bytes=8-', 206, '89', 'bytes 8-9/10'],
    ['bytes=-3', 206, '789', 'bytes 7-9/10'],
    ['bytes=5-99', 206, '56789', 'bytes 5-9/10'],
    ['bytes=-99', 206, '0123456789', 'bytes 0-9/10'],
    ['bytes=0-1,4-5', 200, '0123456789', null],
    ['bytes=5-2', 200, '0123456789', null],
    ['pages=1-2', 200, '0123456789', null],
    ['bytes=10-', 416, undefined, 'bytes */10'],
    ['bytes=-0', 416, undefined, 'bytes */10'],
  ])('is answered in part for Range: %s', async (range, status, content, contentRange) => {
    const file = await upload('0123456789');
    const answer = await transfer(`/v1/files/${file.id}/content`, { headers: { range } });
    expect([answer.status, answer.headers.get('content-range')]).toEqual([status, contentRange]);
    if (content === undefined) expect(answer.body.code).toBe('range_not_satisfiable');
    else expect(answer.bytes.toString()).toBe(content);
  });

  test('has its size in the answer to HEAD', async () => {
    const file = await upload('0123456789');
    const { status, headers, bytes } = await transfer(`/v1/files/${file.id}/content`, { method: 'HEAD' });
    expect([status, headers.get('content-length'), bytes.length]).toEqual([200, '10', 0]);
  });

  test('is permanently gone when it is deleted, with its bytes', async () => {
    const before = await blobCount();
    const file = await upload('secret');
    expect(await blobCount()).toBe(before + 1);
    const { status, body } = await send(world.api, `/v1/files/${file.id}`, { method: 'DELETE', headers: auth });
    expect([status, body]).toEqual([200, { id: file.id, object: 'file', deleted: true }]);
    expect(await blobCount()).toBe(before);
    expect((await transfer(`/v1/files/${file.id}/content`)).status).toBe(404);
    expect((await send(world.api, `/v1/files/${file.id}`, { method: 'DELETE', headers: auth })).status).toBe(404);
  });

  test('deletes itself when its time is over, and batches’ input after thirty days', async () => {
    const before = await blobCount();
    const file = await upload('x', { purpose: 'assistants', 'expires_after[anchor]': 'created_at', 'expires_after[seconds]': '3600' });
    expect(file.expires_at).toBe(file.created_at + 3600);
    const batch = await upload('{}', { purpose: 'batch' });
    expect(batch.expires_at).toBe(batch.created_at + 2_592_000);
    world.clock.offsetMs = 3_601_000;
    expect((await list()).data.map(({ id }: { id: string }) => id)).toEqual([batch.id]);
    expect((await transfer(`/v1/files/${file.id}/content`)).status).toBe(404);
    await sweepExpired(world);
    await sweepExpired(world);
    expect(await blobCount()).toBe(before + 1);
  });
});

describe('the list', () => {
  test('continues page by page, in both orders, also when listed files are deleted', async () => {
    const ids: string[] = [];
    for (const content of ['a', 'b', 'c', 'd', 'e']) ids.push((await upload(content)).id);
    const first = await list('?limit=2&order=asc');
    expect(first).toMatchObject({ object: 'list', first_id: ids[0], last_id: ids[1], has_more: true });
    for (const { id } of first.data) await send(world.api, `/v1/files/${id}`, { method: 'DELETE', headers: auth });
    expect((await list(`?limit=2&order=asc&after=${first.last_id}`)).data.map(({ id }: { id: string }) => id)).toEqual(ids.slice(2, 4));
    const newest = await list(`?limit=2`);
    expect(newest.data.map(({ id }: { id: string }) => id)).toEqual([ids[4], ids[3]]);
    expect(await list(`?limit=2&after=${newest.last_id}`)).toMatchObject({ first_id: ids[2], last_id: ids[2], has_more: false });
  });

  test('has only files of the purpose that is asked for', async () => {
    await upload('a', { purpose: 'vision' });
    expect((await list('?purpose=vision')).data).toHaveLength(1);
    expect(await list('?purpose=evals')).toEqual({ object: 'list', data: [], first_id: '', last_id: '', has_more: false });
  });
});

test('a session has the files of test mode too, if it asks for them', async () => {
  const testKey = await newKey(world.api, auth, { livemode: false });
  const owner = auth;
  auth = testKey.auth;
  const file = await upload('tested');
  auth = owner;
  expect((await list('?purpose=user_data')).data).not.toContainEqual(file);
  expect((await list('?livemode=false')).data).toEqual([file]);
  expect((await transfer(`/v1/files/${file.id}/content`)).bytes.toString()).toBe('tested');
  expect((await send(world.api, `/v1/files/${file.id}`, { method: 'DELETE', headers: auth })).status).toBe(200);
  expect((await list('?livemode=false')).data).toEqual([]);
});

describe('another account’s file', () => {
  test('is answered exactly as a missing one, everywhere', async () => {
    const file = await upload('mine');
    const testKey = await newKey(world.api, auth, { livemode: false });
    const stranger = await signUp(world.api);
    const missing = 'file-019aa2f1c2d37b6e8c4d1f00aa55ee77';
    for (const caller of [stranger.auth, testKey.auth]) {
      const answers = async (id: string) => {
        const headers = { ...caller, 'x-request-id': 'req_same_for_both' };
        const [got, deleted] = [
          await send(world.api, `/v1/files/${id}`, { headers }),
          await send(world.api, `/v1/files/${id}`, { method: 'DELETE', headers }),
        ];
        auth = headers;
        const content = await transfer(`/v1/files/${id}/content`);
        return [got.status, got.text, deleted.status, deleted.text, content.status, content.bytes.toString()];
      };
      const theirs = await answers(file.id);
      expect(theirs).toEqual(await answers(missing));
      expect(theirs[0]).toBe(404);
      expect((await list()).data).toEqual([]);
      ({ auth } = owner);
    }
    expect((await transfer(`/v1/files/${file.id}/content`)).bytes.toString()).toBe('mine');
  });

  test('cannot be reached with the wrong credential', async () => {
    const file = await upload('mine');
    const blind = await newKey(world.api, auth, { scopes: ['account:read'] });
    for (const [headers, status] of [
      [{ authorization: '' }, 401],
      [{ authorization: 'Bearer tg_live_nonsense' }, 401],
      [blind.auth, 403],
    ] as const) {
      for (const [path, body] of [
        ['/v1/files', formOf('x')],
        [`/v1/files/${file.id}/content`, undefined],
      ] as const)
        expect((await transfer(path, { headers, ...(body && { body }) })).status).toBe(status);
    }
  });
});

test.each(['file-%EF%BF%BF', '%20', 'a%2Fb', `file-${'f'.repeat(32)}`, 'x'.repeat(128)])(
  'the id %s is missing, and no failure',
  async (id) => {
    const missing = [404, 'not_found'];
    const answerOf = ({ status, body }: { status: number; body: { code: string } }) => [status, body.code];
    expect(answerOf(await transfer(`/v1/files/${id}/content`))).toEqual(missing);
    expect(answerOf(await transfer(`/v1/uploads/${id}/parts`, { body: formOf('x') }))).toEqual(missing);
    for (const method of ['GET', 'DELETE'])
      expect(answerOf(await send(world.api, `/v1/files/${id}`, { method, headers: auth }))).toEqual(missing);
    expect(answerOf(await send(world.api, `/v1/uploads/${id}/cancel`, { method: 'POST', headers: auth }))).toEqual(missing);
  },
);

test.each(['%00', 'file-%00'])('the id %s is refused, and no failure', async (id) => {
  for (const method of ['GET', 'DELETE']) expect((await send(world.api, `/v1/files/${id}`, { method, headers: auth })).status).toBe(400);
  expect((await send(world.api, `/v1/uploads/${id}/cancel`, { method: 'POST', headers: auth })).status).toBe(400);
  expect((await transfer(`/v1/files/${id}/content`)).status).toBe(400);
  expect((await transfer(`/v1/uploads/${id}/parts`, { body: formOf('x') })).status).toBe(400);
});

test.each(['after=%00', 'purpose=%00', 'limit=0', 'limit=10001', 'order=up', 'after=%ED%A0%80%00'])(
  'a list with %s is refused',
  async (query) => {
    expect((await send(world.api, `/v1/files?${query}`, { headers: auth })).status).toBe(400);
  },
);

describe('nothing is left behind by an upload that', () => {
  let before: number;
  beforeEach(async () => {
    before = await blobCount();
  });
  afterEach(async () => {
    expect(await blobCount()).toBe(before);
    expect((await list()).data).toEqual([]);
  });

  const refused = async (body: FormData | string, headers?: Record<string, string>) => {
    const answer = await transfer('/v1/files', { body, ...(headers && { headers }) });
    expect(answer.headers.get('content-type')).toBe('application/problem+json');
    expect(answer.body.error).toEqual({
      message: answer.body.detail,
      type: expect.any(String),
      code: answer.body.code,
      param: answer.body.error.param,
    });
    return [answer.status, answer.body.code, answer.body.error.param];
  };
  const twoFiles = () => {
    const form = formOf('one');
    form.append('file', new File(['two'], 'two.txt'));
    return form;
  };

  test.each([
    ['has no purpose', () => formOf('x', {}), [400, 'validation_failed', 'purpose']],
    ['has a purpose of outputs', () => formOf('x', { purpose: 'batch_output' }), [400, 'validation_failed', 'purpose']],
    [
      'expires too soon',
      () => formOf('x', { purpose: 'batch', 'expires_after[anchor]': 'created_at', 'expires_after[seconds]': '1' }),
      [400, 'validation_failed', 'expires_after.seconds'],
    ],
    [
      'expires never by a number',
      () => formOf('x', { purpose: 'batch', 'expires_after[anchor]': 'created_at', 'expires_after[seconds]': 'soon' }),
      [400, 'validation_failed', 'expires_after.seconds'],
    ],
    ['has two files', twoFiles, [413, 'payload_too_large', null]],
    ['is too large', () => formOf(new Uint8Array(500_001)), [413, 'payload_too_large', null]],
    ['is no form', () => '{"purpose":"batch"}', [415, 'unsupported_media_type', null]],
  ])('%s', async (_what, body, expected) => expect(await refused(body())).toEqual(expected));

  test('has its file under another name, or none', async () => {
    const other = new FormData();
    other.append('purpose', 'vision');
    expect(await refused(other)).toEqual([400, 'validation_failed', 'file']);
    other.append('image', new File(['x'], 'x'));
    expect(await refused(other)).toEqual([400, 'validation_failed', 'file']);
  });

  test('does not fit into the account’s room', async () => {
    await world.pool.query('insert into file_storage (account_id, bytes) values ($1, $2)', [owner.accountId, STORAGE_BYTES - 1000]);
    expect((await refused(formOf(new Uint8Array(5000))))[1]).toBe('storage_limit_reached');
    // Found out at the end only, as with a body whose length is not declared.
    const request = httpRequest(`${world.transferUrl}/v1/files`, {
      method: 'POST',
      headers: { ...auth, 'content-type': 'multipart/form-data; boundary=B' },
    });
    request.write(
      '--B\r\nContent-Disposition: form-data; name="purpose"\r\n\r\nvision\r\n--B\r\nContent-Disposition: form-data; name="file"; filename="x"\r\n\r\n',
    );
    request.end(`${'x'.repeat(5000)}\r\n--B--`);
    const [response] = await once(request, 'response');
    response.resume();
    expect(response.statusCode).toBe(413);
    await vi.waitUntil(async () => (await blobCount()) === before, { timeout: 60_000 });
    await world.pool.query('delete from file_storage where account_id = $1', [owner.accountId]);
  });

  test('meets a full disk', async () => {
    world.faults.put = async (_key, content) => {
      for await (const _chunk of content) throw Object.assign(new Error('no space left on device'), { code: 'ENOSPC' });
      throw new Error('not reached');
    };
    expect(await refused(formOf('x'))).toEqual([503, 'storage_unavailable', null]);
  });

  test('breaks off', async () => {
    const request = httpRequest(`${world.transferUrl}/v1/files`, {
      method: 'POST',
      headers: { ...auth, 'content-type': 'multipart/form-data; boundary=B', 'content-length': 100_000 },
    });
    request.on('error', () => {});
    request.write(
      '--B\r\nContent-Disposition: form-data; name="file"; filename="x"\r\n\r\nabc\r\n--B\r\nContent-Disposition: form-data; name="purp',
    );
    await vi.waitUntil(async () => (await blobCount()) === before + 1, { timeout: 60_000 });
    request.destroy();
    await vi.waitUntil(async () => (await blobCount()) === before, { timeout: 60_000 });
  });

  test('loses its credential on the way', async () => {
    const key = await newKey(world.api, auth);
    const request = httpRequest(`${world.transferUrl}/v1/files`, {
      method: 'POST',
      headers: { ...key.auth, 'content-type': 'multipart/form-data; boundary=B' },
    });
    request.write('--B\r\nContent-Disposition: form-data; name="file"; filename="x"\r\n\r\nabc\r\n--B\r\n');
    await vi.waitUntil(async () => (await blobCount()) === before + 1, { timeout: 60_000 });
    await send(world.api, `/v1/keys/${key.keyId}`, { method: 'DELETE', headers: auth });
    const now = performance.now.bind(performance);
    const later = vi.spyOn(performance, 'now').mockImplementation(() => now() + 1000);
    request.end('Content-Disposition: form-data; name="purpose"\r\n\r\nvision\r\n--B--');
    const [response] = await once(request, 'response');
    response.resume();
    later.mockRestore();
    expect(response.statusCode).toBe(401);
    await vi.waitUntil(async () => (await blobCount()) === before, { timeout: 60_000 });
  });
});

describe('a repeat', () => {
  test('with the same Idempotency-Key creates no second file, with any form boundary', async () => {
    const before = await blobCount();
    const headers = { 'idempotency-key': 'once' };
    const first = await transfer('/v1/files', { body: formOf('x'), headers });
    const second = await transfer('/v1/files', { body: formOf('x'), headers });
    expect(second.body).toEqual(first.body);
    expect(second.headers.get('idempotent-replayed')).toBe('true');
    expect((await transfer('/v1/files', { body: formOf('y'), headers })).body.code).toBe('idempotency_conflict');
    expect(await blobCount()).toBe(before + 1);
  });

  test('of a corrected form goes through under the same key', async () => {
    const headers = { 'idempotency-key': 'corrected' };
    expect((await transfer('/v1/files', { body: formOf('x', {}), headers })).status).toBe(400);
    expect((await transfer('/v1/files', { body: formOf('x'), headers })).status).toBe(200);
  });
});

describe('when the store is down', () => {
  test('a download fails before its answer begins', async () => {
    const file = await upload('x');
    world.faults.get = () => Promise.reject(new Error('EIO'));
    const { status, body } = await transfer(`/v1/files/${file.id}/content`);
    expect([status, body.code]).toEqual([503, 'storage_unavailable']);
  });

  test('what was deleted stays deleted, and its blob is swept later', async () => {
    const before = await world.stored();
    const file = await upload('x');
    world.faults.delete = () => Promise.reject(new Error('EIO'));
    expect((await send(world.api, `/v1/files/${file.id}`, { method: 'DELETE', headers: auth })).status).toBe(200);
    expect(await blobCount()).toBe(before.length + 1);
    Reflect.deleteProperty(world.faults, 'delete');
    expect(await sweepOrphans(world)).toBe(0);
    world.clock.offsetMs = 25 * 3_600_000;
    expect(await sweepOrphans(world)).toBe(1);
    expect(await world.stored()).toEqual(before);
  });
});

test('a download that is overtaken by a deletion gets a 404', async () => {
  const file = await upload('x');
  world.faults.get = async () => {
    await world.files.delete({ accountId: owner.accountId, livemode: true }, file.id);
    return undefined;
  };
  expect((await transfer(`/v1/files/${file.id}/content`)).body.code).toBe('not_found');
});

test('a closed account keeps no file, and the sweep takes the bytes', async () => {
  await upload('x');
  await send(world.api, '/v1/uploads', { headers: auth, json: { bytes: 1, filename: 'x', mime_type: 'a/b', purpose: 'vision' } });
  const actor = { kind: 'user', id: owner.userId } as const;
  const origin = { ip: null, userAgent: null, requestId: 'req_close' };
  const closed = { accountId: owner.accountId, at: new Date(), actor, origin };
  await deleteAccountFiles(world.pool, closed);
  expect((await list()).data).toEqual([]);
  world.clock.offsetMs = 25 * 3_600_000;
  await sweepOrphans(world);
  expect((await world.stored()).filter((key) => key.includes(owner.accountId))).toEqual([]);
});

test('the sweep of orphans leaves every blob that a row knows, and what may still get a row', async () => {
  const file = await upload('kept');
  const before = await world.stored();
  async function* content() {
    yield Buffer.from('x');
  }
  await world.disk.put(newFileBlobKey(owner.accountId), content(), { maxBytes: 10 });
  await world.disk.put(newPassingBlobKey(), content(), { maxBytes: 10 });
  expect(await sweepOrphans(world)).toBe(0);
  world.clock.offsetMs = 25 * 3_600_000;
  expect(await sweepOrphans(world)).toBe(2);
  expect(await world.stored()).toEqual(before);
  world.clock.offsetMs = 0;
  expect((await transfer(`/v1/files/${file.id}/content`)).bytes.toString()).toBe('kept');
});

describe('an upload in parts', () => {
  const begin = async (bytes: number) => {
    const json = {
      bytes,
      filename: 'big.bin',
      mime_type: 'application/octet-stream',
      purpose: 'user_data',
    };
    return (await send(world.api, '/v1/uploads', { headers: auth, json })).body;
  };
  const addPart = async (id: string, content: string, fields: Readonly<Record<string, string>> = {}) => {
    const body = new FormData();
    for (const [name, value] of Object.entries(fields)) body.append(name, value);
    body.append('data', new File([content], 'blob'));
    return transfer(`/v1/uploads/${id}/parts`, { body });
  };
  const post = (id: string, verb: string, json: object = {}) => send(world.api, `/v1/uploads/${id}/${verb}`, { headers: auth, json });

  test('refuses a field that a file or a part does not have', async () => {
    const file = await upload('x', { purpose: 'user_data', no_such_field: '1' });
    const { id } = await begin(4);
    const part = await addPart(id, 'aa', { no_such_field: '1' });
    expect([file.error.param, part.status, part.body.error.param]).toEqual(['no_such_field', 400, 'no_such_field']);
  });

  test('becomes one file, in the order that is given at the end', async () => {
    const { id, ...rest } = await begin(9);
    expect({ id, ...rest }).toMatchObject({
      id: expect.stringMatching(/^upload_/),
      object: 'upload',
      status: 'pending',
      file: null,
      expires_at: rest.created_at + 3600,
    });
    const [second, first, unused] = [
      (await addPart(id, '5678')).body,
      (await addPart(id, '01234')).body,
      (await addPart(id, 'unused')).body,
    ];
    expect(second).toEqual({ id: expect.stringMatching(/^part_/), object: 'upload.part', created_at: expect.any(Number), upload_id: id });
    const before = await blobCount();
    const part_ids = [first.id, second.id];
    const md5 = createHash('md5').update('012345678').digest('hex');
    const { status, body } = await post(id, 'complete', { part_ids, md5 });
    expect([status, body.status]).toEqual([200, 'completed']);
    expect(body.file).toMatchObject({ object: 'file', bytes: 9, filename: 'big.bin', purpose: 'user_data', status: 'processed' });
    expect(await blobCount()).toBe(before - 1);
    expect(unused.id).not.toBe(first.id);
    expect((await transfer(`/v1/files/${body.file.id}/content`)).bytes.toString()).toBe('012345678');
    expect((await transfer(`/v1/files/${body.file.id}/content`, { headers: { range: 'bytes=3-6' } })).bytes.toString()).toBe('3456');
    // A client whose connection broke asks again.
    expect((await post(id, 'complete', { part_ids, md5 })).body).toEqual(body);
    expect((await post(id, 'complete', { part_ids: part_ids.toReversed() })).body.code).toBe('conflict');
    expect((await post(id, 'cancel')).body.code).toBe('conflict');
    expect((await addPart(id, 'late')).body.code).toBe('conflict');
    await send(world.api, `/v1/files/${body.file.id}`, { method: 'DELETE', headers: auth });
    expect(await blobCount()).toBe(before - 3);
  });

  test.each<[string, (ids: string[]) => object, string]>([
    ['a part is missing', ([a]) => ({ part_ids: [a] }), 'part_ids'],
    ['a part is unknown', ([a]) => ({ part_ids: [a, 'part_unknown'] }), 'part_ids'],
    ['a part is no text', ([a]) => ({ part_ids: [a, '\u0000'] }), 'part_ids'],
    ['a part is named twice', ([a]) => ({ part_ids: [a, a] }), 'part_ids'],
    ['the MD5 is another', ([a, b]) => ({ part_ids: [b, a], md5: createHash('md5').update('aabb').digest('hex') }), 'md5'],
    ['there are no parts', () => ({ part_ids: [] }), 'part_ids'],
  ])('is refused and goes on when %s', async (_what, bodyOf, param) => {
    const { id } = await begin(4);
    const ids = [(await addPart(id, 'aa')).body.id, (await addPart(id, 'bb')).body.id];
    const { status, body } = await post(id, 'complete', bodyOf(ids));
    expect([status, body.error.param]).toEqual([400, param]);
    expect((await post(id, 'complete', { part_ids: ids })).body.status).toBe('completed');
  });

  test('leaves nothing when it is cancelled, once or twice', async () => {
    const before = await blobCount();
    const { id } = await begin(4);
    await addPart(id, 'aa');
    expect((await post(id, 'cancel')).body.status).toBe('cancelled');
    expect((await post(id, 'cancel')).body.status).toBe('cancelled');
    expect(await blobCount()).toBe(before);
    expect((await addPart(id, 'bb')).body.code).toBe('conflict');
    expect((await post(id, 'complete', { part_ids: ['part_x'] })).body.code).toBe('conflict');
  });

  test('expires after an hour, by the clock and then by the sweep', async () => {
    const before = await blobCount();
    const { id } = await begin(2);
    const part = await addPart(id, 'aa');
    world.clock.offsetMs = 3_600_001;
    expect((await post(id, 'complete', { part_ids: [part.body.id] })).body.code).toBe('conflict');
    expect((await addPart(id, 'bb')).body.code).toBe('conflict');
    await sweepExpired(world);
    expect(await blobCount()).toBe(before);
    expect((await post(id, 'cancel')).body.code).toBe('conflict');
  });

  test('keeps its file when the upload itself is forgotten', async () => {
    const { id } = await begin(2);
    const part = await addPart(id, 'aa');
    const { body } = await post(id, 'complete', { part_ids: [part.body.id] });
    world.clock.offsetMs = 40 * 86_400_000;
    await sweepExpired(world);
    expect((await world.pool.query('select 1 from uploads where id = $1', [id])).rowCount).toBe(0);
    world.clock.offsetMs = 0;
    expect((await transfer(`/v1/files/${body.file.id}/content`)).bytes.toString()).toBe('aa');
  });

  test('of another account is answered exactly as a missing one', async () => {
    const { id } = await begin(2);
    auth = { ...(await signUp(world.api)).auth, 'x-request-id': 'req_same_for_both' };
    const answers = async (uploadId: string) => [
      (await addPart(uploadId, 'x')).bytes.toString(),
      (await post(uploadId, 'cancel')).text,
      (await post(uploadId, 'complete', { part_ids: ['part_x'] })).text,
    ];
    const theirs = await answers(id);
    expect(theirs).toEqual(await answers('upload_019aa2f1c2d37b6e8c4d1f00aa55ee77'));
    expect(theirs[0]).toContain('not_found');
  });

  test('is refused at its beginning when the whole does not fit', async () => {
    const answer = await begin(STORAGE_BYTES + 1);
    expect([answer.status, answer.code]).toEqual([413, 'storage_limit_reached']);
  });

  test('loses and doubles nothing when it is completed, cancelled and added to at once', async () => {
    for (let round = 0; round < 15; round++) {
      const before = new Set(await world.stored());
      const { id } = await begin(4);
      const part_ids = [(await addPart(id, 'aa')).body.id, (await addPart(id, 'bb')).body.id];
      const outcomes = await Promise.all([
        post(id, 'complete', { part_ids, md5: createHash('md5').update('aabb').digest('hex') }),
        post(id, 'complete', { part_ids }),
        post(id, 'cancel'),
        addPart(id, 'cc'),
        addPart(id, 'dd'),
      ]);
      for (const { status } of outcomes) expect([200, 409]).toContain(status);
      const completed = outcomes.slice(0, 2).flatMap(({ status, body }) => (status === 200 ? [body.file.id] : []));
      expect(new Set(completed).size).toBeLessThanOrEqual(1);
      const [cancelled] = outcomes.slice(2, 3);
      expect(cancelled?.status === 200).toBe(completed.length === 0);
      const left = (await world.stored()).filter((key) => !before.has(key));
      expect(left).toHaveLength(completed.length === 0 ? 0 : 2);
      for (const fileId of new Set(completed)) {
        expect((await transfer(`/v1/files/${fileId}/content`)).bytes.toString()).toBe('aabb');
        await send(world.api, `/v1/files/${fileId}`, { method: 'DELETE', headers: auth });
      }
    }
  });
});

test('the room of an account is never overdrawn by uploads at the same time', async () => {
  const answers = await Promise.all(Array.from({ length: 8 }, () => transfer('/v1/files', { body: formOf(new Uint8Array(300_000)) })));
  const statuses = answers.map(({ status }) => status).sort();
  expect(statuses).toEqual([200, 200, 200, 413, 413, 413, 413, 413]);
});
