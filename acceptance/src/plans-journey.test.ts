import { CurrentPlanResponse, PlanInvoiceResponse, PlanUsageQuotaResponse } from '@tallygate/contract';
import { type FakeStripe, startFakeStripe } from '@tallygate/fake-stripe';
import { type FakeUpstream, startFakeUpstream } from '@tallygate/fake-upstream';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type * as z from 'zod';
import { Account } from './account.ts';
import { chromiumPath, openBrowser } from './browser.ts';
import { type Answered, header, problemOf } from './chat.ts';
import { Gateway } from './gateway.ts';
import { openLedgerAudit, verifiedReceipt } from './ledger-audit.ts';
import { nano, sum, usd } from './money.ts';

const DAY_MS = 86_400_000;
const NOW_MS = Date.now();
const NEXT_MONTH_MS = NOW_MS + 32 * DAY_MS;
const PERIOD = new Date(NOW_MS).toISOString().slice(0, 7);
const FREE_IMAGES = 10;
const PRO_IMAGES = 500;
const STRIPE = { key: 'sk_live_journey', secret: 'whsec_journey' };
const IMAGE = { model: 'gpt-image-1', prompt: 'A ledger made of light', quality: 'low', size: '1024x1024' };

const executable = chromiumPath();
if (!executable) process.stdout.write('Skipped: the journey of a customer needs a Chromium; name it in CHROMIUM.\n');

describe.skipIf(!executable)('a new customer, in a real browser with the sandbox of payments', () => {
  let upstream: FakeUpstream;
  let gateway: Gateway;
  let browser: Browser;
  let page: Page;
  let key: string;
  let testKey: string;
  const requestIds: string[] = [];

  beforeAll(async () => {
    upstream = await startFakeUpstream();
    const providers = [{ name: 'fake', base_url: upstream.url, models: [IMAGE.model] }];
    gateway = await Gateway.start({ providers, frozenAtMs: NOW_MS });
    browser = await openBrowser(executable ?? '');
    page = await browser.newPage();
    const account = await Account.signUp(gateway);
    const scopes = ['inference', 'account:read', 'billing:write'] as const;
    ({ key } = await account.createKey({ scopes: [...scopes] }));
    ({ key: testKey } = await account.createKey({ scopes: [...scopes], livemode: false }));
  });
  afterAll(async () => {
    await browser?.close();
    await gateway?.remove();
    await upstream?.close();
  });

  const call = async (
    path: string,
    json?: object,
    headers: Record<string, string> = { authorization: `Bearer ${key}` },
  ): Promise<Answered> => {
    const answer = await fetch(`${gateway.url}/v1/${path}`, {
      ...(json && { method: 'POST', body: JSON.stringify(json) }),
      headers: { ...headers, 'content-type': 'application/json' },
    });
    return { status: answer.status, headers: answer.headers, text: await answer.text() };
  };
  const told = async (path: string, json?: object, as = key) => {
    const { status, text } = await call(`plans/${path}`, json, { authorization: `Bearer ${as}` });
    expect({ path, status, text: status === 200 ? '' : text }).toEqual({ path, status: 200, text: '' });
    return JSON.parse(text);
  };
  const read = async <T>(path: string, schema: z.ZodType<T>, as = key): Promise<T> => schema.parse(await told(path, undefined, as));
  const makeImages = async (n: number): Promise<Answered> => {
    const answered = await call('images/generations', { ...IMAGE, n });
    if (answered.status === 200) requestIds.push(header(answered, 'x-request-id'));
    return answered;
  };
  const imagesUsed = async () => (await read('usage', PlanUsageQuotaResponse)).meters.find(({ meter }) => meter === 'images');
  /** Presses a button of the hosted page, and waits for where it leads. */
  const press = async (name: string | RegExp): Promise<void> => {
    await page.getByRole('button', { name }).click();
    await page.waitForLoadState('load');
  };
  const settled = async (): Promise<void> => {
    await using ledger = await openLedgerAudit(gateway);
    await expect.poll(async () => (await ledger.entriesOf(requestIds)).size).toBe(requestIds.length);
  };

  test('meets the end of the free quota with numbers, and nothing goes beyond it', async () => {
    expect((await makeImages(FREE_IMAGES)).status).toBe(200);
    const { code, budget } = problemOf(await makeImages(1));
    expect([code, budget?.limit_source]).toEqual(['budget_exceeded', 'plan_quota']);
    expect(budget?.quota).toEqual({ meter: 'images', included: FREE_IMAGES, used: FREE_IMAGES, held: 0, required: 1 });
    expect(nano(budget?.required_usd ?? '0')).toBeGreaterThan(0n);
    expect(budget?.resets_at).toBe(new Date(Date.UTC(new Date(NOW_MS).getUTCFullYear(), new Date(NOW_MS).getUTCMonth() + 1)).toISOString());
    await settled();
    expect(await imagesUsed()).toMatchObject({ included: FREE_IMAGES, used: FREE_IMAGES, remaining: 0, utilization: 1 });
  });

  test('buys a plan on the hosted page of the sandbox, which changes the plan of test mode and nothing that is live', async () => {
    const checkout = await told('checkout', { plan_id: 'pro' });
    await page.goto(checkout.checkout_url);
    await press('Decline');
    expect(await page.getByRole('alert').textContent()).toContain('declined');
    expect((await read('current', CurrentPlanResponse, testKey)).plan.plan_id).not.toBe('pro');
    await press('Pay $20.00');
    expect(await page.textContent('body')).toContain('this is done');
    await expect.poll(async () => (await told(`checkouts/${checkout.checkout_id}`)).status).toBe('completed');
    expect(await read('current', CurrentPlanResponse, testKey)).toMatchObject({ plan: { plan_id: 'pro' }, livemode: false });
    expect((await read('current', CurrentPlanResponse)).plan.plan_id).toBe('free');
    expect((await makeImages(1)).status).toBe(402);
  });

  test('tops up the balance of the sandbox, which pays for nothing live', async () => {
    const checkout = await told('balance-checkout', { amount_usd: '25', save_card: true });
    await page.goto(checkout.checkout_url);
    await press('Pay $25.00');
    await expect.poll(async () => (await told('billing-summary', undefined, testKey)).balance_usd).toBe('25');
    expect((await told('billing-summary')).balance_usd).toBe('0');
    expect((await makeImages(1)).status).toBe(402);
    await using ledger = await openLedgerAudit(gateway);
    expect(await ledger.faults()).toEqual([]);
  });
});

