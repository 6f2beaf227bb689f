import { existsSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { chromiumPath, openBrowser } from './browser.ts';
import { Gateway } from './gateway.ts';
import { Terminal } from './terminal.ts';

const executable = chromiumPath();
const hasTerminal = process.platform === 'linux' && existsSync('/usr/bin/script');
if (!hasTerminal) process.stdout.write('Skipped: the newcomer needs a terminal from `script` of util-linux.\n');

describe.skipIf(!hasTerminal)('a newcomer at a real terminal', () => {
  let gateway: Gateway;
  let terminal: Terminal;
  beforeAll(async () => {
    gateway = await Gateway.start({ process: 'shared' });
    terminal = new Terminal({ TALLYGATE_BASE_URL: gateway.url });
  });
  afterAll(async () => {
    terminal?.remove();
    await gateway?.remove();
  });

  /** The steps of a user on the page, in a browser where the machine has one. */
  async function approve(code: string): Promise<void> {
    const { admin_email: email, admin_password: password } = gateway.bootstrap;
    if (executable === undefined) {
      const post = (path: string, json: object, authorization = '') =>
        fetch(`${gateway.url}${path}`, {
          method: 'POST',
          headers: { 'content-type': 'application/json', ...(authorization && { authorization }) },
          body: JSON.stringify(json),
        });
      const { session } = (await (await post('/v1/users/login', { email, password })).json()) as { session: { token: string } };
      await post('/v1/users/me/device-logins/approve', { user_code: code }, `Bearer ${session.token}`);
      return;
    }
    const browser = await openBrowser(executable);
    try {
      const page = await browser.newPage();
      const faults: string[] = [];
      page.on('pageerror', ({ message }) => faults.push(message));
      page.on('console', (said) => said.type() === 'error' && faults.push(said.text()));
      await page.goto(`${gateway.url}/device?user_code=${code}`);
      // Removed from the address bar, so that it is in no history.
      expect(page.url()).toBe(`${gateway.url}/device`);
      await page.getByLabel('E-mail address').fill(email);
      await page.getByLabel('Password').fill(password);
      await page.getByRole('button', { name: 'Continue' }).click();
      await page.getByText('Approve only what you have started yourself').waitFor();
      const shown = await page.locator('#question').textContent();
      for (const told of [code, 'tallygate on ', '127.0.0.1', email, 'billing:write']) expect(shown).toContain(told);
      await page.getByRole('button', { name: 'Approve' }).click();
      await page.getByText('Approved.').waitFor();
      expect(faults).toEqual([]);
    } finally {
      await browser.close();
    }
  }

  // One person's first quarter of an hour: each step needs the one before.
  test('logs in by browser, is examined, makes a key, asks, watches along and sees what it cost', async () => {
    let approved: Promise<void> | undefined;
    const login = await terminal.sit(['login', '--no-browser'], (screen) => {
      const [, code] = /\n {2}([A-Z]{4}-[A-Z]{4})\r\n/.exec(screen) ?? [];
      if (code) approved ??= approve(code);
    });
    await approved;
    expect(login).toMatchObject({
      exitCode: 0,
      screen: expect.stringContaining(`Logged in to ${gateway.url} as ${gateway.bootstrap.admin_email}.`),
    });

    const typo = await terminal.sit(['kyes', 'list']);
    expect(typo).toMatchObject({ exitCode: 2, screen: expect.stringContaining('(Did you mean keys?)') });

    const key = await terminal.must(['keys', 'create', '--name', 'laptop', '--test', '--cap', '5', '--scopes', 'inference,account:read']);
    const withKey = { TALLYGATE_API_KEY: key };

    const watching = terminal.start(['receipts', 'follow', '--test', '--key', 'laptop', '--json', 'model,outcome,livemode']);
    await watching.said('stderr', 'Listening');
    const asked = await terminal.sit(['chat', 'Say hello.', '--max-tokens', '50'], undefined, withKey);
    expect(asked).toMatchObject({ exitCode: 0, screen: expect.stringMatching(/cost 0\.0\d+ USD, receipt [0-9a-f-]{36}/) });
    await watching.said('stdout', '\n');
    watching.interrupt();
    expect(await watching.ended).toMatchObject({
      exitCode: 130,
      stdout: '{"model":"gpt-4o-mini","outcome":"completed","livemode":false}\n',
    });

    const doctor = await terminal.sit(['doctor'], undefined, withKey);
    for (const line of [
      'ok    clock',
      'ok    credential  TALLYGATE_API_KEY, of ',
      'ok    budgets',
      'ok    request     gpt-4o-mini answered',
      'ok    receipt',
    ])
      expect(doctor.screen).toContain(line);
    expect(doctor.exitCode, doctor.screen).toBe(0);

    expect((await terminal.sit(['usage', '--test', '--by', 'model'])).screen).toMatch(/gpt-4o-mini .+█{8,24}\r\n/);
    expect((await terminal.sit(['budgets', 'show'])).screen).toMatch(/laptop .+░\r\n/);
    expect((await terminal.sit(['logout'])).screen).toBe('Logged out.\r\n');
  });
});
