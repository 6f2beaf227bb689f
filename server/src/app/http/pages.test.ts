import { ERRORS } from '@tallygate/contract';
import { afterEach, expect, test } from 'vitest';
import { createDocsSite } from './docs-site.ts';
import { pageRoutes } from './pages.ts';
import { openFrontUnderTest } from './testing/front.ts';

let close = () => {};
afterEach(() => close());

async function open(requireMetricsReader = () => {}, renderMetrics = async () => ({ contentType: 'text/plain', body: 'up 1\n' })) {
  const front = await openFrontUnderTest(() =>
    pageRoutes({
      ...{ renderMetrics, requireMetricsReader, docs: createDocsSite('/nowhere') },
      documents: { paths: [], answer: () => Promise.reject(new Error('no documents')) },
    }),
  );
  close = () => front.close();
  return (path: string, init: RequestInit = {}) => fetch(`${front.url}${path}`, init);
}

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
