import { hash } from 'node:crypto';
import { expect, test } from 'vitest';
import { devicePage } from './device-page.ts';
import { mailLinkPage } from './mail-link-pages.ts';

test.each(['/verify-email', '/reset-password?token=tgr_x', '/keys?key_id=tgr_x', '/invite?code=tgr_x', '/device?user_code=tgr_x'])(
  '%s is a page that may run its own script, and load and send nothing elsewhere',
  (url) => {
    const page = mailLinkPage(url) ?? devicePage(url);
    const csp = page?.headers['content-security-policy'] ?? '';
    for (const [tag, directive] of [
      ['script', 'script-src'],
      ['style', 'style-src'],
    ] as const) {
      const [, text = ''] = new RegExp(`<${tag}>([\\s\\S]*?)</${tag}>`).exec(page?.body ?? '') ?? [];
      expect(csp).toContain(`${directive} 'sha256-${hash('sha256', text, 'base64')}'`);
    }
    expect(csp).toContain("default-src 'none'; connect-src 'self'");
    expect(page?.body.replaceAll('https://GATEWAY', '')).not.toMatch(/https?:\/\/|tgr_x/);
    expect(page?.headers).toMatchObject({ 'referrer-policy': 'no-referrer', 'cache-control': 'no-store' });
  },
);

test.each(['/', '/verify-emails', '/v1/verify-email', '/reset-password/x', '/keys/x', '/v1/keys', '/devices', '/device/x'])(
  '%s is none',
  (url) => {
    expect(mailLinkPage(url) ?? devicePage(url)).toBeUndefined();
  },
);

test('the page that mails about budgets lead to says how to look at a budget and how to change it', () => {
  const text = mailLinkPage('/keys')?.body.replaceAll(/<[^>]+>/g, '') ?? '';
  expect(text).toContain('npx tallygate budgets show KEY_ID');
  expect(text).toContain('curl -X PATCH https://GATEWAY/v1/keys/KEY_ID/budget');
});
