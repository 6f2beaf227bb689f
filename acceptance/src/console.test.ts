import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { accessibilityFaults } from './accessibility.ts';
import { chromiumPath, openBrowser } from './browser.ts';
import { projectOfDirectory } from './directory-project.ts';
import { Gateway } from './gateway.ts';
import { openLedgerAudit } from './ledger-audit.ts';

const executable = chromiumPath();
if (!executable) process.stdout.write('Skipped: the console is looked at in a Chromium; name it in CHROMIUM.\n');

/** The rules of axe that look at colours. A colour scheme changes nothing else (`light-dark()` of CSS takes colours only). */
const OF_COLOURS = { rules: ['color-contrast', 'link-in-text-block'] };

const DESK = { width: 1280, height: 900 };
const PHONE = { width: 390, height: 844 };
const PAGES = {
  '/': 'Overview',
  '/requests': 'Requests',
  '/runs': 'Agent runs',
  '/usage': 'Usage',
  '/playground': 'Playground',
  '/keys': 'API keys',
  '/limits': 'Limits',
  '/end-users': 'Tags and end users',
  '/webhooks': 'Webhooks',
  '/team': 'Team',
  '/audit-log': 'Audit log',
  '/models': 'Models and prices',
  '/models/gpt-4o-mini': 'gpt-4o-mini',
  '/providers': 'Providers',
  '/log': 'Receipts log',
  '/people': 'People',
  '/client-requests': 'Client requests',
  '/emails': 'E-mails',
  '/events': 'Events',
  '/invites': 'Invitations',
  '/content': 'Content',
  '/billing': 'Plan and invoices',
  '/settings': 'Settings',
};

