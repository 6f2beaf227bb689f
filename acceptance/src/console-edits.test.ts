import { Tallygate } from '@tallygate/sdk';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { chromiumPath } from './browser.ts';
import { ConsoleInBrowser } from './console-in-browser.ts';

const executable = chromiumPath();

describe.skipIf(!executable)('changes in the console', () => {
  let seen: ConsoleInBrowser;
  let page: Page;
  let admin: Tallygate;

  beforeAll(async () => {
    seen = await ConsoleInBrowser.open(executable);
    ({ page } = seen);
    const { admin_email: email, admin_password: password } = seen.gateway.bootstrap;
    const login = await new Tallygate({ apiKey: null, baseUrl: seen.gateway.url }).identity.login({ email, password });
    if (!('session' in login) || !login.session) throw new Error('The login answer carries no session');
    admin = new Tallygate({ apiKey: login.session.token, baseUrl: seen.gateway.url });
    await seen.signedInAt('/keys', 'API keys');
  });
  afterAll(() => seen?.close());
  const dialog = () => page.getByRole('dialog');
  const noDialog = () => dialog().waitFor({ state: 'detached' });
  const rowOf = (text: string | RegExp) => page.getByRole('row').filter({ hasText: text });

  test('what a key may do is changed where the key is, and the rest of it stays', async () => {
    const { key_id: id } = await admin.keys.create({ name: 'ci', livemode: false, rate_limits: { concurrency: 3 } });
    await seen.goTo(`/keys/${id}`);
    await seen.press('Change');
    await page.getByRole('textbox', { name: 'Name' }).fill('nightly');
    await page.getByLabel('account:read').check();
    await page.getByRole('textbox', { name: 'Models' }).fill('gpt-4o-mini\ngpt-4o, o3');
    await page.getByLabel('Expires').fill('2030-01-02T03:04');
    await seen.expectFits();
    await page.getByText('Nothing of last month’s requests would have been refused.').waitFor();
    await seen.press('Save');
    await seen.settled('nightly');
    expect(await admin.keys.get(id)).toMatchObject({
      ...{
        name: 'nightly',
        scopes: ['inference', 'account:read'],
        allowed_models: ['gpt-4o-mini', 'gpt-4o', 'o3'],
        allowed_endpoints: null,
      },
      rate_limits: { requests_per_minute: null, tokens_per_minute: null, concurrency: 3 },
      expires_at: await page.evaluate(`new Date('2030-01-02T03:04').toISOString()`),
    });
  });

  test('a management key is shown once, works from its addresses alone, and is revoked by name', async () => {
    await seen.goTo('/management-keys');
    await seen.press('Create a management key');
    await page.getByRole('textbox', { name: 'Name' }).fill('terraform');
    await page.getByLabel('Works from these addresses alone').fill('203.0.113.0/24\n2001:db8::1');
    await seen.expectFits();
    await seen.press('Create');
    await page
      .getByText(/^tg_mgmt_/)
      .first()
      .waitFor();
    await seen.press('Done');
    const [made] = (await admin.managementKeys.list()).data;
    expect(made?.allowed_addresses).toEqual(['203.0.113.0/24', '2001:db8::1']);
    await rowOf('terraform').getByRole('button', { name: 'Revoke' }).click();
    expect(await dialog().textContent()).toContain(made?.prefix);
    await seen.press('Revoke the key');
    await rowOf('terraform').getByText('revoked').waitFor();
  });

  test('a project is renamed, archived with the keys that stop named, and used again', async () => {
    const project = await admin.projects.create({ name: 'search' });
    await admin.keys.create({ name: 'of the project', livemode: false, project_id: project.project_id });
    await seen.goTo(`/projects/${project.project_id}`);
    await seen.press('Rename');
    await page.getByRole('textbox', { name: 'Name' }).fill('search and ads');
    await seen.press('Save');
    await seen.settled('search and ads');
    await seen.press('Archive');
    await dialog().getByText('1 key is revoked within a second: of the project.').waitFor();
    await seen.press('Archive the project');
    await page.getByText('archived', { exact: true }).waitFor();
    await seen.press('Use again');
    await page.getByRole('button', { name: 'Archive' }).waitFor();
  });

  test('a member gets another role', async () => {
    await seen.somebody({ email: 'grace@example.com', inAccount: 'viewer' });
    await seen.goTo('/team');
    await rowOf('grace@example.com').getByRole('button', { name: 'Role' }).click();
    await page.getByRole('combobox', { name: 'Role' }).selectOption('billing');
    await dialog().getByText('They see and pay what the account owes.').waitFor();
    await seen.press('Save');
    await noDialog();
    expect((await admin.members.list()).data.find(({ email }) => email === 'grace@example.com')?.account_role).toBe('billing');
  });

  test('a price that is set keeps the tiers of long inputs that nobody touched', async () => {
    const model = (await admin.models.list({ all: true })).data.find(({ pricing }) => (pricing?.tiers.length ?? 0) > 0);
    const before = model?.pricing;
    if (!model || !before) throw new Error('No model of the shipped list has tiers');
    await seen.goTo(`/models/${encodeURIComponent(model.id)}`);
    await seen.press('Set a price');
    await page.getByLabel('output tokens, USD a million', { exact: true }).fill('77');
    await page.getByLabel('Where the figures are from').fill('the contract');
    await seen.press('Set the price');
    await noDialog();
    await expect
      .poll(async () => (await admin.models.get(model.id)).pricing)
      .toMatchObject({
        ...{ tiers: before.tiers, batch_factor: before.batch_factor },
        prices: { ...before.prices, output_tokens: '0.000077' },
      });
  });

  test('what a request has cost is given back, once, with what it is and why', async () => {
    const answer = await fetch(`${seen.gateway.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${seen.gateway.bootstrap.test_api_key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'gpt-4o-mini', messages: [{ role: 'user', content: 'Hello' }] }),
    });
    await answer.text();
    const id = answer.headers.get('x-request-id') ?? '';
    await vi.waitFor(() => admin.requests.get(id), { timeout: 60_000 });
    await seen.goTo(`/requests/${id}`);
    await seen.press('Refund');
    expect(await dialog().textContent()).toContain(id);
    await page.getByLabel('Why').fill('It was a test.');
    await seen.press('Refund the request');
    await page.getByText('The receipt of the refund is').waitFor();
    await seen.press('Done');
    await page.getByRole('button', { name: 'Refund' }).waitFor({ state: 'detached' });
    expect((await admin.requests.get(id)).refund?.reason).toBe('It was a test.');
  });

  test('an operator finds an account by an address, and gives it a plan', async () => {
    await seen.somebody({ email: 'joan@example.com' });
    await seen.goTo('/accounts');
    await page.getByLabel('E-mail address').fill('JOAN@example.com');
    await seen.press('Search');
    await page.waitForURL('**/accounts?email=*');
    await page.getByRole('link', { name: 'joan@example.com' }).click();
    await seen.press('Give a plan');
    await page.getByLabel('Plan', { exact: true }).selectOption({ index: 1 });
    await seen.expectFits();
    await seen.press('Save');
    await noDialog();
    const [account] = (await admin.accounts.list({ email: 'joan@example.com' })).data;
    expect(account?.given_plan).toEqual({ plan_id: account?.plan_id, version: null });
  });

  test('the audit log is looked through by who, what and where, by its address', async () => {
    await seen.goTo('/audit-log?action=project&ip=127.0.0.1');
    await rowOf('project.created').first().waitFor();
    expect(await page.getByLabel('What').inputValue()).toBe('project');
    expect(await rowOf('management_key').count()).toBe(0);
    await page.getByLabel('From address').fill('203.0.113.7');
    await seen.press('Search');
    await page.getByText('Nothing is found').waitFor();
    seen.complaints.length = 0;
  });
});
