import { Tallygate } from '@tallygate/sdk';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { chromiumPath } from './browser.ts';
import { ConsoleInBrowser } from './console-in-browser.ts';
import { projectOfDirectory } from './directory-project.ts';
import type { Gateway } from './gateway.ts';

const executable = chromiumPath();

/** Of each role: pages that others do not have, and what it may change. */
const ROLES = {
  owner: {
    inAccount: 'owner',
    pages: ['Audit log', 'Playground'],
    may: ['Create a key', 'Set a limit', 'Invite', 'Add a webhook', 'Top up', 'Rotate', 'Add', 'Send a test event', 'Stop the run'],
  },
  admin: {
    inAccount: 'admin',
    pages: ['Audit log', 'Playground'],
    may: ['Create a key', 'Set a limit', 'Invite', 'Add a webhook', 'Top up', 'Rotate', 'Add', 'Send a test event', 'Stop the run'],
  },
  billing: { inAccount: 'billing', pages: ['Audit log'], may: ['Top up'] },
  developer: { inAccount: 'developer', pages: ['Playground'], may: ['Create a key'] },
  viewer: { inAccount: 'viewer', pages: [], may: [] },
  marketing: {
    inService: 'marketing',
    pages: ['Audit log', 'Playground', 'People', 'Mail templates'],
    may: ['Create a key', 'Set a limit', 'Invite', 'Add a webhook', 'Top up', 'Write a template', 'Write to people', 'Erase'],
  },
  administrator: {
    inService: 'admin',
    pages: ['Audit log', 'Playground', 'Providers', 'People', 'Mail templates', 'Invitations'],
    may: [
      ...['Create a key', 'Set a limit', 'Invite', 'Add a webhook', 'Top up'],
      ...['Set a price', 'Plan an event', 'Write a template', 'Write to people', 'Erase'],
    ],
  },
} as const;
type Role = (typeof ROLES)[keyof typeof ROLES] & { readonly inAccount?: string; readonly inService?: 'marketing' | 'admin' };
const CHANGES = [...new Set(Object.values(ROLES).flatMap(({ may }) => [...may]))];
const PAGES_OF_SOME = [...new Set(Object.values(ROLES).flatMap(({ pages }) => [...pages]))];

describe.skipIf(!executable)('roles in the console', () => {
  let seen: ConsoleInBrowser;
  let gateway: Gateway;
  /** Addresses of one of each thing of the administrator's account, and whether every role may see it. */
  let things: readonly string[];
  let marketingThings: readonly string[];

  beforeAll(async () => {
    seen = await ConsoleInBrowser.open(executable, { WEBHOOK_ALLOWED_NETWORKS: '127.0.0.0/8' });
    ({ gateway } = seen);
    ({ things, marketingThings } = await oneOfEach(gateway));
  });
  afterAll(() => seen?.close());

  test('lets a developer who is an admin of a project say who is in it, and no other', async () => {
    const { client, project } = await projectOfDirectory(gateway, 'joan@example.com', ['mary@example.com']);
    const theirs = await seen.somebody({ email: 'lead@example.com', inAccount: 'developer' });
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
      // One that was pressed before may have taken it away.
      await buttons
        .nth(index)
        .click({ timeout: 2_000 })
        .catch(() => undefined);
      if (await theirs.getByRole('dialog').count()) await theirs.keyboard.press('Escape');
    }
    return names;
  }

  async function settled(theirs: Page): Promise<void> {
    await theirs.getByRole('heading', { level: 1 }).waitFor();
    await theirs.getByText('Loading…').first().waitFor({ state: 'detached' });
  }

  test.each(Object.entries<Role>(ROLES))(
    '%s sees the pages and buttons of the role, and none that the API refuses',
    async (name, { inAccount, inService, pages, may }) => {
      const theirs = await seen.somebody({
        email: `${name}@example.com`,
        ...(inAccount && { inAccount }),
        ...(inService && { inService }),
      });
      const refused: string[] = [];
      theirs.on('response', (answer) => answer.status() === 403 && refused.push(`${answer.request().method()} ${answer.url()}`));
      const menu = theirs.getByRole('navigation', { name: 'Pages' });
      const names = await menu.getByRole('link').allTextContents();
      const pressed: string[] = [];
      const hidden: (string | undefined)[] = [];
      for (const title of names) {
        await menu.getByRole('link', { name: title, exact: true }).click();
        await theirs.getByRole('heading', { level: 1, name: title, exact: true }).waitFor();
        await settled(theirs);
        pressed.push(...(await pressEach(theirs)));
      }
      for (const path of [...(inAccount ? things : []), ...(inService ? marketingThings : [])]) {
        await theirs.evaluate(`document.querySelector('h1').className = 'before'; history.pushState(null, '', '/console${path}')`);
        await theirs.locator('h1:not(.before)').waitFor();
        await settled(theirs);
        if (await theirs.getByRole('heading', { name: 'Not found' }).count()) hidden.push(path.split('/')[1]);
        pressed.push(...(await pressEach(theirs)));
      }
      expect(refused).toEqual([]);
      // Developers see what is theirs.
      expect(hidden).toEqual(name === 'developer' ? ['keys', 'projects', 'runs', 'requests'] : []);
      expect(PAGES_OF_SOME.filter((title) => names.includes(title)).toSorted()).toEqual([...pages].toSorted());
      expect(CHANGES.filter((change) => pressed.includes(change)).toSorted()).toEqual([...may].toSorted());
    },
  );
});

/** Makes one of each thing that has a page by itself. @returns the addresses of these pages: of the account, and of the service */
async function oneOfEach(gateway: Gateway): Promise<{ readonly things: readonly string[]; readonly marketingThings: readonly string[] }> {
  const { admin_email: email, admin_password: password, test_api_key: key } = gateway.bootstrap;
  const login = await new Tallygate({ apiKey: null, baseUrl: gateway.url }).identity.login({ email, password });
  if (!('session' in login) || !login.session) throw new Error('The login answer carries no session');
  const admin = new Tallygate({ apiKey: login.session.token, baseUrl: gateway.url });
  const requestId = await settledRequest(gateway, key, admin);
  const [apiKey] = await admin.keys.list();
  const project = await admin.projects.create({ name: 'search' });
  const webhook = await admin.webhooks.create({ url: 'http://127.0.0.1:9/hook' });
  await admin.people.importAll(new Blob(['email,consent\nada@example.com,given']));
  const [person] = (await admin.people.list({ q: 'ada@example.com' })).data;
  const mail = await admin.emails.send({ to: { filter: { q: 'ada' } }, subject: 'News', text: 'Hello' });
  return {
    things: [
      ...[`/keys/${apiKey?.key_id}`, `/projects/${project.project_id}`, `/webhooks/${webhook.webhook_id}`],
      ...['/models/gpt-4o-mini', '/runs/nightly', `/requests/${requestId}`],
    ],
    marketingThings: ['/people/import', `/people/${person?.person_id}`, `/emails/${mail.email?.email_id}`, '/models/gpt-4o-mini'],
  };
}

async function settledRequest(gateway: Gateway, key: string, admin: Tallygate): Promise<string> {
  const answer = await fetch(`${gateway.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json', 'x-agent-run-id': 'nightly' },
    body: JSON.stringify({ model: 'gpt-4o-mini', messages: [{ role: 'user', content: 'Hello' }] }),
  });
  await answer.text();
  await vi.waitFor(async () => expect((await admin.receipts.list({ livemode: false })).data).toHaveLength(1), { timeout: 60_000 });
  return answer.headers.get('x-request-id') ?? '';
}
