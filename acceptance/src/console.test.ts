import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { chromiumPath } from './browser.ts';
import { ConsoleInBrowser } from './console-in-browser.ts';
import { PAGES_OF_LISTS } from './console-pages.ts';
import { projectOfDirectory } from './directory-project.ts';
import type { Gateway } from './gateway.ts';

const executable = chromiumPath();
if (!executable) process.stdout.write('Skipped: the console is looked at in a Chromium; name it in CHROMIUM.\n');

/** The heading of each page that is there before there is anything. */
const PAGES: Readonly<Record<string, string>> = {
  '/': 'Overview',
  '/requests': 'Requests',
  '/runs': 'Agent runs',
  '/usage': 'Usage',
  '/playground': 'Playground',
  '/keys': 'API keys',
  '/management-keys': 'Management keys',
  '/batches': 'Batches and files',
  '/accounts': 'Accounts',
  '/limits': 'Limits',
  '/end-users': 'Tags and end users',
  '/webhooks': 'Webhooks',
  '/team': 'Team',
  '/audit-log': 'Audit log',
  '/models': 'Models and prices',
  '/providers': 'Providers',
  '/log': 'Receipts log',
  '/people': 'People',
  '/client-requests': 'Client requests',
  '/people/import': 'Import people',
  '/emails': 'E-mails',
  '/email-templates': 'Mail templates',
  '/events': 'Events',
  '/invites': 'Invitations',
  '/content': 'Content',
  '/billing': 'Plan and invoices',
  '/settings': 'Settings',
};