describe.skipIf(!executable)('a customer of a gateway that sells, in a real browser on the payment provider’s pages', () => {
  let upstream: FakeUpstream;
  let stripe: FakeStripe;
  let gateway: Gateway;
  let browser: Browser;
  let page: Page;
  let key: string;
  let nowMs = NOW_MS;
  const requestIds: string[] = [];

  beforeAll(async () => {
    upstream = await startFakeUpstream();
    stripe = await startFakeStripe({ clock: () => nowMs });
    const providers = [{ name: 'fake', base_url: upstream.url, models: [IMAGE.model] }];
    const env = { STRIPE_SECRET_KEY: STRIPE.key, STRIPE_WEBHOOK_SECRET: STRIPE.secret, STRIPE_API_HOST: stripe.url };
    gateway = await Gateway.start({ providers, env, frozenAtMs: NOW_MS });
    hearWebhooks();
    browser = await openBrowser(executable ?? '');
    page = await browser.newPage();
    const account = await Account.signUp(gateway);
    ({ key } = await account.createKey({ scopes: ['inference', 'account:read', 'billing:write'] }));
  });
  afterAll(async () => {
    await browser?.close();
    await gateway?.remove();
    await stripe?.close();
    await upstream?.close();
  });

  const hearWebhooks = () => stripe.addWebhook({ url: `${gateway.url}/v1/plans/webhooks/stripe`, secret: STRIPE.secret });
  const call = async (path: string, json?: object): Promise<Answered> => {
    const answer = await fetch(`${gateway.url}/v1/${path}`, {
      ...(json && { method: 'POST', body: JSON.stringify(json) }),
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    });
    return { status: answer.status, headers: answer.headers, text: await answer.text() };
  };
  const told = async (path: string, json?: object) => {
    const { status, text } = await call(`plans/${path}`, json);
    expect({ path, status, text: status === 200 ? '' : text }).toEqual({ path, status: 200, text: '' });
    return JSON.parse(text);
  };
  const planNow = async () => CurrentPlanResponse.parse(await told('current')).plan.plan_id;
  const imagesUsed = async () => PlanUsageQuotaResponse.parse(await told('usage')).meters.find(({ meter }) => meter === 'images');
  const makeImages = async (n: number): Promise<Answered> => {
    const answered = await call('images/generations', { ...IMAGE, n });
    if (answered.status === 200) requestIds.push(header(answered, 'x-request-id'));
    return answered;
  };
  const press = (name: string) => page.getByRole('button', { name }).click();
  const settled = async (): Promise<void> => {
    await using ledger = await openLedgerAudit(gateway);
    await expect.poll(async () => (await ledger.entriesOf(requestIds)).size).toBe(requestIds.length);
  };

  test('buys a plan, where a declined card changes nothing', async () => {
    expect((await makeImages(FREE_IMAGES)).status).toBe(200);
    expect(problemOf(await makeImages(1)).budget?.limit_source).toBe('plan_quota');
    const checkout = await told('checkout', { plan_id: 'pro' });
    expect(checkout.livemode).toBe(true);
    await page.goto(checkout.checkout_url);
    await press('Decline');
    expect(await page.getByRole('alert').textContent()).toContain('declined');
    expect(await planNow()).toBe('free');
    await press('Pay');
    await expect.poll(async () => (await told(`checkouts/${checkout.checkout_id}`)).status).toBe('completed');
    expect(await planNow()).toBe('pro');
    await expect.poll(async () => (await makeImages(1)).status).toBe(200);
  });

  test('goes beyond the larger quota once the balance is topped up, pro rata where a request crosses it', async () => {
    for (let made = FREE_IMAGES + 1; made + 10 <= PRO_IMAGES; made += 10) expect((await makeImages(10)).status).toBe(200);
    expect((await makeImages(5)).status).toBe(200);
    const left = PRO_IMAGES - FREE_IMAGES - 1 - 480 - 5;
    expect(problemOf(await makeImages(10)).budget).toMatchObject({ limit_source: 'balance', cap_usd: '0', spent_usd: '0' });

    const checkout = await told('balance-checkout', { amount_usd: '25', save_card: true });
    await page.goto(checkout.checkout_url);
    await press('Pay');
    await expect.poll(async () => (await told('billing-summary')).balance_usd).toBe('25');

    const crossing = await makeImages(10);
    const cost = nano(header(crossing, 'x-cost-usd'));
    const after = nano(header(await makeImages(3), 'x-cost-usd'));
    await settled();
    const crossed = (cost * BigInt(10 - left) + 9n) / 10n;
    const summary = await told('billing-summary');
    expect(summary).toMatchObject({ charged_usd: usd(crossed + after), balance_usd: usd(nano('25') - crossed - after), status: 'active' });
    expect(await told('overage-estimate')).toMatchObject({ charged_usd: summary.charged_usd, policy: 'balance' });
    expect(await imagesUsed()).toMatchObject({ used: PRO_IMAGES, beyond: 10 - left + 3 });
  });

  test('schedules a downgrade that waits for the end of what is paid, and finds it applied', async () => {
    const scheduled = await told('downgrade-schedule', { plan_id: 'free' });
    expect(scheduled).toMatchObject({ from_plan_id: 'pro', to_plan_id: 'free', state: 'scheduled', livemode: true });
    expect((await told('entitlements')).plan_id).toBe('pro');
    expect((await makeImages(1)).status).toBe(200);
    await settled();

    await gateway.stop();
    // The months pass for the clock alone; what repeats every ten minutes would wait for as long.
    {
      await using ledger = await openLedgerAudit(gateway);
      await ledger.forgetTimers();
    }
    gateway.freezeAt(NEXT_MONTH_MS);
    await gateway.start();
    hearWebhooks();
    // Both sides use the same clock: a webhook signed a month ago is refused.
    nowMs = NEXT_MONTH_MS;
    stripe.advance({ toMs: NEXT_MONTH_MS });
    await expect.poll(planNow).toBe('free');
  });

  test('gets an invoice that is the sum of its receipts, and prints it', async () => {
    const issued = async () =>
      (await told('invoices')).data.find(({ kind, period }: { kind: string; period: string }) => kind === 'usage' && period === PERIOD);
    await expect.poll(issued).toBeDefined();
    const { invoice_id } = await issued();
    const invoice = PlanInvoiceResponse.parse(await told(`invoices/${invoice_id}`));
    await using ledger = await openLedgerAudit(gateway);
    const entries = await ledger.entriesOf(requestIds);
    const receipts = await Promise.all([...entries.values()].map(({ receiptId }) => verifiedReceipt(gateway, receiptId)));
    const cost = sum(receipts.map(({ cost_nano_usd }) => BigInt(cost_nano_usd)));
    expect(receipts).toHaveLength(requestIds.length);
    expect(invoice.lines[0]).toEqual({ description: IMAGE.model, quantity: requestIds.length, amount_usd: usd(cost) });
    const included = invoice.lines.find(({ description }) => description === 'Included in the plan');
    expect(usd(cost - nano((included?.amount_usd ?? '').replace('-', '')))).toBe(invoice.total_usd);
    expect(invoice).toMatchObject({ status: 'paid', from_balance_usd: invoice.total_usd, due_usd: '0' });
    expect((await told('billing-summary')).balance_usd).toBe(usd(nano('25') - nano(invoice.total_usd)));
    expect(await ledger.faults()).toEqual([]);

    const html = await call(`plans/invoices/${invoice_id}/html`);
    await page.setContent(html.text);
    expect(await page.textContent('tfoot')).toContain(`$${invoice.total_usd}`);
    expect((await page.pdf()).byteLength).toBeGreaterThan(1_000);
  });
});
