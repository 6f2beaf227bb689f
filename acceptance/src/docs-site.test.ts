import { existsSync, globSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import * as z from 'zod';
import { accessibilityFaults } from './accessibility.ts';
import { chromiumPath, openBrowser } from './browser.ts';
import { Gateway } from './gateway.ts';

const SITE = fileURLToPath(new URL('../../docs/site/dist', import.meta.url));

const VECTORS = new URL('../../packages/receipts/vectors/', import.meta.url);
const KEYS = readFileSync(new URL('keys.json', VECTORS), 'utf8');
/** An invoice, and the receipts that it counts. */
const BILL: { invoice: unknown; exports: string[][] } = JSON.parse(
  readFileSync(new URL('invoices/quota-and-balance.json', VECTORS), 'utf8'),
);

const executable = chromiumPath();
const isBuilt = existsSync(join(SITE, 'index.html'));
if (!executable) process.stdout.write('Skipped: the docs site is looked at in a Chromium; name it in CHROMIUM.\n');
if (!isBuilt) process.stdout.write('Skipped: the docs site is not built here; `npm run test:docs` builds and tests it.\n');

/** One of each kind. */
const PAGES = {
  home: '/docs/',
  'first minute': '/docs/start/terminal/',
  guide: '/docs/guides/keys/',
  concept: '/docs/concepts/receipts/',
  operation: '/docs/reference/inference/create-chat-completion/',
  error: '/docs/errors/rate_limited/',
  models: '/docs/models/',
  verifier: '/docs/verify/',
};
const DESK = { width: 1360, height: 900 };
const PHONE = { width: 390, height: 844 };

describe.skipIf(!isBuilt)('a link of the docs site', () => {
  it('leads to a page, and to a place on it, that there is', () => {
    const pages = new Map(globSync('**/*.html', { cwd: SITE }).map((path) => [path, readFileSync(join(SITE, path), 'utf8')]));
    const anchors = new Map([...pages].map(([path, html]) => [path, new Set(matches(html, /\sid="([^"]+)"/g))]));
    const dead = [...pages].flatMap(([from, html]) =>
      matches(html, /<a[^>]*\shref="([^"]+)"/g)
        .filter((href) => /^(?:[#.]|\/docs)/.test(href))
        .filter((href) => {
          const [path = '', anchor] = href.split('#');
          const target =
            path === '' ? from : pageAt(path.startsWith('/docs') ? path.slice('/docs'.length) : join('/', dirname(from), path));
          return !pages.has(target) || (anchor !== undefined && anchor !== '' && !anchors.get(target)?.has(decodeURIComponent(anchor)));
        })
        .map((href) => `${from}: ${href}`),
    );
    expect(pages.size).toBeGreaterThan(200);
    expect(dead).toEqual([]);
  });
});

describe.skipIf(!executable || !isBuilt)('the docs site, as the gateway serves it', () => {
  let gateway: Gateway;
  let browser: Browser;

  beforeAll(async () => {
    gateway = await Gateway.start({ process: 'shared' });
    browser = await openBrowser(executable ?? '');
  });
  afterAll(async () => {
    await browser?.close();
    await gateway?.remove();
  });

  /** A page that reports what it should not do. */
  const open = async (options: BrowserContextOptions = {}): Promise<{ page: Page; complaints: string[] }> => {
    const page = await (await browser.newContext(options)).newPage();
    const complaints: string[] = [];
    page.on('console', (message) => message.type() === 'error' && complaints.push(message.text()));
    page.on('pageerror', (error) => complaints.push(error.message));
    page.on('request', (request) => {
      const { protocol, origin } = new URL(request.url());
      if (protocol.startsWith('http') && origin !== gateway.url) complaints.push(`asks ${request.url()}`);
    });
    return { page, complaints };
  };

  /** The navigation is the same on every page: looking at its three hundred links once will do. */
  const faultsOn = (page: Page, part: 'page' | 'content', rules: 'all' | 'contrast'): Promise<string[]> =>
    accessibilityFaults(page, {
      ...(part === 'content' && { except: 'nav.sidebar' }),
      ...(rules === 'contrast' && { rules: ['color-contrast'] }),
    });

  // Each page is loaded once: the theme follows the browser's, and the layout its width.
  it.each(Object.entries(PAGES))('is accessible, fits, asks no other origin and says nothing on the console: %s', async (kind, path) => {
    const { page, complaints } = await open({ colorScheme: 'light', viewport: DESK });
    const theme = () => page.evaluate('document.documentElement.dataset.theme');
    const fits = () => page.evaluate('document.documentElement.scrollWidth <= innerWidth');
    const answer = await page.goto(`${gateway.url}${path}`, { waitUntil: 'load' });
    expect([answer?.status(), await theme()]).toEqual([200, 'light']);
    expect(await fits()).toBe(true);
    expect(await faultsOn(page, kind === 'guide' ? 'page' : 'content', 'all')).toEqual([]);

    await page.emulateMedia({ colorScheme: 'dark' });
    await expect.poll(theme).toBe('dark');
    expect(await faultsOn(page, kind === 'guide' ? 'page' : 'content', 'contrast')).toEqual([]);

    await page.setViewportSize(PHONE);
    expect(await fits()).toBe(true);
    await expect.poll(() => faultsOn(page, 'content', 'all')).toEqual([]);
    expect(complaints).toEqual([]);
    await page.context().close();
  });

  it('has its header in one place on every page', async () => {
    const { page } = await open({ viewport: { width: 1440, height: 900 } });
    const places = [];
    for (const path of Object.values(PAGES)) {
      await page.goto(`${gateway.url}${path}`);
      const parts = await page.locator('header.header').locator('a:visible, button:visible, select:visible').all();
      places.push(await Promise.all(parts.map(async (part) => (await part.boundingBox())?.x)));
    }
    expect(places[0]).toHaveLength(9);
    expect(new Set(places.map((place) => JSON.stringify(place)))).toHaveLength(1);
    await page.context().close();
  });

  it('has the whole of its navigation in the menu of a phone, at home too', async () => {
    const { page, complaints } = await open({ viewport: PHONE });
    await page.goto(`${gateway.url}/docs/`);
    await page.getByRole('button', { name: 'Menu' }).click();
    await page.getByRole('link', { name: 'Budgets', exact: true }).click();
    await page.waitForURL(/\/docs\/guides\/budgets\//);
    await page.getByRole('button', { name: 'Menu' }).click();
    await page.locator('.sections-on-phone').getByRole('link', { name: 'Errors' }).click();
    expect(await page.getByRole('heading', { level: 1 }).textContent()).toBe('Errors');
    expect(complaints).toEqual([]);
    await page.context().close();
  });

  it('shows the section of an operation, and links back to it', async () => {
    const { page } = await open();
    await page.goto(`${gateway.url}${PAGES.operation}`);
    const trail = page.getByRole('navigation', { name: 'Breadcrumb' });
    expect(await trail.getByRole('listitem').allTextContents()).toEqual(['API reference', 'Inference', 'Create a chat completion']);
    await trail.getByRole('link', { name: 'Inference' }).click();
    await page.waitForURL(`${gateway.url}/docs/reference/#inference`);
    await page.context().close();
  });

  it('filters the models by words and by provider, and shows them all without a script', async () => {
    const { page } = await open();
    await page.goto(`${gateway.url}${PAGES.models}`);
    const rows = page.locator('.catalogue tbody tr:visible');
    const all = await rows.count();
    await page.getByRole('button', { name: 'Anthropic' }).click();
    const ids = await rows.locator('code').allTextContents();
    expect(ids.length).toBeGreaterThan(1);
    expect(ids.filter((id) => !id.startsWith('claude-'))).toEqual([]);
    await page.getByLabel('Filter models').fill('haiku');
    expect(await page.getByRole('status').textContent()).toBe('1 model');
    await page.getByLabel('Filter models').fill('no such model');
    expect(await page.getByRole('status').textContent()).toBe('No model matches.');
    await page.context().close();

    const plain = await open({ javaScriptEnabled: false });
    await plain.page.goto(`${gateway.url}${PAGES.models}`);
    expect(await plain.page.locator('.catalogue tbody tr:visible').count()).toBe(all);
    expect(await plain.page.getByLabel('Filter models').isVisible()).toBe(false);
    await plain.page.context().close();
  });

  it('names the gateway that serves it in its samples, also in what is copied', async () => {
    const { page } = await open();
    await page.goto(`${gateway.url}${PAGES.error}`);
    const address = `${gateway.url}/docs/errors/rate_limited`;
    expect(await page.locator('pre').first().textContent()).toContain(address);
    expect(await page.locator('[data-code]').first().getAttribute('data-code')).toContain(address);
    await page.context().close();
  });

  it('finds a page by the words in it', async () => {
    const { page, complaints } = await open();
    await page.goto(`${gateway.url}/docs/`);
    await page.locator('button[data-open-modal]').click();
    await page.getByPlaceholder('Search').fill('hard ceiling agent run');
    await page.getByRole('dialog').getByRole('link', { name: 'Agent runs' }).first().click();
    await page.waitForURL(/\/docs\/(?:concepts|guides)\/runs\//);
    expect(complaints).toEqual([]);
    await page.context().close();
  });

  it('finds what is asked for first: the guide before the operation, the operation by its call', async () => {
    const { page } = await open();
    await page.goto(`${gateway.url}/docs/`);
    await page.locator('button[data-open-modal]').click();
    const wanted = {
      'how do I set a budget': '/docs/guides/budgets/',
      'how do I verify a receipt': '/docs/verify/',
      'rate limit': '/docs/guides/rate-limits/',
      webhook: '/docs/guides/payments/',
      'create an api key': '/docs/guides/keys/',
      'POST /v1/chat/completions': '/docs/reference/inference/create-chat-completion/',
      budget_exceeded: '/docs/errors/budget_exceeded/',
    };
    for (const [question, address] of Object.entries(wanted)) {
      await page.getByPlaceholder('Search').fill(question);
      const first = () => page.locator('.pagefind-ui__result-link').first().getAttribute('href');
      await expect.poll(first, { message: question, timeout: 120_000 }).toBe(address);
    }
    await page.context().close();
  });

  it('has a sample of a guide in each of its languages, and keeps the one that was chosen', async () => {
    const { page } = await open();
    await page.goto(`${gateway.url}${PAGES.guide}`);
    await page.getByRole('tab', { name: 'CLI' }).first().click();
    expect(await page.locator('pre:visible').first().textContent()).toContain('tallygate login');
    await page.goto(`${gateway.url}/docs/guides/budgets/`);
    expect(await page.locator('pre:visible').first().textContent()).toContain('tallygate budgets set');
    await page.context().close();
  });

  it('has a page where the `type` of an answered problem points', async () => {
    const answer = await fetch(`${gateway.url}/v1/chat/completions`, { method: 'POST' });
    const { type, title } = z.object({ type: z.url(), title: z.string() }).parse(await answer.json());
    const { page } = await open();
    await page.goto(type);
    expect(await page.getByRole('heading', { level: 1 }).textContent()).toBe(title);
    await page.context().close();
  });

  it('refuses in the verifier the witnesses that a gateway lists and its log does not declare', async () => {
    const { page } = await open();
    await page.route('**/.well-known/agent.json', async (route) => {
      const { log, ...rest } = await (await route.fetch()).json();
      await route.fulfill({ json: { ...rest, log: { ...log, witness_policy: '1 of a.example+12345678+AA==' } } });
    });
    await page.goto(`${gateway.url}/docs/verify/`);
    await page.getByLabel('Receipt', { exact: true }).fill('{}');
    await page.getByRole('button', { name: 'Check' }).click();
    await expect.poll(() => page.getByRole('status').textContent()).toMatch(/^You are shown other witnesses than the log declares/);
  });

  it('believes a receipt of this gateway, and not one with another cost', async () => {
    const headers = { authorization: `Bearer ${gateway.bootstrap.test_api_key}`, 'content-type': 'application/json' };
    const call = await fetch(`${gateway.url}/v1/chat/completions`, {
      ...{ method: 'POST', headers },
      body: JSON.stringify({ model: 'gpt-4o-mini', messages: [{ role: 'user', content: 'Hello' }] }),
    });
    await call.text();
    let receipt = '';
    await expect
      .poll(
        async () => {
          const kept = await fetch(`${gateway.url}/v1/receipts/${call.headers.get('x-receipt-id')}`, { headers });
          receipt = await kept.text();
          return kept.ok && JSON.parse(receipt).log.state;
        },
        { timeout: 120_000 },
      )
      .toBe('logged');
    const altered = receipt.replace(/"cost_nano_usd":\s*"/, '$&1');
    expect(altered).not.toBe(receipt);

    const { page, complaints } = await open();
    await page.goto(`${gateway.url}/docs/verify/`);
    const check = async (text: string): Promise<void> => {
      await page.getByLabel('Receipt', { exact: true }).fill(text);
      await page.getByRole('button', { name: 'Check' }).click();
    };
    const verdict = () => page.getByRole('status').textContent();
    await check(receipt);
    await expect.poll(verdict).toMatch(/^Valid.*Price in the logok/);
    await check(altered);
    await expect.poll(verdict).toMatch(/^Not valid/);
    // As if the log had shown this browser another root of the same size before.
    await page.evaluate(String.raw`Object.keys(localStorage).filter((name) => name.startsWith('tallygate-log:')).forEach((name) =>
      localStorage.setItem(name, localStorage.getItem(name).replace(/(\\n\d+\\n)[^\\]{43}/, '$1' + 'A'.repeat(43))))`);
    await check(receipt);
    await expect.poll(verdict).toMatch(/^The log contradicts itself/);
    await page.getByRole('button', { name: 'Try an example' }).click();
    await expect.poll(verdict).toMatch(/^Valid/);
    await page.setViewportSize(PHONE);
    expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true);
    expect(await faultsOn(page, 'content', 'all')).toEqual([]);
    await page.getByRole('button', { name: 'Try an altered one' }).click();
    await expect.poll(verdict).toMatch(/^Not valid.*changed after it was signed/);
    await page.getByRole('button', { name: 'Try a bill' }).click();
    await expect.poll(verdict).toMatch(/^Valid.*follows from the receipts that it counts.*From the balance\$0\.000192/);
    expect(await faultsOn(page, 'content', 'all')).toEqual([]);
    const { invoice, exports } = BILL;
    const november = { name: 'november.jsonl', mimeType: 'application/jsonl', buffer: Buffer.from(exports[0]?.join('\n') ?? '') };
    const dearer = JSON.stringify(invoice).replace('"total_nano_usd":"192000"', '"total_nano_usd":"192001"');
    await page.getByText('Keys of your own').click();
    await page.getByLabel('Key set').fill(KEYS);
    const file = page.getByLabel('or open files');
    const beside = (text: string) =>
      file.setInputFiles([{ name: 'invoice.json', mimeType: 'application/json', buffer: Buffer.from(text) }, november]);
    await beside(dearer);
    await expect.poll(verdict).toMatch(/^Not valid.*bad_digest/);
    await file.setInputFiles(november);
    await expect.poll(verdict).toMatch(/^Valid4 receipts of 2026-11/);
    await beside(JSON.stringify(invoice));
    await expect.poll(verdict).toMatch(/^ValidThe invoice of 2026-11/);
    await check(JSON.stringify(invoice));
    await expect.poll(verdict).toMatch(/^Not checked yet.*export of 2026-11/);
    await check('');
    await expect.poll(verdict).toMatch(/^Paste a receipt first/);
    expect(complaints).toEqual([]);
    await page.context().close();
  });
});

const matches = (text: string, pattern: RegExp): string[] => [...text.matchAll(pattern)].map(([, found = '']) => found);

/** The file of a path below `/docs`. */
function pageAt(path: string): string {
  const plain = normalize(path).replace(/^\//, '');
  if (plain.endsWith('.html')) return plain;
  return join(plain, 'index.html');
}
