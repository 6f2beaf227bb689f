import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { chromiumPath } from './browser.ts';
import { ConsoleInBrowser } from './console-in-browser.ts';

const executable = chromiumPath();

describe.skipIf(!executable)('filters and sessions of the console', () => {
  let seen: ConsoleInBrowser;
  let page: Page;

  beforeAll(async () => {
    seen = await ConsoleInBrowser.open(executable);
    ({ page } = seen);
    await seen.signedInAt('/requests', 'Requests');
  });
  afterAll(() => seen?.close());
  const saved = (name: string) => page.getByRole('region', { name: 'Saved filters' }).getByRole('button', { name, exact: true });

  test('a filter of requests is in the address, and is kept by a name until it is forgotten', async () => {
    await page.getByLabel('Model').fill('gpt-4o');
    await page.getByLabel('API key').selectOption({ index: 0 });
    await seen.press('Search');
    await page.waitForURL('**/requests?model=gpt-4o&mode=test');
    await seen.press('Save this filter');
    await page.getByLabel('Name').fill('the large one');
    await seen.press('Save');
    await seen.expectFits();
    await seen.press('Clear');
    await page.waitForURL('**/requests?mode=test');
    await page.reload();
    await saved('the large one').click();
    await page.waitForURL('**/requests?model=gpt-4o&mode=test');
    expect(await saved('the large one').getAttribute('aria-pressed')).toBe('true');
    await seen.press('Forget the filter the large one');
    expect(await saved('the large one').count()).toBe(0);
  });

  test('usage is grouped and dated by the address, so that a link shows the same', async () => {
    await seen.goTo('/usage?by=model&and=key&last=7');
    await seen.settled('Usage');
    expect(await page.getByLabel(/^By/).inputValue()).toBe('model');
    expect(await page.getByLabel(/^and/).inputValue()).toBe('key');
    const ago = new Date(Date.now() - 6 * 86_400_000).toISOString().slice(0, 10);
    expect(await page.getByLabel('From').inputValue()).toBe(ago);
    await page.getByLabel(/^By/).selectOption('tag');
    await page.waitForURL('**/usage?by=tag&last=7&mode=test');
    // Texts that look like numbers stay as they are.
    await seen.goTo('/requests?end_user=0042&min_cost_usd=0.10&max_cost_usd=7');
    await page.waitForURL('**/requests?end_user=0042&min_cost_usd=0.10&max_cost_usd=7&mode=test');
    const values = ['End user', 'Cost from, USD', 'Cost up to, USD'].map((label) => page.getByLabel(label).inputValue());
    expect(await Promise.all(values)).toEqual(['0042', '0.10', '7']);
  });

  test('has the mode in every address, so that a link shows the same to whom another mode is shown', async () => {
    const mode = (name: string) => page.getByRole('group', { name: 'Mode' }).getByLabel(name);
    await seen.goTo('/keys');
    await page.waitForURL('**/keys?mode=test');
    const link = page.url();
    await mode('Live').check({ force: true });
    await page.waitForURL('**/keys?mode=live');
    await page.getByText('No live keys').waitFor();
    await page.getByRole('link', { name: 'Agent runs' }).click();
    await page.waitForURL('**/runs?mode=live');
    await page.goto(link);
    await page.getByRole('link', { name: 'first test key' }).waitFor();
    expect(await mode('Test').isChecked()).toBe(true);
    // What is no mode is replaced by what was chosen last.
    await seen.goTo('/keys?mode=both');
    await page.waitForURL('**/keys?mode=live');
    await mode('Test').check({ force: true });
    await page.waitForURL('**/keys?mode=test');
  });

  test('says in its frame that there is no such page, and no such thing, whatever its address is like', async () => {
    await seen.goTo('/no/such/page');
    await seen.settled('There is no such page');
    await seen.expectFits();
    await seen.goTo('/keys/what-is-no-id');
    await seen.settled('Not found');
    await page.getByRole('link', { name: 'Overview' }).click();
    await seen.settled('Overview');
    seen.complaints.length = 0;
  });

  test('opens the menu of a phone below the button that closes it', async () => {
    await seen.goTo('/keys');
    await seen.settled('API keys');
    await page.setViewportSize({ width: 390, height: 844 });
    const menu = page.getByRole('button', { name: 'Menu' });
    const place = await menu.boundingBox();
    await menu.click();
    await page.getByRole('link', { name: 'Agent runs' }).waitFor();
    expect(await menu.boundingBox()).toEqual(place);
    await menu.click();
    await page.getByRole('link', { name: 'Agent runs' }).waitFor({ state: 'hidden' });
    await page.setViewportSize({ width: 1280, height: 900 });
  });

  test('says with its look what keeps it from showing anything: no answer, or no right', async () => {
    const isAsked = (url: URL) => url.pathname.startsWith('/v1/');
    await page.route(isAsked, (route) => route.abort('connectionrefused'));
    await seen.goTo('/keys');
    await page.getByRole('main').getByRole('button', { name: 'Try again' }).waitFor({ timeout: 20_000 });
    await page.unroute(isAsked);
    const json = { title: 'Forbidden', status: 403, detail: 'Your role does not allow it.', code: 'permission_denied' };
    await page.route('**/v1/projects/**', (route) => route.fulfill({ status: 403, json }));
    await seen.goTo('/projects/of-others');
    await page.getByRole('heading', { name: 'Not for your role' }).waitFor();
    expect(await page.getByRole('button', { name: 'Try again' }).count()).toBe(0);
    await page.unroute('**/v1/projects/**');
    seen.complaints.length = 0;
  });

  test('says that the gateway does not answer, keeps what it shows, and goes on by itself', async () => {
    await seen.goTo('/keys');
    await page.getByRole('link', { name: 'first test key' }).waitFor();
    const isAsked = (url: URL) => url.pathname.startsWith('/v1/');
    await page.route(isAsked, (route) => route.abort('connectionrefused'));
    await page.getByRole('link', { name: 'Limits' }).click();
    await page.getByText('The gateway does not answer.').waitFor();
    await page.getByRole('link', { name: 'API keys' }).click();
    await page.getByRole('link', { name: 'first test key' }).waitFor();
    await page.unroute(isAsked);
    await page.getByText('The gateway does not answer.').waitFor({ state: 'detached' });
    seen.complaints.length = 0;
  });

  test('leads to the sign-in when the session has ended, and back to the same page', async () => {
    await seen.goTo('/usage?by=model');
    await seen.settled('Usage');
    await seen.context.clearCookies();
    await page.getByLabel(/^By/).selectOption('key');
    await page.getByText('Your session has ended.').waitFor();
    await seen.signIn();
    await seen.settled('Usage');
    expect(new URL(page.url()).search).toBe('?by=key&mode=test');
    seen.complaints.length = 0;
  });
});
