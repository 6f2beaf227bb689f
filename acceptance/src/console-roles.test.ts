import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { chromiumPath } from './browser.ts';
import { ConsoleInBrowser } from './console-in-browser.ts';
import { oneOfEach, PAGES_OF_ONE, PAGES_OF_ROUTER, showBill } from './console-pages.ts';
import { projectOfDirectory } from './directory-project.ts';
import type { Gateway } from './gateway.ts';

const executable = chromiumPath();

/** Of owners and admins, everywhere. */
const OF_MANAGERS = ['Create a key', 'Create a management key', 'Set a limit', 'Invite', 'Add a webhook', 'Top up'] as const;

/** Of each role: pages that others do not have, and what it may change. */
const ROLES = {
  owner: {
    inAccount: 'owner',
    pages: ['Audit log', 'Playground'],
    may: [...OF_MANAGERS, 'Rotate', 'Change', 'Rename', 'Add', 'Send a test event', 'Stop the run'],
  },
  admin: {
    inAccount: 'admin',
    pages: ['Audit log', 'Playground'],
    may: [...OF_MANAGERS, 'Rotate', 'Change', 'Rename', 'Add', 'Send a test event', 'Stop the run'],
  },
  billing: { inAccount: 'billing', pages: ['Audit log'], may: ['Top up'] },
  developer: { inAccount: 'developer', pages: ['Playground'], may: ['Create a key'] },
  viewer: { inAccount: 'viewer', pages: [], may: [] },
  marketing: {
    inService: 'marketing',
    pages: ['Audit log', 'Playground', 'People', 'Mail templates'],
    may: [...OF_MANAGERS, 'Write a template', 'Write to people', 'Erase'],
  },
  administrator: {
    inService: 'admin',
    pages: ['Audit log', 'Playground', 'Providers', 'People', 'Mail templates', 'Invitations'],
    may: [
      ...[...OF_MANAGERS, 'Set a price', 'Plan an event', 'Write a template', 'Write to people', 'Erase'],
      ...['Give a plan', 'Reserve capacity', 'Refund a request', 'Return a payment'],
    ],
  },
} as const;
type Role = (typeof ROLES)[keyof typeof ROLES] & { readonly inAccount?: string; readonly inService?: 'marketing' | 'admin' };
const CHANGES = [...new Set(Object.values(ROLES).flatMap(({ may }) => [...may]))];
const PAGES_OF_SOME = [...new Set(Object.values(ROLES).flatMap(({ pages }) => [...pages]))];

describe.skipIf(!executable)('roles in the console', () => {
  let seen: ConsoleInBrowser;
  let gateway: Gateway;
  /** Pages that somebody was on. */
  const walked = new Set<string>();
  /** One of each thing of the administrator's account, by the path of its page. */
  let things: Awaited<ReturnType<typeof oneOfEach>>;

  beforeAll(async () => {
    seen = await ConsoleInBrowser.open(executable, { WEBHOOK_ALLOWED_NETWORKS: '127.0.0.0/8' });
    ({ gateway } = seen);
    things = await oneOfEach(gateway);
    await showBill(seen.page);
    await seen.signedInAt('/', 'Overview');
  });
  afterAll(() => seen?.close());

  test.each(PAGES_OF_ONE)('%s is accessible and fits, light and dark, at a desk and on a phone', async (path) => {
    const thing = things[path];
    if (!thing) throw new Error(`No page is opened for ${path}: console-pages.ts has to make one`);
    await seen.goTo(thing.address);
    await seen.settled(thing.title);
    await seen.expectFits();
  });

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
        walked.add(new URL(theirs.url()).pathname.replace(/^\/console\/?/, '/'));
        pressed.push(...(await pressEach(theirs)));
      }
      await showBill(theirs);
      const readers = readersOf({ inAccount, inService });
      for (const path of [
        ...PAGES_OF_ONE.filter((one) => readers.includes(things[one]?.of ?? 'all')),
        ...(inService ? ['/people/import'] : []),
      ]) {
        const address = things[path]?.address ?? path;
        walked.add(path);
        await theirs.evaluate(`document.querySelector('h1').className = 'before'; history.pushState(null, '', '/console${address}')`);
        await theirs.locator('h1:not(.before)').waitFor();
        await settled(theirs);
        if (await theirs.getByRole('heading', { name: 'Not found' }).count()) hidden.push(path.split('/')[1]);
        pressed.push(...(await pressEach(theirs)));
      }
      expect(refused).toEqual([]);
      // Developers see what is theirs.
      expect(hidden).toEqual(name === 'developer' ? ['keys', 'projects', 'requests', 'runs'] : []);
      expect(PAGES_OF_SOME.filter((title) => names.includes(title)).toSorted()).toEqual([...pages].toSorted());
      expect(CHANGES.filter((change) => pressed.includes(change)).toSorted()).toEqual([...may].toSorted());
    },
  );

  test('no page of the router is left out of the walk', () => {
    expect([...walked].toSorted()).toEqual(PAGES_OF_ROUTER);
  });
});

const USERS_OF_MODELS = ['owner', 'admin', 'developer'];

/** What of `oneOfEach` a role reads. */
function readersOf({ inAccount, inService }: { inAccount: string | undefined; inService: string | undefined }): readonly string[] {
  return [
    'all',
    ...(inAccount === undefined ? [] : ['account']),
    ...(USERS_OF_MODELS.includes(inAccount ?? '') ? ['users of models'] : []),
    ...(inService === undefined ? [] : ['service']),
    ...(inService === 'admin' ? ['operators'] : []),
  ];
}