describe.skipIf(!executable)('the console, in a browser', () => {
  let seen: ConsoleInBrowser;
  let gateway: Gateway;
  let page: Page;
  let complaints: string[];

  beforeAll(async () => {
    seen = await ConsoleInBrowser.open(executable, { WEBHOOK_ALLOWED_NETWORKS: '127.0.0.0/8' });
    ({ gateway, page, complaints } = seen);
  });
  afterAll(() => seen?.close());
  const heading = (name: string | RegExp) => seen.heading(name);
  const press = (name: string) => seen.press(name);

  test('keeps the session out of the reach of scripts, and leads where the person wanted to go', async () => {
    await page.goto(`${gateway.url}/console/keys`);
    await page.getByLabel('E-mail address').fill(gateway.bootstrap.admin_email);
    await page.getByLabel('Password').fill('not the password');
    await press('Sign in');
    await expect.poll(() => page.getByRole('alert').textContent()).toMatch(/password/i);
    await seen.signIn();
    await heading('API keys').waitFor();
    expect(await seen.context.cookies()).toEqual([
      expect.objectContaining({ name: 'tallygate_session', httpOnly: true, sameSite: 'Strict' }),
    ]);
    expect(await page.evaluate('JSON.stringify({ ...localStorage }) + document.cookie')).not.toContain('tgs_');
    // Of the first question who is there, and of the wrong password.
    expect(complaints.splice(0)).toEqual(Array.from({ length: 2 }, () => expect.stringContaining('401')));
  });

  test('gets from nothing to a capped key and a receipt that is verified in the browser', async () => {
    await page.getByText('Test', { exact: true }).click();
    await press('Create a key');
    await page.getByLabel('Name').fill('first steps');
    await page.getByLabel('Monthly cap, USD').fill('0.5');
    await press('Create');
    await page.getByRole('link', { name: 'Try it in the playground' }).click();
    await heading('Playground').waitFor();
    await page.getByLabel('Model').fill('gpt-image-1');
    await press('Ask');
    await page.getByAltText('What the model made').waitFor();
    await page.getByLabel('Model').fill('gpt-4o-mini');
    await page.getByText('A picture, tools, one provider').click();
    await page.getByLabel('Tools, as JSON').fill('[{"type":"function","function":{"name":"get_weather","parameters":{"type":"object"}}}]');
    await press('Ask');
    await page.getByText(/^get_weather\(/).waitFor();
    await page.getByLabel('Tools, as JSON').fill('');
    await press('Ask');
    await page.getByText(/^get_weather\(/).waitFor({ state: 'detached' });
    await page.getByRole('link', { name: /^req_/ }).click();
    await heading('gpt-4o-mini').waitFor();
    await expect.poll(() => page.getByText(/entry \d+ of the log/).count()).toBe(1);
    await press('Verify');
    await page.getByText('Valid: checked in this browser.').waitFor();
    expect(await page.getByText('cost, rounded up once').count()).toBe(1);
    // A trace that is followed at once may not be written yet: it is asked for again.
    for (const complaint of complaints.splice(0)) expect(complaint).toContain('404');
  });

  test.each(PAGES_OF_LISTS)('%s is accessible and fits, light and dark, at a desk and on a phone', async (path) => {
    const title = PAGES[path];
    if (title === undefined) throw new Error(`The heading of ${path} is missing here`);
    await seen.goTo(path);
    await seen.settled(title);
    await seen.expectFits();
  });

  test('goes everywhere by the keyboard', async () => {
    await page.keyboard.press('Control+k');
    await page.getByRole('combobox').fill('price');
    await page.keyboard.press('Enter');
    await heading('Models and prices').waitFor();
  });

  test('names what it hits before it stops or revokes anything', async () => {
    await page.goto(`${gateway.url}/console/keys`);
    await page.getByRole('link', { name: 'first steps' }).click();
    await press('Revoke');
    expect(await page.getByRole('dialog').textContent()).toMatch(/Revoke first steps\?.*tg_test_.*cannot be undone/s);
    await press('Revoke the key');
    await expect.poll(() => page.getByText('revoked', { exact: true }).count()).toBe(1);
  });

  test('adds a webhook, shows what came back of its deliveries, sends one again, and deletes it by name', async () => {
    const received: string[] = [];
    const receiver = createServer((req, res) => {
      received.push(String(req.headers['webhook-id']));
      req.resume().on('end', () => res.writeHead(204).end());
    });
    await new Promise<void>((listening) => receiver.listen(0, '127.0.0.1', listening));
    onTestFinished(() => void receiver.close());
    const url = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/hook`;
    await page.goto(`${gateway.url}/console/webhooks`);
    await press('Add a webhook');
    await page.getByLabel('Address').fill(url);
    await page.getByLabel('For people').fill('finance');
    await press('Add');
    await page.getByText(/^whsec_/).waitFor();
    await press('Done');
    await page.getByRole('link', { name: url }).click();
    await press('Send a test event');
    const sent = page.getByRole('row').filter({ hasText: 'webhook.test' });
    await sent.getByText('delivered').waitFor();
    await sent.getByRole('button', { name: 'Send again' }).click();
    await expect.poll(() => received.length - new Set(received).size).toBe(1);
    await press('Delete');
    expect(await page.getByRole('dialog').textContent()).toContain(url);
    await press('Delete the webhook');
    await page.getByText('No webhooks yet').waitFor();
    // Its page may have looked for deliveries once more.
    for (const complaint of complaints.splice(0)) expect(complaint).toContain('404');
  });

  test('says who is in a project, and leaves to the directory whom it has put there', async () => {
    const { client, project } = await projectOfDirectory(gateway, 'ada@example.com', ['grace@example.com']);
    await page.goto(`${gateway.url}/console/team`);
    await page.getByRole('link', { name: project.name }).click();
    await seen.settled(project.name);
    const rowOf = (email: string) => page.getByRole('row').filter({ hasText: email });
    expect(await rowOf('ada@example.com').textContent()).toContain('a group of the directory');
    expect(await rowOf('ada@example.com').getByRole('button').count()).toBe(0);
    await press('Add');
    await page.getByLabel('Person').selectOption('grace@example.com');
    await press('Add the member');
    await rowOf('grace@example.com').getByRole('button', { name: 'Make admin' }).click();
    await rowOf('grace@example.com').getByRole('button', { name: 'Make member' }).waitFor();
    const roles = async () => (await client.projects.members(project.project_id)).data.map((one) => [one.email, one.project_role]);
    expect(await roles()).toContainEqual(['grace@example.com', 'admin']);
    await seen.expectFits();
    await rowOf('grace@example.com').getByRole('button', { name: 'Remove' }).click();
    await press('Remove from the project');
    await rowOf('grace@example.com').waitFor({ state: 'detached' });
    expect(await roles()).toEqual([['ada@example.com', 'member']]);
    expect(complaints).toEqual([]);
  });

  test('caps an end user where its spending is shown, and says what that would have done last month', async () => {
    const headers = { authorization: `Bearer ${gateway.bootstrap.test_api_key}`, 'content-type': 'application/json', 'x-end-user': 'ada' };
    const body = JSON.stringify({ model: 'gpt-4o-mini', messages: [{ role: 'user', content: 'Hello' }] });
    await fetch(`${gateway.url}/v1/chat/completions`, { method: 'POST', headers, body }).then((answer) => answer.text());
    await expect
      .poll(async () => {
        await page.goto(`${gateway.url}/console/end-users`);
        return page.getByText('ada', { exact: true }).or(page.getByText('No end users this month')).textContent();
      })
      .toBe('ada');
    await press('Set');
    await page.getByLabel('Cap, USD').fill('3');
    await page.getByText('Nothing was spent last month: it would have stopped nothing.').waitFor();
    await press('Save');
    await page.getByText('$3.00 a month').waitFor();
  });

  test('shows what a running request holds, and what it cost, without a reload', async () => {
    await page.goto(`${gateway.url}/console`);
    const held = page.getByLabel('Budgets of keys').getByRole('row').filter({ hasText: 'first test key' }).getByRole('cell').nth(2);
    await expect.poll(() => held.textContent()).toBe('$0.00');
    const request = new AbortController();
    const headers = {
      ...{ authorization: `Bearer ${gateway.bootstrap.test_api_key}`, 'content-type': 'application/json' },
      ...{ 'x-sandbox-fault': 'slow-first-byte;ms=60000', 'x-on-disconnect': 'cancel' },
    };
    const body = JSON.stringify({ model: 'gpt-4o-mini', messages: [{ role: 'user', content: 'Hello' }] });
    const asked = fetch(`${gateway.url}/v1/chat/completions`, { method: 'POST', headers, body, signal: request.signal }).catch(() => {});
    await expect.poll(() => held.textContent()).not.toBe('$0.00');
    request.abort();
    await asked;
    await expect.poll(() => held.textContent()).toBe('$0.00');
  });

  test('leaves no session behind once the person has signed out', async () => {
    await press('Sign out');
    await heading('Sign in to Tallygate').waitFor();
    expect(await seen.context.cookies()).toEqual([]);
    expect(complaints).toEqual([]);
  });
});
