import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createDocsSite } from './docs-site.ts';
import { listenOn } from './front.ts';

let folder: string;
let server: Server;
let url: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'docs-site-'));
  const site = createDocsSite(join(folder, 'dist'));
  server = createServer((req, res) => {
    if (site.handles(req)) site.serve(req, res);
    else res.writeHead(418).end();
  });
  url = `http://127.0.0.1:${await listenOn(server, '127.0.0.1', 0)}`;
});
afterAll(async () => {
  server.close();
  await rm(folder, { recursive: true });
});

const get = (path: string) => fetch(`${url}${path}`, { redirect: 'manual' });

test('says how to build it where it is not built, and leaves the pages of errors to others', async () => {
  const answer = await get('/docs/');
  expect([answer.status, await answer.text()]).toEqual([404, expect.stringContaining('npm run docs')]);
  expect((await get('/docs/errors/not_found')).status).toBe(418);
});

test('serves what is built, from then on: pages anew each time, hashed assets for good, and nothing of other origins', async () => {
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
  expect((await get('/docs')).headers.get('location')).toBe('/docs/');
  expect((await get('/docs/_astro/page.Ab12.css')).headers.get('cache-control')).toContain('immutable');
  const error = await fetch(`${url}/docs/errors/not_found`);
  expect([error.status, await error.text()]).toEqual([200, '<h1>not_found</h1>']);
  const missing = await get('/docs/nowhere/');
  expect([missing.status, await missing.text()]).toEqual([404, '<h1>Nothing here</h1>']);
  expect((await get('/docs/../docs-site.test.ts')).status).not.toBe(200);
  expect((await get('/docs/..%2f..%2fpackage.json')).status).toBe(404);
});

test('answers nothing else', async () => {
  expect((await get('/docsx')).status).toBe(418);
  expect((await fetch(`${url}/docs/`, { method: 'POST' })).status).toBe(418);
});
