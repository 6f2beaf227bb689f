import { hash } from 'node:crypto';
import { expect, test } from 'vitest';
import { mailLinkPage } from './mail-link-pages.ts';

test.each(['/verify-email', '/reset-password?token=tgr_x'])(
  '%s is a page that may run its own script, and load and send nothing elsewhere',
  (url) => {
    const page = mailLinkPage(url);
    const csp = page?.headers['content-security-policy'] ?? '';
    for (const [tag, directive] of [
      ['script', 'script-src'],
      ['style', 'style-src'],
    ] as const) {
      const [, text = ''] = new RegExp(`<${tag}>([\\s\\S]*?)</${tag}>`).exec(page?.body ?? '') ?? [];
      expect(csp).toContain(`${directive} 'sha256-${hash('sha256', text, 'base64')}'`);
    }
    expect(csp).toContain("default-src 'none'; connect-src 'self'");
    expect(page?.body).not.toMatch(/https?:\/\/|tgr_x/);
    expect(page?.headers).toMatchObject({ 'referrer-policy': 'no-referrer', 'cache-control': 'no-store' });
  },
);

test.each(['/', '/verify-emails', '/v1/verify-email', '/reset-password/x'])('%s is none', (url) => {
  expect(mailLinkPage(url)).toBeUndefined();
});
