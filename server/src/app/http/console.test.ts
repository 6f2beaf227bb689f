import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { brotliCompressSync } from 'node:zlib';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Problem } from '../../kernel/problem.ts';
import { consoleRoutes, withConsoleAtRoot } from './console.ts';
import type { Grant } from './credentials.ts';
import type { ServedRoute } from './router.ts';
import { type FrontUnderTest, openFrontUnderTest } from './testing/front.ts';

const PAGE = '<title>Tallygate</title>';
const SCRIPT = 'console.log(1);'.repeat(200);
const ROOT: ServedRoute = { method: 'GET', path: '/', kind: 'api', answer: ({ res }) => res.writeHead(200).end('status') };
const authenticator = {
  authenticate: ({ headers }: { headers: { authorization?: string | undefined } }): Grant => {
    if (headers.authorization === 'Bearer tgs_ada') return { principal: { kind: 'session' } } as Grant;
    if (headers.authorization === 'Bearer tg_live_ada') return { principal: { kind: 'key' } } as Grant;
    throw new Problem('invalid_credentials', 'Nobody.');
  },
  requireStoring: () => undefined,
  requireInternalSecret: () => {},
};

let folder: string;
let front: FrontUnderTest;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'console-'));
  front = await openFrontUnderTest(
    ({ accessControl }) => [
      ...withConsoleAtRoot([ROOT]),
      ...consoleRoutes({ folder: join(folder, 'built'), accessControl, isHttps: false }),
    ],
    { authenticator },
  );
});
afterAll(async () => {
  front.close();
  await rm(folder, { recursive: true });
});

const get = (path: string, headers: Record<string, string> = {}) => fetch(`${front.url}${path}`, { headers, redirect: 'manual' });

test('a console that is not built says how to build it', async () => {
  const answer = await get('/console');
  expect([answer.status, await answer.text()]).toEqual([404, expect.stringContaining('npm run build')]);
});

test('a console is one page at every address, with hashed assets for ever, and loads nothing from elsewhere', async () => {
  await mkdir(join(folder, 'built/assets'), { recursive: true });
  await writeFile(join(folder, 'built/index.html'), PAGE);
  await writeFile(join(folder, 'built/assets/main-AB12.js'), SCRIPT);
  await writeFile(join(folder, 'built/assets/main-AB12.js.br'), brotliCompressSync(SCRIPT));
  for (const path of ['/console', '/console/', '/console/requests', '/console/runs/a.b?x=1']) {
    const answer = await get(path);
    expect([path, answer.status, await answer.text()]).toEqual([path, 200, PAGE]);
    expect(answer.headers.get('cache-control')).toBe('no-cache');
    expect(answer.headers.get('content-security-policy')).toMatch(
      /^default-src 'none'; script-src 'self'; style-src 'self';.*frame-ancestors 'none'$/,
    );
  }
  const script = await get('/console/assets/main-AB12.js', { 'accept-encoding': 'br' });
  expect([script.headers.get('content-encoding'), script.headers.get('content-type'), await script.text()]).toEqual([
    'br',
    expect.stringContaining('javascript'),
    SCRIPT,
  ]);
  expect(script.headers.get('cache-control')).toContain('immutable');
  for (const path of ['/console/assets/nothing.js', '/console/assets/', '/console/assets/..%2Findex.html'])
    expect((await get(path)).status).toBe(404);
});

test('the root leads browsers to the console, and answers programs', async () => {
  const browser = await get('/', { accept: 'text/html,application/xhtml+xml;q=0.9,*/*;q=0.8' });
  expect([browser.status, browser.headers.get('location'), browser.headers.get('vary')]).toEqual([302, '/console', 'accept']);
  for (const accept of ['*/*', 'application/json']) expect(await (await get('/', { accept })).text()).toBe('status');
});

test('a session is kept in a cookie that no script reads, and taken away again; an API key is not', async () => {
  const ask = (method: string, authorization: string) => fetch(`${front.url}/console/session`, { method, headers: { authorization } });
  const kept = await ask('POST', 'Bearer tgs_ada');
  expect([kept.status, kept.headers.get('set-cookie')]).toEqual([
    204,
    expect.stringMatching(/^tallygate_session=tgs_ada; Path=\/; HttpOnly; SameSite=Strict/),
  ]);
  expect((await ask('DELETE', '')).headers.get('set-cookie')).toContain('Max-Age=0');
  for (const [credential, code] of [
    ['Bearer tg_live_ada', 'session_required'],
    ['Bearer tgs_nobody', 'invalid_credentials'],
  ] as const) {
    const refused = await ask('POST', credential);
    expect([await refused.json(), refused.headers.get('set-cookie')]).toEqual([expect.objectContaining({ code }), null]);
  }
});
