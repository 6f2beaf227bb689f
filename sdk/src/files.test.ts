import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { collect } from '../testing/collect.ts';
import { storedFile as file, refusal, storedUpload as upload } from '../testing/fixtures.ts';
import { type StubGateway, startStubGateway } from '../testing/stub-gateway.ts';
import { NotFoundError, Tallygate } from './index.ts';

let gateway: StubGateway;
let tallygate: Tallygate;
beforeEach(async () => {
  gateway = await startStubGateway();
  tallygate = new Tallygate({ apiKey: 'tg_test_secret', baseUrl: gateway.baseUrl });
});
afterEach(() => gateway[Symbol.asyncDispose]());
const asked = () => gateway.requests.map(({ method, path }) => `${method} ${path}`);

describe('files', () => {
  it('are sent as a form, with an idempotency key', async () => {
    gateway.script({ json: file(1) });
    expect(await tallygate.files.create({ file: new Blob(['{}']), filename: 'a.jsonl', purpose: 'batch' })).toEqual(file(1));
    const [request] = gateway.requests;
    expect(request?.body).toEqual({ purpose: 'batch', file: '{}' });
    expect(request?.headers).toMatchObject({
      'content-type': expect.stringMatching(/^multipart\/form-data; boundary=/),
      'idempotency-key': expect.any(String),
    });
  });

  it('are sent again after a failure, under the same idempotency key', async () => {
    gateway.script({ ...refusal('storage_unavailable'), headers: { 'retry-after': '0' } }, { json: file(1) });
    await tallygate.files.create({ file: new Blob(['{}']), purpose: 'batch' });
    const [first, second] = gateway.requests;
    expect(second?.body).toEqual(first?.body);
    expect(second?.headers['idempotency-key']).toBe(first?.headers['idempotency-key']);
  });

  it('are listed by page, or all of them by iterating', async () => {
    const page = (numbers: number[], has_more: boolean) => {
      const data = numbers.map(file);
      return { json: { object: 'list', data, first_id: data.at(0)?.id ?? '', last_id: data.at(-1)?.id ?? '', has_more } };
    };
    gateway.script(page([5, 4], true), page([3, 2], true), page([], false));
    const ids = (await collect(tallygate.files.list({ limit: 2, purpose: 'batch' }))).map(({ id }) => id);
    expect(ids).toEqual([5, 4, 3, 2].map((number) => file(number).id));
    expect(gateway.requests.map(({ query }) => query['after'])).toEqual([undefined, file(4).id, file(2).id]);
    expect(gateway.requests[1]?.query).toMatchObject({ limit: '2', purpose: 'batch' });
  });

  it('are got, downloaded and deleted', async () => {
    gateway.script({ json: file(1) }, { text: 'the bytes' }, { json: { id: file(1).id, object: 'file', deleted: true } });
    expect((await tallygate.files.get(file(1).id)).id).toBe(file(1).id);
    expect(await (await tallygate.files.content(file(1).id)).text()).toBe('the bytes');
    expect((await tallygate.files.delete(file(1).id)).deleted).toBe(true);
    const path = `/v1/files/${file(1).id}`;
    expect(asked()).toEqual([`GET ${path}`, `GET ${path}/content`, `DELETE ${path}`]);
  });

  it('that are missing throw before there is a body', async () => {
    gateway.script(refusal('not_found'));
    await expect(tallygate.files.content('file-x')).rejects.toBeInstanceOf(NotFoundError);
  });

  it('whose download is aborted by the caller end with an AbortError', async () => {
    gateway.script({ pieces: ['the first piece'] });
    const abort = new AbortController();
    const response = await tallygate.files.content('file-x', { signal: abort.signal });
    const reader = response.body?.getReader();
    await reader?.read();
    abort.abort();
    await expect(reader?.read()).rejects.toMatchObject({ code: 'aborted' });
  });
});

describe('uploads.send', () => {
  it('sends the parts and completes', async () => {
    const part = { id: 'part_1', object: 'upload.part', created_at: 1763712000, upload_id: upload.id };
    gateway.script({ json: upload }, { json: part }, { json: { ...upload, status: 'completed', file: file(1) } });
    const sent: number[] = [];
    const onProgress = (bytes: number) => sent.push(bytes);
    expect(await tallygate.uploads.send({ file: new Blob(['content']), filename: 'a.bin', purpose: 'user_data' }, { onProgress })).toEqual(
      file(1),
    );
    expect(sent).toEqual([7]);
    const path = `/v1/uploads/${upload.id}`;
    expect(asked()).toEqual(['POST /v1/uploads', `POST ${path}/parts`, `POST ${path}/complete`]);
    expect(gateway.requests.map(({ body }) => body)).toEqual([
      { bytes: 7, filename: 'a.bin', mime_type: 'application/octet-stream', purpose: 'user_data' },
      { data: 'content' },
      { part_ids: ['part_1'] },
    ]);
  });

  it('cancels what it could not finish', async () => {
    gateway.script({ json: upload }, refusal('storage_limit_reached'), { json: { ...upload, status: 'cancelled' } });
    await expect(tallygate.uploads.send({ file: new Blob(['content']), purpose: 'user_data' })).rejects.toMatchObject({
      code: 'storage_limit_reached',
    });
    expect(asked().at(-1)).toBe(`POST /v1/uploads/${upload.id}/cancel`);
  });
});
