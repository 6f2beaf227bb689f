import type { Browser, BrowserContext, CDPSession, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { accessibilityFaults } from './accessibility.ts';
import { chromiumPath, openBrowser } from './browser.ts';
import { Gateway } from './gateway.ts';

const executable = chromiumPath();
if (!executable) process.stdout.write('Skipped: passkeys are tried in a Chromium; name it in CHROMIUM.\n');

describe.skipIf(!executable)('passkeys, by the authenticator of a browser', () => {
  let gateway: Gateway;
  let browser: Browser;
  let context: BrowserContext;
  let page: Page;
  let devices: CDPSession;
  let authenticatorId: string;
  let url: string;

  beforeAll(async () => {
    gateway = await Gateway.start({ process: 'shared' });
    // Passkeys are made for names: of this machine, localhost.
    url = gateway.url.replace('127.0.0.1', 'localhost');
    browser = await openBrowser(executable ?? '');
    context = await browser.newContext();
    page = await context.newPage();
    devices = await context.newCDPSession(page);
    await devices.send('WebAuthn.enable');
    const options = { protocol: 'ctap2', transport: 'internal', hasResidentKey: true, hasUserVerification: true } as const;
    ({ authenticatorId } = await devices.send('WebAuthn.addVirtualAuthenticator', {
      options: { ...options, isUserVerified: true, automaticPresenceSimulation: true },
    }));
    // This authenticator takes every offer beside the e-mail address at once: pages offer none but where a test asks for it.
    await page.addInitScript(
      `if (!location.search.includes('offer')) PublicKeyCredential.isConditionalMediationAvailable = async () => false;`,
    );
  });
  afterAll(async () => {
    await browser?.close();
    await gateway?.remove();
  });

  const press = (name: string) => page.getByRole('button', { name, exact: true }).click();
  const heading = (name: string) => page.getByRole('heading', { name, level: 1 });
  const isAccessible = async () => expect(await accessibilityFaults(page)).toEqual([]);

  async function signInByPassword(): Promise<void> {
    await page.goto(`${url}/console/settings`);
    await page.getByLabel('E-mail address').fill(gateway.bootstrap.admin_email);
    await page.getByLabel('Password').fill(gateway.bootstrap.admin_password);
    await press('Sign in');
    await heading('Settings').waitFor();
  }

  const signOut = async () => {
    await context.clearCookies();
    await page.goto(`${url}/console/settings`);
    await heading('Sign in to Tallygate').waitFor();
  };

  test('one is added in the settings, named, and lists when it was used', async () => {
    await signInByPassword();
    await press('Add a passkey');
    await page.getByRole('dialog').getByLabel('Name').fill('Laptop');
    await isAccessible();
    await press('Add');
    await page.getByRole('region', { name: 'Passkeys' }).getByText('never').waitFor();
    await isAccessible();
    await press('Rename Laptop');
    await page.getByRole('dialog').getByLabel('Name').fill('Work laptop');
    await press('Rename');
    await page.getByRole('cell', { name: 'Work laptop', exact: true }).waitFor();
  });

  test('it signs in alone, to where the person wanted to go', async () => {
    await signOut();
    await isAccessible();
    await press('Sign in with a passkey');
    await heading('Settings').waitFor();
    expect(await page.getByRole('region', { name: 'Passkeys' }).getByText('never').count()).toBe(0);
  });

  test('it does not sign in while its user is not verified', async () => {
    await signOut();
    await devices.send('WebAuthn.setUserVerified', { authenticatorId, isUserVerified: false });
    await press('Sign in with a passkey');
    await page.getByRole('alert').getByText('No passkey was used').waitFor();
    await devices.send('WebAuthn.setUserVerified', { authenticatorId, isUserVerified: true });
    await press('Sign in with a passkey');
    await heading('Settings').waitFor();
  });

  test('it signs in where the browser offers it beside the e-mail address', async () => {
    await signOut();
    await page.goto(`${url}/console/sign-in?to=/settings&offer=1`);
    await heading('Settings').waitFor();
  });

  test('once it is removed, it does not sign in any more', async () => {
    await press('Remove Work laptop');
    await page.getByRole('dialog').getByRole('button', { name: 'Remove', exact: true }).click();
    await page.getByRole('cell', { name: 'Work laptop', exact: true }).waitFor({ state: 'detached' });
    await signOut();
    await press('Sign in with a passkey');
    await page.getByRole('alert').getByText('The passkey was not accepted').waitFor();
  });

  test('at the address of the machine, the console says where passkeys work', async () => {
    await page.goto(`${gateway.url}/console/sign-in?to=/settings`);
    await page.getByLabel('E-mail address').fill(gateway.bootstrap.admin_email);
    await page.getByLabel('Password').fill(gateway.bootstrap.admin_password);
    await press('Sign in');
    await page.getByRole('link', { name: new URL(url).host }).waitFor();
    expect(await page.getByRole('button', { name: 'Add a passkey' }).count()).toBe(0);
  });
});
