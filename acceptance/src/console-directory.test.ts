import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { CLIENT, startTestProvider, type TestProvider } from '../../server/src/adapters/directory/testing/provider.ts';
import { freePort } from '../../server/src/kernel/free-port.ts';
import { chromiumPath, openBrowser } from './browser.ts';
import { Gateway } from './gateway.ts';

const executable = chromiumPath();

describe.skipIf(!executable)('the console beside a directory', () => {
  let provider: TestProvider;
  let gateway: Gateway;
  let browser: Browser;
  let page: Page;

  beforeAll(async () => {
    const port = await freePort();
    provider = await startTestProvider(() => [`http://127.0.0.1:${port}/sign-in/callback`]);
    provider.people.set('ada', { email: 'ada@example.com', name: 'Ada Lovelace' });
    gateway = await Gateway.start({
      process: 'shared',
      env: {
        ...{ PORT: String(port), OIDC_ISSUER: provider.issuer, OIDC_CLIENT_ID: CLIENT.id, OIDC_CLIENT_SECRET: CLIENT.secret },
        OIDC_NAME: 'Example Inc.',
      },
    });
    browser = await openBrowser(executable ?? '');
    page = await browser.newPage();
  });
  afterAll(async () => {
    await browser?.close();
    await gateway?.remove();
    await provider?.close();
  });

  test('signs people in with the directory, and leads to the page that they wanted', async () => {
    await page.goto(`${gateway.url}/console/keys`);
    await page.getByRole('button', { name: 'Sign in with Example Inc.' }).click();
    await page.locator('input[name="login"]').fill('ada');
    await page.locator('input[name="password"]').fill('any');
    await page.locator('button[type="submit"]').click();
    await page.waitForURL(/interaction/);
    await page.locator('button[type="submit"]').click();
    await page.getByRole('heading', { name: 'API keys', level: 1 }).waitFor();
    expect(await page.getByText('ada@example.com').count()).toBe(1);
    expect(await page.evaluate('JSON.stringify({ ...sessionStorage, ...localStorage })')).not.toContain('tgs_');
  });

  test('takes no session of a sign-in that another tab began', async () => {
    await page.goto(`${gateway.url}/console/sign-in?code=tgo_of-somebody&state=theirs`);
    await expect.poll(() => page.getByRole('alert').textContent()).toContain('not begun in this tab');
  });
});
