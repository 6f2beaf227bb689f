import { hash } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createDocsSite } from './docs-site.ts';
import { pageRoutes } from './pages.ts';
import { type FrontUnderTest, openFrontUnderTest } from './testing/front.ts';

let front: FrontUnderTest;
beforeAll(async () => {
  front = await openFrontUnderTest(() =>
    pageRoutes({
      renderMetrics: () => Promise.reject(new Error('no metrics')),
      requireMetricsReader: () => {},
      documents: { paths: [], answer: () => Promise.reject(new Error('no documents')) },
      docs: createDocsSite('/nowhere'),
    }),
  );
});
afterAll(() => front.close());

const get = async (path: string) => {
  const answer = await fetch(front.url + path);
  return { status: answer.status, headers: answer.headers, html: await answer.text() };
};

test.each(['/verify-email', '/reset-password?token=tgr_x', '/keys?key_id=tgr_x', '/invite?code=tgr_x', '/device?user_code=tgr_x'])(
  '%s is a page that may run its own script, and load and send nothing elsewhere',
  async (path) => {
    const { headers, html } = await get(path);
    const csp = headers.get('content-security-policy') ?? '';
    for (const [tag, directive] of [
      ['script', 'script-src'],
      ['style', 'style-src'],
    ] as const) {
      const [, text = ''] = new RegExp(`<${tag}>([\\s\\S]*?)</${tag}>`).exec(html) ?? [];
      expect(csp).toContain(`${directive} 'sha256-${hash('sha256', text, 'base64')}'`);
    }
    expect(csp).toMatch(/^default-src 'none'; .*connect-src 'self'/);
    expect(html.replaceAll('https://GATEWAY', '')).not.toMatch(/https?:\/\/|tgr_x/);
    expect(headers.get('cache-control')).toBe('no-store');
  },
);

test.each(['/', '/verify-emails', '/v1/verify-email', '/reset-password/x', '/keys/x', '/v1/keys', '/devices', '/device/x'])(
  '%s is none',
  async (path) => {
    expect((await get(path)).status).toBe(404);
  },
);

test('the page that mails about budgets lead to says how to look at a budget and how to change it', async () => {
  const text = (await get('/keys')).html.replaceAll(/<[^>]+>/g, '');
  expect(text).toContain('npx tallygate budgets show KEY_ID');
  expect(text).toContain('curl -X PATCH https://GATEWAY/v1/keys/KEY_ID/budget');
});
