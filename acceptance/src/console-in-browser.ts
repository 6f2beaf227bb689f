import type { Browser, BrowserContext, Page } from 'playwright-core';
import { expect, onTestFinished } from 'vitest';
import { accessibilityFaults } from './accessibility.ts';
import { openBrowser } from './browser.ts';
import { Gateway } from './gateway.ts';
import { openLedgerAudit } from './ledger-audit.ts';

/** The rules of axe that look at colours. A colour scheme changes nothing else (`light-dark()` of CSS takes colours only). */
const OF_COLOURS = { rules: ['color-contrast', 'link-in-text-block'] };
const DESK = { width: 1280, height: 900 };
const PHONE = { width: 390, height: 844 };
/** Of the page and its dialogs: what is cut off at the right. */
const WIDER_THAN_ITS_PLACE = `[document.documentElement, ...document.querySelectorAll('dialog')]
  .filter(({ scrollWidth, clientWidth }) => scrollWidth > clientWidth).map(({ tagName }) => tagName)`;
const PASSWORD = 'seven grey herons at dawn';

interface Role {
  /** In the account of the administrator. */
  readonly inAccount?: string;
  /** In the service: `member` if left out. */
  readonly inService?: 'member' | 'marketing' | 'admin';
  readonly email: string;
}

/** The console of a gateway of its own, in a page of a Chromium. */
export class ConsoleInBrowser {
  readonly gateway: Gateway;
  readonly context: BrowserContext;
  readonly page: Page;
  /** What the page has complained of since somebody looked: errors, and requests to other origins. */
  readonly complaints: string[] = [];
  readonly #browser: Browser;

  private constructor(gateway: Gateway, browser: Browser, context: BrowserContext, page: Page) {
    this.gateway = gateway;
    this.#browser = browser;
    this.context = context;
    this.page = page;
    page.on('pageerror', (error) => this.complaints.push(error.message));
    page.on('console', (message) => message.type() === 'error' && this.complaints.push(message.text()));
    page.on('request', (request) => {
      const { protocol, origin } = new URL(request.url());
      if (protocol.startsWith('http') && origin !== gateway.url) this.complaints.push(`asks ${request.url()}`);
    });
  }

  static async open(executable: string | undefined, env: Readonly<Record<string, string>> = {}): Promise<ConsoleInBrowser> {
    const gateway = await Gateway.start({ process: 'shared', env });
    const browser = await openBrowser(executable ?? '');
    const context = await browser.newContext({ viewport: DESK, colorScheme: 'light' });
    return new ConsoleInBrowser(gateway, browser, context, await context.newPage());
  }

  async close(): Promise<void> {
    await this.#browser.close();
    await this.gateway.remove();
  }

  readonly heading = (name: string | RegExp) => this.page.getByRole('heading', { name, level: 1 });
  readonly press = (name: string) => this.page.getByRole('button', { name, exact: true }).click();

  /** The network is never idle: figures are pushed as long as a page is open. */
  async settled(title: string): Promise<void> {
    await this.heading(title).waitFor();
    await this.page.getByText('Loading…').first().waitFor({ state: 'detached' });
  }

  async goTo(path: string): Promise<void> {
    await this.page.goto(`${this.gateway.url}/console${path === '/' ? '' : path}`);
  }

  async signIn(): Promise<void> {
    const { admin_email: email, admin_password: password } = this.gateway.bootstrap;
    await fillIn(this.page, email, password);
  }

  /** Opens a page as the administrator. */
  async signedInAt(path: string, title: string): Promise<void> {
    await this.goTo(path);
    await this.signIn();
    await this.settled(title);
    // Of the first question who is there.
    this.complaints.length = 0;
  }

  /** The page as it is now: for everybody, on every screen. */
  async expectFits(): Promise<void> {
    for (const [viewport, colorScheme] of [
      [DESK, 'light'],
      [DESK, 'dark'],
      [PHONE, 'light'],
      [PHONE, 'dark'],
    ] as const) {
      await this.page.setViewportSize(viewport);
      await this.page.emulateMedia({ colorScheme });
      const faults = await accessibilityFaults(this.page, colorScheme === 'dark' ? OF_COLOURS : {});
      expect([viewport.width, colorScheme, ...faults]).toEqual([viewport.width, colorScheme]);
      expect(await this.page.evaluate(WIDER_THAN_ITS_PLACE)).toEqual([]);
    }
    await this.page.setViewportSize(DESK);
    expect(this.complaints).toEqual([]);
  }

  /** Somebody with these roles, signed in, in a browser of their own. */
  async somebody({ email, inAccount, inService = 'member' }: Role): Promise<Page> {
    const { bootstrap, url } = this.gateway;
    await fetch(`${url}/v1/users`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-internal-secret': bootstrap.internal_secret },
      body: JSON.stringify({ email, password: PASSWORD }),
    });
    await using database = await openLedgerAudit(this.gateway);
    if (inAccount !== undefined) await database.moveUser(email, { to: bootstrap.admin_email, role: inAccount });
    await database.setRole(email, inService);
    const own = await this.#browser.newContext({ viewport: DESK });
    onTestFinished(() => own.close());
    const page = await own.newPage();
    await page.goto(`${url}/console`);
    await fillIn(page, email, PASSWORD);
    await page.getByRole('heading', { name: 'Overview', level: 1 }).waitFor();
    return page;
  }
}

async function fillIn(page: Page, email: string, password: string): Promise<void> {
  await page.getByLabel('E-mail address').fill(email);
  await page.getByLabel('Password').fill(password);
  await page.getByRole('button', { name: 'Sign in', exact: true }).click();
}
