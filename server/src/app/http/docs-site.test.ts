import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createDocsSite } from './docs-site.ts';
import { pageRoutes } from './pages.ts';
import { type FrontUnderTest, openFrontUnderTest } from './testing/front.ts';

let folder: string;
let front: FrontUnderTest;
let url: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'docs-site-'));
  front = await openFrontUnderTest(() =>
    pageRoutes({
      renderMetrics: () => Promise.reject(new Error('no metrics')),
      requireMetricsReader: () => {},
      documents: { paths: [], answer: () => Promise.reject(new Error('no documents')) },
      docs: createDocsSite(join(folder, 'dist')),
    }),
  );
  url = front.url;
});
afterAll(async () => {
  front.close();
  await rm(folder, { recursive: true });
});

const get = (path: string) => fetch(`${url}${path}`, { redirect: 'manual' });

test('says how to build it where it is not built, but for the pages of errors, which are always there', async () => {
  const answer = await get('/docs/');
  expect([answer.status, await answer.text()]).toEqual([404, expect.stringContaining('npm run docs')]);
  expect((await get('/docs/errors/not_found')).status).toBe(200);
  expect((await get('/docs/errors/nothing')).status).toBe(404);
});

test('serves the built files: pages revalidated, hashed assets immutable, no other origins', async () => {
  const dist = join(folder, 'dist');
  await mkdir(join(dist, 'errors', 'not_found'), { recursive: true });
  await mkdir(join(dist, '_astro'));
  await writeFile(join(dist, 'index.html'), '<h1>Tallygate</h1>');
  await writeFile(join(dist, '404.html'), '<h1>Nothing here</h1>');
  await writeFile(join(dist, 'errors', 'not_found', 'index.html'), '<h1>not_found</h1>');
  await writeFile(join(dist, '_astro', 'page.Ab12.css'), 'h1{}');

  const home = await get('/docs/');
  expect([home.status, await home.text(), home.headers.get('cache-control')]).toEqual([200, '<h1>Tallygate</h1>', 'no-cache']);
  expect(home.headers.get('content-security-policy')).toContain("default-src 'self'");
  for (const [asked, led] of [
    ['/docs', '/docs/'],
    ['/docs/errors/not_found?a=1', '/docs/errors/not_found/?a=1'],
  ] as const) {
    const { status, headers } = await get(asked);
    expect([status, headers.get('location')]).toEqual([301, led]);
    expect(headers.get('content-security-policy')).toContain("frame-ancestors 'none'");
  }
  expect((await get('/docs/_astro/page.Ab12.css')).headers.get('cache-control')).toContain('immutable');
  const error = await fetch(`${url}/docs/errors/not_found`);
  expect([error.status, await error.text()]).toEqual([200, '<h1>not_found</h1>']);
  const missing = await get('/docs/nowhere/');
  expect([missing.status, await missing.text()]).toEqual([404, '<h1>Nothing here</h1>']);
  expect((await get('/docs/../docs-site.test.ts')).status).not.toBe(200);
  expect((await get('/docs/..%2f..%2fpackage.json')).status).toBe(404);
});

test('sends text in the browser’s encoding, with an ETag for each encoding', async () => {
  const page = join(folder, 'dist', 'guides', 'index.html');
  await mkdir(join(folder, 'dist', 'guides'), { recursive: true });
  const text = '<h1>Guides</h1>'.repeat(200);
  await Promise.all([writeFile(page, text), writeFile(`${page}.br`, brotliCompressSync(text)), writeFile(`${page}.gz`, gzipSync(text))]);
  const ask = async (headers: Record<string, string>) => {
    const answer = await fetch(`${url}/docs/guides/`, { headers });
    const { headers: said } = answer;
    return {
      status: answer.status,
      coding: said.get('content-encoding'),
      type: said.get('content-type'),
      tag: said.get('etag') ?? '',
      vary: said.get('vary'),
      text: await answer.text(),
    };
  };
  const forms = await Promise.all(['gzip, br', 'gzip', 'br;q=0, gzip;q=0', 'identity'].map((coding) => ask({ 'accept-encoding': coding })));
  expect(forms.map(({ coding }) => coding)).toEqual(['br', 'gzip', null, null]);
  for (const form of forms)
    expect(form).toMatchObject({ status: 200, text, type: 'text/html; charset=utf-8', vary: expect.stringMatching(/accept-encoding/i) });
  expect(new Set(forms.map(({ tag }) => tag)).size).toBe(3);
  // Without a `cache-control` of the caller's own, fetch asks for a fresh answer.
  expect((await ask({ 'accept-encoding': 'br', 'if-none-match': forms[0]?.tag ?? '', 'cache-control': 'max-age=0' })).status).toBe(304);
});

test('has an icon where browsers ask for it', async () => {
  const icon = await get('/favicon.ico');
  expect([icon.status, icon.headers.get('content-type')]).toEqual([200, 'image/vnd.microsoft.icon']);
  // An ICO begins with 0 and 1, two bytes each.
  expect([...new Uint8Array(await icon.arrayBuffer()).subarray(0, 4)]).toEqual([0, 0, 1, 0]);
});

test('answers nothing else', async () => {
  expect((await get('/docsx')).status).toBe(404);
  expect((await fetch(`${url}/docs/`, { method: 'POST' })).status).toBe(405);
});