describe.skipIf(!executable)('the console, in a browser', () => {
  let gateway: Gateway;
  let browser: Browser;
  let context: BrowserContext;
  let page: Page;
  const complaints: string[] = [];

  beforeAll(async () => {
    gateway = await Gateway.start({ process: 'shared', env: { WEBHOOK_ALLOWED_NETWORKS: '127.0.0.0/8' } });
    browser = await openBrowser(executable ?? '');
    context = await browser.newContext({ viewport: DESK, colorScheme: 'light' });
    page = await context.newPage();
    page.on('pageerror', (error) => complaints.push(error.message));
    page.on('console', (message) => message.type() === 'error' && complaints.push(message.text()));
    page.on('request', (request) => {
      const { protocol, origin } = new URL(request.url());
      if (protocol.startsWith('http') && origin !== gateway.url) complaints.push(`asks ${request.url()}`);
    });
  });
  afterAll(async () => {
    await browser?.close();
    await gateway?.remove();
  });
  const heading = (name: string | RegExp) => page.getByRole('heading', { name, level: 1 });
  const press = (name: string) => page.getByRole('button', { name, exact: true }).click();

  /** The network is never idle: figures are pushed as long as a page is open. */
  async function settled(title: string): Promise<void> {
    await heading(title).waitFor();
    await expect.poll(() => page.getByText('Loading…').count()).toBe(0);
  }

  async function signIn(): Promise<void> {
    await page.getByLabel('E-mail address').fill(gateway.bootstrap.admin_email);
    await page.getByLabel('Password').fill(gateway.bootstrap.admin_password);
    await press('Sign in');
  }

  test('keeps the session out of the reach of scripts, and leads where the person wanted to go', async () => {
    await page.goto(`${gateway.url}/console/keys`);
    await page.getByLabel('E-mail address').fill(gateway.bootstrap.admin_email);
    await page.getByLabel('Password').fill('not the password');
    await press('Sign in');
    await expect.poll(() => page.getByRole('alert').textContent()).toMatch(/password/i);
    await signIn();
    await heading('API keys').waitFor();
    expect(await context.cookies()).toEqual([expect.objectContaining({ name: 'tallygate_session', httpOnly: true, sameSite: 'Strict' })]);
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

  /** The page as it is now: for everybody, on every screen. */
  async function expectFits(): Promise<void> {
    for (const [viewport, colorScheme] of [
      [DESK, 'light'],
      [DESK, 'dark'],
      [PHONE, 'light'],
      [PHONE, 'dark'],
    ] as const) {
      await page.setViewportSize(viewport);
      await page.emulateMedia({ colorScheme });
      const faults = await accessibilityFaults(page, colorScheme === 'dark' ? OF_COLOURS : {});
      expect([viewport.width, colorScheme, ...faults]).toEqual([viewport.width, colorScheme]);
      expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true);
    }
    await page.setViewportSize(DESK);
    expect(complaints).toEqual([]);
  }

  test.each(Object.entries(PAGES))('%s is accessible and fits, light and dark, at a desk and on a phone', async (path, title) => {
    await page.goto(`${gateway.url}/console${path === '/' ? '' : path}`);
    await settled(title);
    await expectFits();
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
    await settled(project.name);
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
    await expectFits();
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

  /** A member of the administrator's account who has that role in it, signed in, in a browser of their own. */
  async function memberWith(role: string, email = `${role}@example.com`): Promise<Page> {
    const password = 'seven grey herons at dawn';
    const post = (path: string, body: object, headers = {}) =>
      fetch(gateway.url + path, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...headers },
        body: JSON.stringify(body),
      });
    await post('/v1/users', { email, password }, { 'x-internal-secret': gateway.bootstrap.internal_secret });
    await using database = await openLedgerAudit(gateway);
    await database.moveUser(email, { to: gateway.bootstrap.admin_email, role });
    const own = await browser.newContext({ viewport: DESK });
    onTestFinished(() => own.close());
    const theirs = await own.newPage();
    await theirs.goto(`${gateway.url}/console`);
    await theirs.getByLabel('E-mail address').fill(email);
    await theirs.getByLabel('Password').fill(password);
    await theirs.getByRole('button', { name: 'Sign in', exact: true }).click();
    await theirs.getByRole('heading', { name: 'Overview', level: 1 }).waitFor();
    return theirs;
  }

  test('lets a developer who is an admin of a project say who is in it, and no other', async () => {
    const { client, project } = await projectOfDirectory(gateway, 'joan@example.com', ['mary@example.com']);
    const theirs = await memberWith('developer', 'lead@example.com');
    const lead = (await client.members.list()).data.find(({ email }) => email === 'lead@example.com');
    const role = (project_role: 'admin' | 'member') => client.projects.putMember(project.project_id, lead?.user_id ?? '', { project_role });
    const button = (name: string | RegExp) => theirs.getByRole('button', { name, exact: true });
    await role('admin');
    await theirs.goto(`${gateway.url}/console/projects/${project.project_id}`);
    await button('Add').click();
    await theirs.getByLabel('Person').selectOption('mary@example.com');
    await button('Add the member').click();
    await theirs.getByRole('row').filter({ hasText: 'mary@example.com' }).waitFor();
    await role('member');
    await theirs.reload();
    await button('Leave').waitFor();
    expect(await button(/^(Add|Make .*|Remove)$/).count()).toBe(0);
  });

  /** Opens what every button of the page opens, and closes it again: what is sent from there, the form says by its own button. */
  async function pressEach(theirs: Page): Promise<string[]> {
    const buttons = theirs.locator('main button:visible:not([type="submit"]):not(:disabled)');
    const names: string[] = [];
    for (let index = 0; index < (await buttons.count()); index += 1) {
      names.push((await buttons.nth(index).textContent()) ?? '');
      await buttons.nth(index).click();
      if (await theirs.getByRole('dialog').count()) await theirs.keyboard.press('Escape');
    }
    return names;
  }

  /** Of each role: pages that others do not have, and what it may change. */
  const ROLES = {
    owner: {
      pages: ['Audit log', 'Playground'],
      may: ['Create a key', 'Set a limit', 'Invite', 'Add a webhook', 'Top up'],
    },
    admin: {
      pages: ['Audit log', 'Playground'],
      may: ['Create a key', 'Set a limit', 'Invite', 'Add a webhook', 'Top up'],
    },
    billing: { pages: ['Audit log'], may: ['Top up'] },
    developer: { pages: ['Playground'], may: ['Create a key'] },
    viewer: { pages: [], may: [] },
  } as const;
  const CHANGES = ['Create a key', 'Set a limit', 'Invite', 'Add a webhook', 'Top up'];
  const PAGES_OF_SOME = ['Audit log', 'Playground', 'Providers', 'People'];

  test.each(Object.entries(ROLES))(
    '%s sees the pages and buttons of the role, and none that the API refuses',
    async (role, { pages, may }) => {
      const theirs = await memberWith(role);
      const refused: string[] = [];
      theirs.on('response', (answer) => answer.status() === 403 && refused.push(`${answer.request().method()} ${answer.url()}`));
      const links = theirs.getByRole('navigation', { name: 'Pages' }).getByRole('link');
      const names = await links.allTextContents();
      const pressed: string[] = [];
      for (const name of names) {
        await theirs.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name, exact: true }).click();
        await theirs.getByRole('heading', { level: 1, name, exact: true }).waitFor();
        await expect.poll(() => theirs.getByText('Loading…').count()).toBe(0);
        pressed.push(...(await pressEach(theirs)));
      }
      expect(refused).toEqual([]);
      expect(PAGES_OF_SOME.filter((name) => names.includes(name)).toSorted()).toEqual([...pages].toSorted());
      expect(CHANGES.filter((name) => pressed.includes(name))).toEqual([...may]);
    },
  );

  test('leaves no session behind once the person has signed out', async () => {
    await press('Sign out');
    await heading('Sign in to Tallygate').waitFor();
    expect(await context.cookies()).toEqual([]);
    expect(complaints).toEqual([]);
  });
});
