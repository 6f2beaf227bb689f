import { request } from 'node:http';
import { gunzipSync } from 'node:zlib';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createDocumentPages } from './document-pages.ts';
import { openFrontUnderTest } from './testing/front.ts';

const BODY = JSON.stringify({ text: 'x'.repeat(4_000) });
let edition: string;
let drawn: string[];
let body: string;
let port: number;
let close: () => void;

beforeEach(async () => {
  [edition, drawn, body] = ['first', [], BODY];
  const pages = createDocumentPages({
    paths: ['/agent.json'],
    has: (path) => path === '/agent.json',
    read: (path) => {
      drawn.push(path);
      return { contentType: 'application/json; charset=utf-8', body };
    },
    edition: () => edition,
  });
  const front = await openFrontUnderTest(() => [{ method: 'GET', path: '/agent.json', kind: 'api', answer: pages.answer }]);
  ({ port, close } = front);
});
afterEach(() => close());

/** With its bytes as they came: `fetch` would unpack them. */
function get(headers: Record<string, string> = {}, { method = 'GET', path = '/agent.json' } = {}) {
  return new Promise<{ status: number; headers: NodeJS.Dict<string | string[]>; bytes: Buffer }>((resolve, reject) => {
    request({ port, path, method, headers, agent: false }, (answer) => {
      const chunks: Buffer[] = [];
      answer.on('data', (chunk: Buffer) => chunks.push(chunk));
      answer.on('end', () => resolve({ status: answer.statusCode ?? 0, headers: answer.headers, bytes: Buffer.concat(chunks) }));
    })
      .on('error', reject)
      .end();
  });
}

test('a document has its type, an ETag and a max-age', async () => {
  const { status, headers, bytes } = await get();
  expect([status, bytes.toString()]).toEqual([200, BODY]);
  expect(headers).toMatchObject({
    'content-type': 'application/json; charset=utf-8',
    'cache-control': 'public, max-age=300',
    vary: 'Accept-Encoding',
    etag: expect.stringMatching(/^W\/"[\w-]{27}"$/),
  });
});

test('a matching ETag is a 304 without a body, in every notation', async () => {
  const tag = String((await get()).headers['etag']);
  for (const given of [tag, tag.slice(2), `"other", ${tag}`, '*']) {
    const { status, headers, bytes } = await get({ 'if-none-match': given });
    expect([status, bytes.length, headers['etag']]).toEqual([304, 0, tag]);
  }
  expect((await get({ 'if-none-match': '"other"' })).status).toBe(200);
});

test('it is drawn once an edition, and a new edition has another tag only where the text is another', async () => {
  const tags = [(await get()).headers['etag'], (await get()).headers['etag']];
  expect(drawn).toHaveLength(1);
  edition = 'second';
  tags.push((await get()).headers['etag']);
  [edition, body] = ['third', `${BODY} `];
  tags.push((await get()).headers['etag']);
  expect(drawn).toHaveLength(3);
  expect(tags[0]).toBe(tags[2]);
  expect(tags[3]).not.toBe(tags[0]);
});

test('it is compressed only for clients that accept it', async () => {
  const zipped = await get({ 'accept-encoding': 'br, gzip' });
  expect(zipped.headers['content-encoding']).toBe('gzip');
  expect(Number(zipped.headers['content-length'])).toBe(zipped.bytes.length);
  expect(gunzipSync(zipped.bytes).toString()).toBe(BODY);
  for (const taken of ['identity', 'gzip;q=0', 'br, gzip; q=0.000, identity'])
    expect((await get({ 'accept-encoding': taken })).headers['content-encoding']).toBeUndefined();
});

test('HEAD says the same without the body, a query changes nothing, and nothing can be written', async () => {
  const head = await get({}, { method: 'HEAD' });
  expect([head.status, head.headers['content-length'], head.bytes.length]).toEqual([200, String(BODY.length), 0]);
  expect((await get({}, { path: '/agent.json?v=1' })).status).toBe(200);
  expect((await get({}, { method: 'POST' })).status).toBe(405);
});
