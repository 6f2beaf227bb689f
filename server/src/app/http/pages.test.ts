import { once } from 'node:events';
import { createServer } from 'node:http';
import { ERRORS } from '@tallygate/contract';
import { afterEach, expect, test } from 'vitest';
import { createPages } from './pages.ts';

let close = () => {};
afterEach(() => close());

async function open(metricsToken?: string, renderMetrics = async () => ({ contentType: 'text/plain', body: 'up 1\n' })) {
  const pages = createPages({
    renderMetrics,
    metricsToken,
    problemReply: ({ status, code }) => ({
      status,
      headers: { 'content-type': 'application/problem+json' },
      body: JSON.stringify({ code }),
    }),
  });
  const server = createServer(async (req, res) => {
    if (!pages.handles(req) || !(await pages.serve(req, res))) res.writeHead(404).end();
  }).listen(0, '127.0.0.1');
  close = () => server.close();
  await once(server, 'listening');
  const address = server.address();
  const port = typeof address === 'object' && address ? address.port : 0;
  return (path: string, init: RequestInit = {}) => fetch(`http://127.0.0.1:${port}${path}`, init);
}

test('metrics are open without a token, and need exactly it where one is set', async () => {
  expect(await (await (await open())('/metrics')).text()).toBe('up 1\n');
  close();
  const get = await open('metrics-token-0001');
  const ask = (authorization?: string) => get('/metrics', authorization === undefined ? {} : { headers: { authorization } });
  expect(await (await ask('Bearer metrics-token-0001')).text()).toBe('up 1\n');
  for (const wrong of ['Bearer metrics-token-000', 'Bearer metrics-token-00012', 'metrics-token-0001', 'Bearer ']) {
    const refused = await ask(wrong);
    expect([refused.status, await refused.json()]).toEqual([401, { code: 'invalid_credentials' }]);
  }
  expect(await (await ask()).json()).toEqual({ code: 'missing_credentials' });
});

test('metrics that cannot be rendered are an error, not a missing page', async () => {
  const get = await open(undefined, () => Promise.reject(new Error('no')));
  expect((await get('/metrics')).status).toBe(500);
});

test('every error has a page, and what is no error has none', async () => {
  const get = await open();
  for (const [code, { title }] of Object.entries(ERRORS)) {
    const answer = await get(`/docs/errors/${code}`);
    expect(answer.headers.get('content-type')).toBe('text/html; charset=utf-8');
    const html = await answer.text();
    expect(html).toContain(`<h1>${title.replaceAll('&', '&amp;')}</h1>`);
    expect(html.replaceAll(/<\/?(code|p|h1|dl|dt|dd|main|body|html|head|title|style|meta)\b[^>]*>|<!doctype html>/g, '')).not.toMatch(
      /[<>]/,
    );
  }
  for (const path of ['nothing', 'constructor', '__proto__', 'a%3Cscript%3E', 'budget_exceeded/'])
    expect((await get(`/docs/errors/${path}`)).status).toBe(404);
});
